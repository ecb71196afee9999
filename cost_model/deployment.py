"""Describe what is deployed, as far as its price depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Final

from agent_image.contract import Quantity, Regime
from cost_model.faults import Faults
from cost_model.pieces import COUNTS, FLAGS, Pieces, read_pieces

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
_KEYS: Final = (
    *("region", INDEXING.key, RETENTION.key, "masking", "log_class"),
    *(quantity.key for quantity in COUNTS),
    *FLAGS,
)


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
    pieces: Pieces = field(default_factory=Pieces)
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
    class_name = table.get("log_class", LogClass.STANDARD.value)
    log_class = faults.one_of(f"{DEPLOYED_TABLE}.log_class", LogClass, class_name) or LogClass.STANDARD
    pieces = read_pieces(faults, DEPLOYED_TABLE, table)
    faults.raise_if_any()
    return Deployment(
        region=region or "",
        indexing_percentage=indexing,
        retention_days=retention,
        masking=bool(masking),
        log_class=log_class,
        pieces=pieces,
        assumptions=tuple(_left_out(table)),
    )


def _left_out(table: Mapping[str, object]) -> list[str]:
    meanings = {
        RETENTION.key: "retention is not stated: events are kept for ever, as CloudWatch does by default",
        "masking": "masking is not stated: taken as off",
    }
    return [meaning for key, meaning in meanings.items() if key not in table]
