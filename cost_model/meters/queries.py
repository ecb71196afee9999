"""Meter the bytes that Logs Insights scans: a property of the query, not of the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final

from agent_image.contract import Streams
from cost_model.deployment import LogClass
from cost_model.meters.meter import Meter, Part
from cost_model.money import DAYS_PER_MONTH, average_days_filling, product
from cost_model.query_classes import QueryClass
from cost_model.scenario import Scenario

ASSUMED_SKIP_RATIO: Final = Decimal("0.9")
"""What an indexed look-up skips until it is measured: most of the window holds other sessions."""
INDEX_ENTRY_DAYS: Final = Decimal(30)
"""Days for which CloudWatch Logs keeps a field index entry."""


def part_of(scenario: Scenario, query: QueryClass) -> Part:
    """Count the GB that a class of queries scans in a month, and in the first one."""
    kept = scenario.deployment.retention_days
    days = query.window_days if kept is None else min(query.window_days, kept)
    skip_ratio = _skip_ratio(scenario, query)
    # In its first month a store holds nothing that is older than its index entries.
    return Part(
        query.name,
        _scanned(scenario, query, days - _covered(query, days) * skip_ratio),
        _scanned(scenario, query, average_days_filling(days) * (1 - skip_ratio)),
    )


def total_of(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Add up parts of a line; unknown where one of them is."""
    scans = list(amounts)
    known = [scan for scan in scans if scan is not None]
    return sum(known, Decimal(0)) if len(known) == len(scans) else None


def assumptions_of(scenario: Scenario, classes: Iterable[QueryClass]) -> Iterator[str]:
    """Say what is taken for granted of queries."""
    asked = tuple(classes)
    if scenario.deployment.log_class is LogClass.INFREQUENT_ACCESS and any(query.indexed for query in asked):
        yield "an INFREQUENT_ACCESS group has no field index: indexed queries scan their whole window"
        return
    for query in asked:
        if query.skip_ratio is None:
            yield f"queries {query.name!r}: skip_ratio {_skip_ratio(scenario, query)} until measured"
        if query.indexed and query.window_days > INDEX_ENTRY_DAYS:
            yield f"queries {query.name!r}: index entries live {INDEX_ENTRY_DAYS} days; past that nothing is skipped"
        if query.streams is Streams.SPANS:
            yield f"queries {query.name!r}: filtered by @data_format or @logStream they scan spans alone"


def _scanned(scenario: Scenario, query: QueryClass, days: Decimal) -> Decimal | None:
    held = scenario.span_gb if query.streams is Streams.SPANS else scenario.trail_gb
    return product(held, days / DAYS_PER_MONTH, query.runs_per_month)


def _covered(query: QueryClass, days: Decimal) -> Decimal:
    """Return the days of a full window to which the skip ratio applies."""
    return min(days, INDEX_ENTRY_DAYS) if query.indexed else days


def _skip_ratio(scenario: Scenario, query: QueryClass) -> Decimal:
    if scenario.deployment.log_class is LogClass.INFREQUENT_ACCESS:
        return Decimal(0)
    if query.skip_ratio is not None:
        return query.skip_ratio
    return ASSUMED_SKIP_RATIO if query.indexed else Decimal(0)


def _parts(scenario: Scenario) -> tuple[Part, ...]:
    return tuple(part_of(scenario, query) for query in scenario.workload.queries or ())


def _steady(scenario: Scenario) -> Decimal | None:
    return None if scenario.workload.queries is None else total_of(part.quantity for part in _parts(scenario))


def _filling(scenario: Scenario) -> Decimal | None:
    return None if scenario.workload.queries is None else total_of(part.first_quantity for part in _parts(scenario))


def _assumptions(scenario: Scenario) -> Iterator[str]:
    chosen = scenario.workload.query_set
    if chosen is not None:
        yield f"queries: nobody counted those of the set {chosen.value!r} (query_set); it comes with the model"
    yield from assumptions_of(scenario, scenario.workload.queries or ())


QUERIES: Final = Meter(
    key="queries",
    label="Logs Insights queries",
    price="logs_insights_scan",
    quantity=_steady,
    first_month=_filling,
    parts=_parts,
    assumes=lambda scenario: tuple(_assumptions(scenario)),
)
