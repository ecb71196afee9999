"""Take what an environment declared from its discovery document; what an older document lacks is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from agent_image.contract import CLOUDWATCH, RUNTIME_LOG_GROUPS, Discovery, Regime
from console.environment import Environment
from console.errors import ConsoleError

DEFAULT_ENDPOINT = "DEFAULT"
"""The endpoint that the service makes by itself, which nobody should call."""


@dataclass(frozen=True, slots=True)
class Declared:
    """Hold what was declared.

    Attributes:
        environment, partition, account_id, region: where it is.
        regime: the capture regime.
        runtime_id, runtime_arn, endpoint: what serves the agent.
        log_group: the name of the live endpoint's group.
        destination: where spans go.
        retention_days: how long the group keeps events.
        indexed_fields: what its index policy names, in no order.
        masking: managed identifiers and names of patterns; empty where nothing is masked, None where nothing says so.
        kms_key_arn: the key of the group; empty where it is the service's own, None where nothing says so.
        live_version: the version that `live` serves: a number, or `newest`.
        indexing_percentage: of traces that X-Ray indexes; None also where somebody else manages it.
        manages_search: whether the kit declares Transaction Search in this account; None where nothing says so.
        role_arn: the agent's role.
        put_resource_policy: whether that role may let X-Ray in: any, own or none.
    """

    environment: str
    partition: str
    account_id: str
    region: str
    regime: Regime
    runtime_id: str
    runtime_arn: str
    endpoint: str
    log_group: str
    destination: str | None
    retention_days: int | None
    indexed_fields: frozenset[str] | None
    masking: frozenset[str] | None
    kms_key_arn: str | None
    live_version: str | None
    indexing_percentage: Decimal | None
    manages_search: bool | None
    role_arn: str | None
    put_resource_policy: str | None

    @property
    def to_cloudwatch(self) -> bool:
        """Tell whether spans go to CloudWatch, as they do where nothing says otherwise."""
        return self.destination in {None, CLOUDWATCH}

    @property
    def default_group(self) -> str:
        """Name the group of the service's own endpoint."""
        return f"{RUNTIME_LOG_GROUPS}{self.runtime_id}-{DEFAULT_ENDPOINT}"

    @property
    def group_arn(self) -> str:
        """Give the ARN of the live endpoint's group."""
        return self.arn("logs", f"log-group:{self.log_group}")

    def arn(self, service: str, resource: str) -> str:
        """Build the ARN of a resource of this account and Region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account_id}:{resource}"


def declared_of(environment: Environment) -> Declared:
    """Read the discovery document of an environment.

    Raises:
        ConsoleError: it lacks what every such document has.
    """
    text, document = environment.text, environment.document
    arn = text(Discovery.RUNTIME_ARN)
    try:
        regime = Regime(text(Discovery.CAPTURE))
    except ValueError:
        message = f"the discovery document of {environment.name!r} names no regime; deploy the environment again"
        raise ConsoleError(message) from None
    return Declared(
        environment=environment.name,
        partition=arn.split(":")[1] if arn.count(":") > 1 else "aws",
        account_id=text(Discovery.ACCOUNT_ID),
        region=text(Discovery.REGION),
        regime=regime,
        runtime_id=text(Discovery.RUNTIME_ID),
        runtime_arn=arn,
        endpoint=text(Discovery.ENDPOINT),
        log_group=text(Discovery.LOG_GROUP),
        destination=_text(document, Discovery.DESTINATION),
        retention_days=_whole(document.get(Discovery.RETENTION_DAYS)),
        indexed_fields=_names(document.get(Discovery.INDEXED_FIELDS)),
        masking=_names(document.get(Discovery.MASKING)),
        kms_key_arn=_key(document),
        live_version=_text(document, Discovery.LIVE_VERSION),
        indexing_percentage=_number(document.get(Discovery.INDEXING_PERCENTAGE)),
        manages_search=_manages_search(document),
        role_arn=_text(document, Discovery.ROLE_ARN),
        put_resource_policy=_text(document, Discovery.PUT_RESOURCE_POLICY),
    )


def _text(document: Mapping[str, Any], key: Discovery) -> str | None:
    value = document.get(key)
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _manages_search(document: Mapping[str, Any]) -> bool | None:
    # Null says that somebody else does; a document without the key is older than the key.
    if Discovery.INDEXING_PERCENTAGE not in document:
        return None
    return document[Discovery.INDEXING_PERCENTAGE] is not None


def _key(document: Mapping[str, Any]) -> str | None:
    # Null says that it is the service's own.
    return _text(document, Discovery.KMS_KEY) or ("" if Discovery.KMS_KEY in document else None)


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    found = Decimal(str(value))
    return found if found.is_finite() else None


def _names(value: object) -> frozenset[str] | None:
    if not isinstance(value, list):
        return None
    return frozenset(name for name in value if isinstance(name, str))
