"""Find what an environment deployed, through the discovery document that its stack wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import boto3

from agent_image.contract import DISCOVERY_PREFIX, Discovery
from console.aws import told
from console.errors import BadInputError, ConsoleError

_NAME: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,14}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Environment:
    """Hold the discovery document of one environment.

    Attributes:
        name: the environment's name.
        document: what its stack wrote, by the keys of `contract.Discovery`.
    """

    name: str
    document: Mapping[str, Any]

    def text(self, key: Discovery) -> str:
        """Give a text that the document holds.

        Raises:
            ConsoleError: the document has no such text.
        """
        value = self.document.get(key)
        if not isinstance(value, str) or not value:
            message = f"the discovery document of {self.name!r} has no {key}; deploy the environment again"
            raise ConsoleError(message)
        return value


def find(name: str) -> Environment:
    """Read an environment's discovery document in the Region and account that boto3 is set up for.

    Raises:
        BadInputError: no environment can have this name.
        ConsoleError: the document is not there, cannot be read, or is none.
    """
    if _NAME.fullmatch(name) is None:
        message = f"{name!r} is no environment's name; allowed: 1 to 16 of a-z 0-9 -, a letter first, no hyphen last"
        raise BadInputError(message)
    parameter = f"{DISCOVERY_PREFIX}{name}"
    missing = f"{parameter} is not in this account and Region; AWS_PROFILE and AWS_REGION choose others"
    with (
        told(f"finding the environment {name!r} failed", {"ParameterNotFound": missing}),
        closing(boto3.Session().client("ssm")) as client,
    ):
        value = client.get_parameter(Name=parameter)["Parameter"]["Value"]
    try:
        document = json.loads(value)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        message = f"{parameter} holds no JSON object; deploy the environment again"
        raise ConsoleError(message)
    return Environment(name, document)
