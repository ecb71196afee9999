"""Read what a person states about an environment's traffic: the `[usage]` table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from agent_image.contract import (
    DASHBOARDS_KEY,
    EVENT_KB_PER_SESSION,
    KB_PER_SESSION,
    KB_PER_SESSION_REGIMES,
    QUERIES_KEY,
    QUERY_SET_KEY,
    RUNTIME_USAGE,
    RUNTIME_USAGE_KEY,
    SPLIT_TELEMETRY,
    TOKENS,
    TOKENS_KEY,
    TOKENS_MODEL,
    USAGE,
    Quantity,
    QuerySet,
    Regime,
)
from cost_model.faults import Faults
from cost_model.query_classes import Dashboard, QueryClass, joined, query_set, read_dashboards, read_queries

__all__ = ["SESSIONS", "USAGE_TABLE", "QueryClass", "RuntimeUse", "Tokens", "Workload", "read_workload"]

USAGE_TABLE: Final = "usage"
SESSIONS: Final = next(quantity for quantity in USAGE if quantity.key == "sessions")
_SIZES: Final = (KB_PER_SESSION, EVENT_KB_PER_SESSION)
_KEYS: Final = (
    *(quantity.key for quantity in (*USAGE, *_SIZES)),
    *(SPLIT_TELEMETRY, QUERY_SET_KEY, QUERIES_KEY, DASHBOARDS_KEY, RUNTIME_USAGE_KEY, TOKENS_KEY),
)


@dataclass(frozen=True, slots=True)
class RuntimeUse:
    """State what one session takes of AgentCore Runtime; None is not stated."""

    version: Decimal | None = None
    vcpu_seconds_per_session: Decimal | None = None
    seconds_per_session: Decimal | None = None
    memory_gb: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """State what one session takes of models: tokens, and USD for a million of them or the model whose price holds."""

    model: str | None = None
    input_per_session: Decimal | None = None
    output_per_session: Decimal | None = None
    input_usd: Decimal | None = None
    output_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """State a month of traffic; what nobody stated is None, never 0. `queries = ()` states that nobody queries."""

    sessions: Decimal | None = None
    spans_per_session: Decimal | None = None
    passages_per_session: Decimal | None = None
    distinct_passages: Decimal | None = None
    passage_kb: Decimal | None = None
    archive_months: Decimal | None = None
    stdout_kb_per_session: Decimal | None = None
    storage_compression: Decimal | None = None
    vended_gb: Decimal | None = None
    vended_infrequent_access_gb: Decimal | None = None
    vended_s3_gb: Decimal | None = None
    metric_series: Decimal | None = None
    insights_alarm_metrics: Decimal | None = None
    alerts: Decimal | None = None
    kms_requests: Decimal | None = None
    table_writes_per_session: Decimal | None = None
    table_reads_per_session: Decimal | None = None
    table_kb_per_session: Decimal | None = None
    table_months: Decimal | None = None
    audit_kb_per_session: Decimal | None = None
    audit_objects_per_session: Decimal | None = None
    kb_per_session: Mapping[Regime, Decimal] = field(default_factory=lambda: MappingProxyType({}))
    event_kb_per_session: Mapping[Regime, Decimal] = field(default_factory=lambda: MappingProxyType({}))
    split_telemetry: bool = False
    query_set: QuerySet | None = None
    queries: tuple[QueryClass, ...] | None = None
    dashboards: tuple[Dashboard, ...] = ()
    runtime: RuntimeUse | None = None
    tokens: Tokens | None = None


def read_workload(value: object, source: str) -> Workload:
    """Check a `[usage]` table whole and return it as a record.

    Raises UsageError with every fault: key path, value, what is allowed.
    """
    faults = Faults(source)
    table = faults.table(USAGE_TABLE, value)
    faults.unknown_keys(USAGE_TABLE, table, _KEYS)
    numbers = {quantity.key: faults.optional_number(USAGE_TABLE, quantity, table) for quantity in USAGE}
    spans, events = (_sizes(faults, one, table) for one in _SIZES)
    split = faults.flag(_path(SPLIT_TELEMETRY), table.get(SPLIT_TELEMETRY, False))
    chosen = _query_set(faults, table)
    queries = read_queries(faults, _path(QUERIES_KEY), table[QUERIES_KEY]) if QUERIES_KEY in table else None
    if chosen is not None:
        queries = joined(queries or (), query_set(chosen))
    dashboards = read_dashboards(faults, _path(DASHBOARDS_KEY), table.get(DASHBOARDS_KEY, []))
    runtime, tokens = _runtime(faults, table), _tokens(faults, table)
    faults.raise_if_any()
    return Workload(
        **numbers,
        kb_per_session=spans,
        event_kb_per_session=events,
        split_telemetry=bool(split),
        query_set=chosen,
        queries=queries,
        dashboards=dashboards,
        runtime=runtime,
        tokens=tokens,
    )


def _path(key: str) -> str:
    return f"{USAGE_TABLE}.{key}"


def _sizes(faults: Faults, quantity: Quantity, usage: Mapping[str, object]) -> Mapping[Regime, Decimal]:
    path = _path(quantity.key)
    table = faults.table(path, usage.get(quantity.key, {}))
    faults.unknown_keys(path, table, (regime.value for regime in KB_PER_SESSION_REGIMES))
    sizes = {}
    for regime in KB_PER_SESSION_REGIMES:
        if regime.value in table:
            size = faults.number(f"{path}.{regime.value}", quantity, table[regime.value])
            if size is not None:
                sizes[regime] = size
    return MappingProxyType(sizes)


def _query_set(faults: Faults, usage: Mapping[str, object]) -> QuerySet | None:
    if QUERY_SET_KEY not in usage:
        return None
    return faults.one_of(_path(QUERY_SET_KEY), QuerySet, usage[QUERY_SET_KEY])


def _runtime(faults: Faults, usage: Mapping[str, object]) -> RuntimeUse | None:
    if RUNTIME_USAGE_KEY not in usage:
        return None
    path = _path(RUNTIME_USAGE_KEY)
    table = faults.table(path, usage[RUNTIME_USAGE_KEY])
    faults.unknown_keys(path, table, (quantity.key for quantity in RUNTIME_USAGE))
    return RuntimeUse(**{each.key: faults.optional_number(path, each, table) for each in RUNTIME_USAGE})


def _tokens(faults: Faults, usage: Mapping[str, object]) -> Tokens | None:
    if TOKENS_KEY not in usage:
        return None
    path = _path(TOKENS_KEY)
    table = faults.table(path, usage[TOKENS_KEY])
    faults.unknown_keys(path, table, (TOKENS_MODEL, *(quantity.key for quantity in TOKENS)))
    model = faults.text(f"{path}.{TOKENS_MODEL}", table[TOKENS_MODEL]) if TOKENS_MODEL in table else None
    prices = ("input_usd", "output_usd")
    if TOKENS_MODEL not in table and not all(key in table for key in prices):
        faults.add(f"{path}.{TOKENS_MODEL}", None, f"a model whose list price holds, or {' and '.join(prices)}")
    return Tokens(model, **{each.key: faults.optional_number(path, each, table) for each in TOKENS})
