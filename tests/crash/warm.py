"""Import, once for all processes, what the production code imports when it first needs it."""

from __future__ import annotations

import boto3
import psycopg  # noqa: F401 - only imported

import agent_image.models.offline
import agent_image.stores.dynamodb
import agent_image.stores.large
import agent_image.stores.sql  # noqa: F401 - the same
from tests.loopback.table import REGION

# What describes a service takes longest to read, and stays in the session; nothing is connected.
boto3.setup_default_session(region_name=REGION)
for _service in ("dynamodb", "s3"):
    boto3.client(_service)
