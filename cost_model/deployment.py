"""Describe what is deployed, as far as its price depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

from agent_image.contract import Quantity, Regime
from cost_model.faults import Faults

DEPLOYED_TABLE: Final = "deployed"
INDEXING: Final = Quantity(
    "indexing_percentage", "%", "share of spans indexed as trace summaries", maximum=Decimal(100)
)
RETENTION: Final = Quantity(
    "retention_days",
    "days",
    "days for which the trail's log group keeps events",
    maximum=Decimal(3653),
    whole=True,
    minimum=Decimal(1),
)
_KEYS: Final = ("region", INDEXING.key, RETENTION.key, "masking", "log_class")


class LogClass(StrEnum):
    """Name the classes of a log group that can hold a trail which people query."""

    STANDARD = "STANDARD"
    INFREQUENT_ACCESS = "INFREQUENT_ACCESS"


@dataclass(frozen=True, slots=True)
class Deployment:
    """State what is deployed; None is unknown, and a retention of None keeps events for ever."""

    region: str
    environment: str | None = None
    regime: Regime | None = None
    indexing_percentage: Decimal | None = None
    retention_days: Decimal | None = None
    masking: bool = False
    log_class: LogClass = LogClass.STANDARD
    assumptions: tuple[str, ...] = ()


def read_deployment(value: object, source: str) -> Deployment:
    """Check a `[deployed]` table whole and return it as a record.

    Raises UsageError with every fault.
    """
    faults = Faults(source)
    table = faults.table(DEPLOYED_TABLE, value)
    faults.unknown_keys(DEPLOYED_TABLE, table, _KEYS)
    region = faults.text(f"{DEPLOYED_TABLE}.region", table.get("region"))
    indexing = faults.optional_number(DEPLOYED_TABLE, INDEXING, table)
    retention = faults.optional_number(DEPLOYED_TABLE, RETENTION, table)
    masking = faults.flag(f"{DEPLOYED_TABLE}.masking", table.get("masking", False))
    log_class = _log_class(faults, table.get("log_class", LogClass.STANDARD.value))
    faults.raise_if_any()
    return Deployment(
        region=region or "",
        indexing_percentage=indexing,
        retention_days=retention,
        masking=bool(masking),
        log_class=log_class,
        assumptions=tuple(_left_out(table)),
    )


def _log_class(faults: Faults, value: object) -> LogClass:
    names = [name.value for name in LogClass]
    if value in names:
        return LogClass(str(value))
    faults.add(f"{DEPLOYED_TABLE}.log_class", value, " or ".join(names))
    return LogClass.STANDARD


def _left_out(table: Mapping[str, object]) -> list[str]:
    meanings = {
        RETENTION.key: "retention is not stated: events are kept for ever, as CloudWatch does by default",
        "masking": "masking is not stated: taken as off",
    }
    return [meaning for key, meaning in meanings.items() if key not in table]
