"""Name every input of a scenario that can be changed alone, the values it is given, and how one is put in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from agent_image.contract import KB_PER_SESSION, USAGE, Quantity, Regime
from cost_model.deployment import INDEXING, RETENTION, LogClass
from cost_model.faults import fits
from cost_model.meters.queries import ASSUMED_SKIP_RATIO
from cost_model.prices import PriceBook
from cost_model.query_classes import Dashboard, QueryClass
from cost_model.scenario import Scenario

FACTORS: Final = (Decimal("0.5"), Decimal(2))
"""By how much a volume that somebody stated may be wrong."""
SKIP_RATIOS: Final = (Decimal(0), Decimal("0.9"), Decimal(1))
SWITCH: Final = "off or on"
OFF_AND_ON: Final = (Decimal(0), Decimal(1))
INDEXED: Final = (Decimal(0), Decimal(100))
RETENTIONS: Final = tuple(
    map(Decimal, (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653))
)
"""Days that CloudWatch Logs can keep events (PutRetentionPolicy), as far as they are worth a look."""
SPAN_PRICE: Final = "span_ingestion"
LOG_PRICE: Final = "log_ingestion"
"""The row at which spans are charged if those in an agent's own group count as logs: AWS states no rate for them."""

_QUERY_NUMBERS: Final = (("runs_per_month", "runs", "runs/month"), ("window_days", "window", "days"))
_DASHBOARD_NUMBERS: Final = (
    ("refresh_minutes", "refresh", "minutes"),
    ("window_days", "window", "days"),
    ("hours_open_per_month", "hours open", "hours/month"),
)

Put: TypeAlias = Callable[[Decimal], tuple[Scenario, PriceBook]]


@dataclass(frozen=True, slots=True)
class Input:
    """Name an input, its values in rising order, and how one is put in."""

    name: str
    unit: str
    value: Decimal
    values: tuple[Decimal, ...]
    put: Put


def inputs_of(scenario: Scenario, prices: PriceBook) -> Iterator[Input]:
    """Yield what somebody stated or the model assumed; an input that is unknown has no values."""
    yield from _stated_numbers(scenario, prices)
    yield from _sizes(scenario, prices)
    yield from _queries(scenario, prices)
    yield from _dashboards(scenario, prices)
    yield from _deployed(scenario, prices)
    yield from _span_price(scenario, prices)


def _stated_numbers(scenario: Scenario, prices: PriceBook) -> Iterator[Input]:
    """Yield each number of `[usage]`; a new key of the contract is an input without a word here."""
    workload = scenario.workload
    for quantity in USAGE:
        value = getattr(workload, quantity.key)
        if value:
            put = _into_workload(scenario, prices, _number_change(quantity.key))
            yield Input(_words(quantity.key), quantity.unit, value, _scaled(value, quantity), put)


def _sizes(scenario: Scenario, prices: PriceBook) -> Iterator[Input]:
    regime = scenario.span_regime
    for key, name in (("kb_per_session", "span bytes"), ("event_kb_per_session", "event line bytes")):
        stated: Mapping[Regime, Decimal] = getattr(scenario.workload, key)
        if regime is not None and stated.get(regime):
            put = _into_workload(scenario, prices, _size_change(key, stated, regime))
            yield Input(name, KB_PER_SESSION.unit, stated[regime], _scaled(stated[regime]), put)


def _number_change(key: str) -> Callable[[Decimal], dict[str, Any]]:
    return lambda value: {key: value}


def _size_change(key: str, stated: Mapping[Regime, Decimal], regime: Regime) -> Callable[[Decimal], dict[str, Any]]:
    return lambda value: {key: MappingProxyType({**stated, regime: value})}


def _queries(scenario: Scenario, prices: PriceBook) -> Iterator[Input]:
    queries = scenario.workload.queries or ()
    for position, query in enumerate(queries):
        for key, name, unit in _QUERY_NUMBERS:
            value: Decimal = getattr(query, key)
            if value:
                put = _into_workload(scenario, prices, _item_change("queries", queries, position, key))
                yield Input(f"{name} of {query.name!r}", unit, value, _scaled(value), put)
        if scenario.deployment.log_class is LogClass.STANDARD:
            change = _item_change("queries", queries, position, "skip_ratio", {"indexed": True})
            name = f"skip ratio of {query.name!r}" + ("" if query.indexed else ", were it indexed")
            yield Input(name, "share", _skip_ratio(query), SKIP_RATIOS, _into_workload(scenario, prices, change))


def _skip_ratio(query: QueryClass) -> Decimal:
    if query.skip_ratio is not None:
        return query.skip_ratio
    return ASSUMED_SKIP_RATIO if query.indexed else Decimal(0)


def _dashboards(scenario: Scenario, prices: PriceBook) -> Iterator[Input]:
    dashboards = scenario.workload.dashboards
    for position, dashboard in enumerate(dashboards):
        for key, name, unit in _DASHBOARD_NUMBERS:
            value: Decimal = getattr(dashboard, key)
            if value:
                put = _into_workload(scenario, prices, _item_change("dashboards", dashboards, position, key))
                yield Input(f"{name} of dashboard {dashboard.name!r}", unit, value, _scaled(value), put)


def _item_change(
    field: str,
    items: Sequence[QueryClass | Dashboard],
    position: int,
    key: str,
    beside: Mapping[str, Any] = MappingProxyType({}),
) -> Callable[[Decimal], dict[str, Any]]:
    """Change one number of one item of a list; `beside` holds what it takes to have an effect."""

    def change(value: Decimal) -> dict[str, Any]:
        changed = replace(items[position], **{key: value, **beside})
        return {field: (*items[:position], changed, *items[position + 1 :])}

    return change


def _deployed(scenario: Scenario, prices: PriceBook) -> Iterator[Input]:
    deployment = scenario.deployment

    def put(changes: Callable[[Decimal], dict[str, Any]]) -> Put:
        return lambda v: (replace(scenario, deployment=replace(deployment, **changes(v))), prices)

    indexed, kept = deployment.indexing_percentage, deployment.retention_days
    if indexed is not None:
        yield Input("share of spans indexed", INDEXING.unit, indexed, INDEXED, put(lambda v: {INDEXING.key: v}))
    if kept is not None:
        days = tuple(_nearest(kept * factor) for factor in FACTORS)
        yield Input("retention", RETENTION.unit, kept, days, put(lambda v: {RETENTION.key: v}))
    if deployment.regime is Regime.CONTENT:
        split = Decimal(int(scenario.workload.split_telemetry))
        change = _into_workload(scenario, prices, lambda v: {"split_telemetry": bool(v)})
        yield Input("split telemetry", SWITCH, split, OFF_AND_ON, change)
    masked = Decimal(int(deployment.masking))
    yield Input("masking", SWITCH, masked, OFF_AND_ON, put(lambda v: {"masking": bool(v)}))


def _span_price(scenario: Scenario, prices: PriceBook) -> Iterator[Input]:
    region = scenario.deployment.region
    spans, logs = prices.row(region, SPAN_PRICE), prices.row(region, LOG_PRICE)
    as_logs = PriceBook(tuple(replace(row, tiers=logs.tiers) if row is spans else row for row in prices.rows))
    books = {spans.tiers[0].usd: prices, logs.tiers[0].usd: as_logs}
    yield Input(
        "price of span ingestion", "USD/GB", spans.tiers[0].usd, tuple(sorted(books)), lambda v: (scenario, books[v])
    )


def _into_workload(scenario: Scenario, prices: PriceBook, changes: Callable[[Decimal], dict[str, Any]]) -> Put:
    def put(value: Decimal) -> tuple[Scenario, PriceBook]:
        return replace(scenario, workload=replace(scenario.workload, **changes(value))), prices

    return put


def _scaled(value: Decimal, quantity: Quantity | None = None) -> tuple[Decimal, ...]:
    """Halve and double, as far as the quantity can go."""
    return tuple(_within(value * factor, value, quantity) for factor in FACTORS)


def _within(scaled: Decimal, value: Decimal, quantity: Quantity | None) -> Decimal:
    if quantity is None:
        return scaled
    if quantity.whole:
        scaled = scaled.to_integral_value()
    if quantity.maximum is not None and scaled > quantity.maximum:
        return quantity.maximum
    return scaled if fits(quantity, scaled) else value


def _nearest(days: Decimal) -> Decimal:
    return min(RETENTIONS, key=lambda allowed: abs(allowed - days))


def _words(key: str) -> str:
    return key.replace("_kb_", " KB ").replace("_", " ")
