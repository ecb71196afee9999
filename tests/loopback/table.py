"""Make an environment's table on loopback, as the stack declares it."""

from __future__ import annotations

from random import Random
from string import ascii_letters, digits
from typing import Any

import boto3
from botocore.config import Config

from agent_image.contract import DUE_KEY, OPEN_INDEX, QUEUE_KEY, TABLE_KEY

REGION = "eu-central-1"
VARIABLES = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""What a process needs to speak to such a table, beside AWS_ENDPOINT_URL."""


def client_at(url: str, service: str, *, attempts: int = 1) -> Any:
    """Make a client of a service on loopback."""
    return boto3.client(
        service,
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 - no secret
        config=Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "total_max_attempts": attempts}),
    )


def make_table(url: str, name: str) -> None:
    """Make a table with its sparse index."""
    client_at(url, "dynamodb").create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": TABLE_KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": one, "AttributeType": "S"} for one in (TABLE_KEY, QUEUE_KEY, DUE_KEY)],
        GlobalSecondaryIndexes=[
            {
                "IndexName": OPEN_INDEX,
                "KeySchema": [
                    {"AttributeName": QUEUE_KEY, "KeyType": "HASH"},
                    {"AttributeName": DUE_KEY, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )


def make_bucket(url: str, name: str) -> None:
    """Make a bucket."""
    client_at(url, "s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})


def unpackable(length: int) -> str:
    """Make a text that no packing makes much shorter, the same each time."""
    return "".join(Random(length).choices(ascii_letters + digits, k=length))  # noqa: S311 - nobody guards it
