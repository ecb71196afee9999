"""Count what a deployment holds that is charged by the piece, or that traffic is charged through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from agent_image.contract import Quantity
from cost_model.faults import Faults

_MANY: Final = Decimal(10**6)


def _count(key: str, meaning: str) -> Quantity:
    return Quantity(key, "pieces", meaning, maximum=_MANY, whole=True)


COUNTS: Final = (
    _count("alarm_metrics", "metrics that standard alarms watch"),
    _count("high_resolution_alarm_metrics", "metrics that alarms of a period under a minute watch"),
    _count("composite_alarms", "composite alarms"),
    _count("insights_alarms", "alarms on a Metrics Insights query"),
    _count("dashboards", "dashboards"),
    _count("metric_filters", "metrics that metric filters publish"),
    _count("kms_keys", "keys of KMS that belong to the deployment"),
)
FLAGS: Final = ("log_dashboards", "encrypted_by_key", "table", "restorable_table", "audit", "topic", "runtime")


@dataclass(frozen=True, slots=True)
class Pieces:
    """Count pieces, and tell which things are there; 0 and False are facts, not gaps.

    Attributes:
        log_dashboards: widgets of some dashboard query log groups: each refresh scans.
        encrypted_by_key: a key of KMS, whoever manages it, encrypts something: its requests are charged.
        restorable_table: the table can be restored to any second.
    """

    alarm_metrics: Decimal = Decimal(0)
    high_resolution_alarm_metrics: Decimal = Decimal(0)
    composite_alarms: Decimal = Decimal(0)
    insights_alarms: Decimal = Decimal(0)
    dashboards: Decimal = Decimal(0)
    metric_filters: Decimal = Decimal(0)
    kms_keys: Decimal = Decimal(0)
    log_dashboards: bool = False
    encrypted_by_key: bool = False
    table: bool = False
    restorable_table: bool = False
    audit: bool = False
    topic: bool = False
    runtime: bool = False

    @property
    def there(self) -> Mapping[str, Decimal | bool]:
        """Return what is there by its key: how many, or that it is."""
        held = {key: getattr(self, key) for key in (*(each.key for each in COUNTS), *FLAGS)}
        return {key: value for key, value in held.items() if value}


def read_pieces(faults: Faults, path: str, table: Mapping[str, object]) -> Pieces:
    """Read the pieces that a table states; what it leaves out is not there."""
    counts = {each.key: faults.optional_number(path, each, table) or Decimal(0) for each in COUNTS}
    flags = {key: bool(faults.flag(f"{path}.{key}", table.get(key, False))) for key in FLAGS}
    return Pieces(**counts, **flags)  # type: ignore[arg-type]  # two kinds of fields, each by its own names
