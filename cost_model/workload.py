"""Read what a person states about an environment's traffic: the `[usage]` table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from agent_image.contract import (
    EVENT_KB_PER_SESSION,
    KB_PER_SESSION,
    KB_PER_SESSION_REGIMES,
    QUERIES_KEY,
    QUERY_CLASS,
    QUERY_CLASS_INDEXED,
    QUERY_CLASS_NAME,
    USAGE,
    Quantity,
    Regime,
)
from cost_model.faults import Faults

USAGE_TABLE: Final = "usage"
SESSIONS: Final = next(quantity for quantity in USAGE if quantity.key == "sessions")
_KEYS: Final = (*(quantity.key for quantity in USAGE), KB_PER_SESSION.key, EVENT_KB_PER_SESSION.key, QUERIES_KEY)
_QUERY_KEYS: Final = (QUERY_CLASS_NAME, QUERY_CLASS_INDEXED, *(quantity.key for quantity in QUERY_CLASS))


@dataclass(frozen=True, slots=True)
class QueryClass:
    """State one class of Logs Insights queries; a skip ratio of None was left to the model."""

    name: str
    runs_per_month: Decimal
    window_days: Decimal
    indexed: bool
    skip_ratio: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """State a month of traffic; what nobody stated is None, never 0. `queries = ()` states that nobody queries."""

    sessions: Decimal | None = None
    spans_per_session: Decimal | None = None
    passages_per_session: Decimal | None = None
    distinct_passages: Decimal | None = None
    passage_kb: Decimal | None = None
    archive_months: Decimal | None = None
    kb_per_session: Mapping[Regime, Decimal] = field(default_factory=lambda: MappingProxyType({}))
    event_kb_per_session: Mapping[Regime, Decimal] = field(default_factory=lambda: MappingProxyType({}))
    queries: tuple[QueryClass, ...] | None = None


def read_workload(value: object, source: str) -> Workload:
    """Check a `[usage]` table whole and return it as a record.

    Raises UsageError with every fault: key path, value, what is allowed.
    """
    faults = Faults(source)
    table = faults.table(USAGE_TABLE, value)
    faults.unknown_keys(USAGE_TABLE, table, _KEYS)
    numbers = {quantity.key: faults.optional_number(USAGE_TABLE, quantity, table) for quantity in USAGE}
    spans, events = (_sizes(faults, one, table) for one in (KB_PER_SESSION, EVENT_KB_PER_SESSION))
    queries = _queries(faults, table[QUERIES_KEY]) if QUERIES_KEY in table else None
    faults.raise_if_any()
    return Workload(**numbers, kb_per_session=spans, event_kb_per_session=events, queries=queries)


def _sizes(faults: Faults, quantity: Quantity, usage: Mapping[str, object]) -> Mapping[Regime, Decimal]:
    path = f"{USAGE_TABLE}.{quantity.key}"
    table = faults.table(path, usage.get(quantity.key, {}))
    faults.unknown_keys(path, table, (regime.value for regime in KB_PER_SESSION_REGIMES))
    sizes = {}
    for regime in KB_PER_SESSION_REGIMES:
        if regime.value in table:
            size = faults.number(f"{path}.{regime.value}", quantity, table[regime.value])
            if size is not None:
                sizes[regime] = size
    return MappingProxyType(sizes)


def _queries(faults: Faults, value: object) -> tuple[QueryClass, ...]:
    path = f"{USAGE_TABLE}.{QUERIES_KEY}"
    if not isinstance(value, list):
        faults.add(path, value, f"a list of tables, each headed [[{path}]]")
        return ()
    found = [_query(faults, f"{path}[{position}]", item) for position, item in enumerate(value)]
    classes = tuple(query for query in found if query is not None)
    names = [query.name for query in classes]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        faults.add(f"{path}.{QUERY_CLASS_NAME}", name, "a name of its own for each query class")
    return classes


def _query(faults: Faults, path: str, value: object) -> QueryClass | None:
    table = faults.table(path, value)
    faults.unknown_keys(path, table, _QUERY_KEYS)
    name = faults.text(f"{path}.{QUERY_CLASS_NAME}", table.get(QUERY_CLASS_NAME))
    indexed = faults.flag(f"{path}.{QUERY_CLASS_INDEXED}", table.get(QUERY_CLASS_INDEXED))
    numbers = {quantity.key: _query_number(faults, path, quantity, table) for quantity in QUERY_CLASS}
    runs, window = numbers["runs_per_month"], numbers["window_days"]
    if name is None or indexed is None or runs is None or window is None:
        return None
    return QueryClass(name, runs, window, indexed, numbers["skip_ratio"])


def _query_number(faults: Faults, path: str, quantity: Quantity, table: Mapping[str, object]) -> Decimal | None:
    if quantity.required:
        return faults.number(f"{path}.{quantity.key}", quantity, table.get(quantity.key))
    return faults.optional_number(path, quantity, table)
