"""Meter the bytes that Logs Insights scans: a property of the query, not of the store."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from cost_model.deployment import LogClass
from cost_model.meters.meter import Meter, Part
from cost_model.money import DAYS_PER_MONTH, average_days_filling, product
from cost_model.scenario import Scenario
from cost_model.workload import QueryClass

ASSUMED_SKIP_RATIO: Final = Decimal("0.9")
"""What an indexed look-up skips until it is measured: most of the window holds other sessions."""
INDEX_ENTRY_DAYS: Final = Decimal(30)
"""Days for which CloudWatch Logs keeps a field index entry."""


def _parts(scenario: Scenario) -> tuple[Part, ...]:
    return tuple(_part(scenario, query) for query in scenario.workload.queries or ())


def _part(scenario: Scenario, query: QueryClass) -> Part:
    kept = scenario.deployment.retention_days
    days = query.window_days if kept is None else min(query.window_days, kept)
    skip_ratio = _skip_ratio(scenario, query)
    # In its first month a store holds nothing that is older than its index entries.
    return Part(
        query.name,
        _scanned(scenario, query, days - _covered(query, days) * skip_ratio),
        _scanned(scenario, query, average_days_filling(days) * (1 - skip_ratio)),
    )


def _scanned(scenario: Scenario, query: QueryClass, days: Decimal) -> Decimal | None:
    return product(scenario.trail_gb, days / DAYS_PER_MONTH, query.runs_per_month)


def _covered(query: QueryClass, days: Decimal) -> Decimal:
    """Return the days of a full window to which the skip ratio applies."""
    return min(days, INDEX_ENTRY_DAYS) if query.indexed else days


def _skip_ratio(scenario: Scenario, query: QueryClass) -> Decimal:
    if scenario.deployment.log_class is LogClass.INFREQUENT_ACCESS:
        return Decimal(0)
    if query.skip_ratio is not None:
        return query.skip_ratio
    return ASSUMED_SKIP_RATIO if query.indexed else Decimal(0)


def _steady(scenario: Scenario) -> Decimal | None:
    return _total(scenario, [part.quantity for part in _parts(scenario)])


def _filling(scenario: Scenario) -> Decimal | None:
    return _total(scenario, [part.first_quantity for part in _parts(scenario)])


def _total(scenario: Scenario, scans: list[Decimal | None]) -> Decimal | None:
    known = [scan for scan in scans if scan is not None]
    if scenario.workload.queries is None or len(known) < len(scans):
        return None
    return sum(known, Decimal(0))


def _assumptions(scenario: Scenario) -> Iterator[str]:
    classes = scenario.workload.queries or ()
    if scenario.deployment.log_class is LogClass.INFREQUENT_ACCESS and any(query.indexed for query in classes):
        yield "an INFREQUENT_ACCESS group has no field index: indexed queries scan their whole window"
        return
    for query in classes:
        if query.skip_ratio is None:
            yield f"queries {query.name!r}: skip_ratio {_skip_ratio(scenario, query)} until measured"
        if query.indexed and query.window_days > INDEX_ENTRY_DAYS:
            yield f"queries {query.name!r}: index entries live {INDEX_ENTRY_DAYS} days; past that nothing is skipped"


QUERIES: Final = Meter(
    key="queries",
    label="Logs Insights queries",
    price="logs_insights_scan",
    quantity=_steady,
    first_month=_filling,
    parts=_parts,
    assumes=lambda scenario: tuple(_assumptions(scenario)),
)
