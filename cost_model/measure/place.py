"""Find the log group to measure: by an environment's discovery document, or by its name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from agent_image.contract import DISCOVERY_PREFIX, LIVE_ENDPOINT, Discovery, Regime
from cost_model.aws import client_of, told
from cost_model.deployment import Deployment
from cost_model.errors import AwsError, UsageError
from cost_model.faults import shown

_ENVIRONMENT: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,14}[a-z0-9])?")
_GROUP: Final = re.compile(r"[A-Za-z0-9_/.#-]{1,512}")
_DEFAULT_ENDPOINT: Final = "DEFAULT"


@dataclass(frozen=True, slots=True)
class Place:
    """Say what is measured.

    Attributes:
        group: the log group of the trail.
        deployment: its Region, and what else is known of how it is deployed.
    """

    group: str
    deployment: Deployment

    @property
    def region(self) -> str:
        """Name the Region."""
        return self.deployment.region

    @property
    def default_group(self) -> str | None:
        """Name the group of the endpoint that the service makes by itself: nothing should come in there."""
        stem = self.group.removesuffix(f"-{LIVE_ENDPOINT}")
        return None if stem == self.group else f"{stem}-{_DEFAULT_ENDPOINT}"


def place_of_group(group: str, region: str | None, capture: str | None) -> Place:
    """Name a group by hand.

    Raises:
        UsageError: a name is none; every fault is shown.
    """
    faults = []
    if _GROUP.fullmatch(group) is None:
        faults.append(f"--log-group {shown(group)} is no log group's name; allowed: 1 to 512 of A-Z a-z 0-9 _ - / . #")
    if not region:
        faults.append("--log-group needs --region, such as eu-west-1")
    regimes = [regime.value for regime in Regime]
    if capture is not None and capture not in regimes:
        faults.append(f"--capture {shown(capture)} is not allowed; allowed: {', '.join(regimes)}")
    if faults:
        raise UsageError(*faults)
    return Place(group, Deployment(region=region or "", regime=None if capture is None else Regime(capture)))


def place_of_environment(name: str, region: str | None = None) -> Place:
    """Read an environment's discovery document in the account that boto3 is set up for.

    Raises:
        UsageError: no environment can have this name.
        AwsError: the document is not there, cannot be read, or is none.
    """
    if _ENVIRONMENT.fullmatch(name) is None:
        message = f"--environment {shown(name)} is no environment's name; allowed: 1 to 16 of a-z 0-9 -, a letter first"
        raise UsageError(message)
    parameter = f"{DISCOVERY_PREFIX}{name}"
    client = client_of("ssm", region)
    missing = {"ParameterNotFound": f"{parameter} is not in this account and Region; AWS_PROFILE and AWS_REGION choose"}
    with told(f"finding the environment {name!r} failed", "ssm:GetParameter", missing):
        value = client.get_parameter(Name=parameter)["Parameter"]["Value"]
    try:
        document = json.loads(value, parse_float=Decimal)
    except (ValueError, RecursionError):
        document = None
    group, where = (_text(document, key) for key in (Discovery.LOG_GROUP, Discovery.REGION))
    if group is None or where is None:
        message = f"{parameter} names no log group and Region; deploy the environment again"
        raise AwsError(message)
    return Place(group, _deployment(name, where, document))


def _deployment(name: str, region: str, document: Mapping[str, Any]) -> Deployment:
    capture, retention = _text(document, Discovery.CAPTURE), document.get(Discovery.RETENTION_DAYS)
    indexing = document.get(Discovery.INDEXING_PERCENTAGE)
    return Deployment(
        region=region,
        environment=name,
        regime=Regime(capture) if capture in set(Regime) else None,
        indexing_percentage=_number(indexing),
        retention_days=_number(retention),
        masking=bool(document.get(Discovery.MASKING)),
        assumptions=("what is deployed is read from the discovery document: alarms, tables and buckets are not in it",),
    )


def _text(document: object, key: Discovery) -> str | None:
    value = document.get(key) if isinstance(document, Mapping) else None
    return value if isinstance(value, str) and value else None


def _number(value: object) -> Decimal | None:
    return Decimal(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
