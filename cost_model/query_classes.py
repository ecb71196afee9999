"""Read what a person states about queries: classes, dashboards, and the sets of classes that come with the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from agent_image.contract import (
    DASHBOARD,
    QUERY_CLASS,
    QUERY_CLASS_INDEXED,
    QUERY_CLASS_NAME,
    QUERY_CLASS_STREAMS,
    Quantity,
    QuerySet,
    Streams,
)
from cost_model.documents import read_toml
from cost_model.faults import Faults

SHIPPED: Final = Path(__file__).parent / "data" / "query_sets.toml"

_TEXTS: Final = (QUERY_CLASS_NAME, QUERY_CLASS_STREAMS, QUERY_CLASS_INDEXED)
_MINUTES_PER_HOUR: Final = 60


@dataclass(frozen=True, slots=True)
class QueryClass:
    """State one class of Logs Insights queries; a skip ratio of None was left to the model."""

    name: str
    runs_per_month: Decimal
    window_days: Decimal
    indexed: bool
    skip_ratio: Decimal | None = None
    streams: Streams = Streams.ALL


@dataclass(frozen=True, slots=True)
class Dashboard:
    """State a dashboard whose widgets query the trail; a skip ratio of None was left to the model."""

    name: str
    widgets: Decimal
    refresh_minutes: Decimal
    window_days: Decimal
    hours_open_per_month: Decimal
    indexed: bool = False
    skip_ratio: Decimal | None = None
    streams: Streams = Streams.ALL

    @property
    def queries(self) -> QueryClass:
        """Say the same as a class of queries: each refresh of each widget is one, whether or not somebody looks."""
        runs = self.widgets * self.hours_open_per_month * _MINUTES_PER_HOUR / self.refresh_minutes
        return QueryClass(self.name, runs, self.window_days, self.indexed, self.skip_ratio, self.streams)


Named = TypeVar("Named", QueryClass, Dashboard)


def read_queries(faults: Faults, path: str, value: object) -> tuple[QueryClass, ...]:
    """Check a list of query classes; what is at fault is recorded and left out."""
    return _all_named(faults, path, [_query(faults, at, item) for at, item in _items(faults, path, value)])


def read_dashboards(faults: Faults, path: str, value: object) -> tuple[Dashboard, ...]:
    """Check a list of dashboards; what is at fault is recorded and left out."""
    return _all_named(faults, path, [_dashboard(faults, at, item) for at, item in _items(faults, path, value)])


@cache
def query_set(name: QuerySet) -> tuple[QueryClass, ...]:
    """Return a set of classes that comes with the model; UsageError shows all its faults."""
    faults = Faults(SHIPPED.name)
    classes = read_queries(faults, name.value, read_toml(SHIPPED).get(name.value))
    faults.raise_if_any()
    return classes


def joined(own: tuple[QueryClass, ...], of_set: tuple[QueryClass, ...]) -> tuple[QueryClass, ...]:
    """Join a set with a person's own classes: one of their own stands in for the set's class of its name."""
    names = {query.name for query in own}
    return (*(query for query in of_set if query.name not in names), *own)


def _items(faults: Faults, path: str, value: object) -> list[tuple[str, object]]:
    if not isinstance(value, list):
        faults.add(path, value, f"a list of tables, each headed [[{path}]]")
        return []
    return [(f"{path}[{position}]", item) for position, item in enumerate(value)]


def _all_named(faults: Faults, path: str, found: list[Named | None]) -> tuple[Named, ...]:
    classes = tuple(each for each in found if each is not None)
    names = [each.name for each in classes]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        faults.add(f"{path}.{QUERY_CLASS_NAME}", name, "a name of its own for each of them")
    return classes


def _query(faults: Faults, path: str, value: object) -> QueryClass | None:
    table = _table(faults, path, value, QUERY_CLASS)
    name = faults.text(f"{path}.{QUERY_CLASS_NAME}", table.get(QUERY_CLASS_NAME))
    indexed = faults.flag(f"{path}.{QUERY_CLASS_INDEXED}", table.get(QUERY_CLASS_INDEXED))
    streams = _streams(faults, path, table)
    numbers = {quantity.key: _number(faults, path, quantity, table) for quantity in QUERY_CLASS}
    runs, window = numbers["runs_per_month"], numbers["window_days"]
    if name is None or indexed is None or runs is None or window is None:
        return None
    return QueryClass(name, runs, window, indexed, numbers["skip_ratio"], streams)


def _dashboard(faults: Faults, path: str, value: object) -> Dashboard | None:
    table = _table(faults, path, value, DASHBOARD)
    name = faults.text(f"{path}.{QUERY_CLASS_NAME}", table.get(QUERY_CLASS_NAME))
    indexed = faults.flag(f"{path}.{QUERY_CLASS_INDEXED}", table.get(QUERY_CLASS_INDEXED, False))
    streams = _streams(faults, path, table)
    numbers = {quantity.key: _number(faults, path, quantity, table) for quantity in DASHBOARD}
    skip_ratio = numbers.pop("skip_ratio")
    known = {key: number for key, number in numbers.items() if number is not None}
    if name is None or indexed is None or len(known) < len(numbers):
        return None
    return Dashboard(name, **known, indexed=indexed, skip_ratio=skip_ratio, streams=streams)


def _table(faults: Faults, path: str, value: object, numbers: tuple[Quantity, ...]) -> Mapping[str, object]:
    table = faults.table(path, value)
    faults.unknown_keys(path, table, (*_TEXTS, *(quantity.key for quantity in numbers)))
    return table


def _streams(faults: Faults, path: str, table: Mapping[str, object]) -> Streams:
    value = table.get(QUERY_CLASS_STREAMS, Streams.ALL.value)
    return faults.one_of(f"{path}.{QUERY_CLASS_STREAMS}", Streams, value) or Streams.ALL


def _number(faults: Faults, path: str, quantity: Quantity, table: Mapping[str, object]) -> Decimal | None:
    if quantity.required:
        return faults.number(f"{path}.{quantity.key}", quantity, table.get(quantity.key))
    return faults.optional_number(path, quantity, table)
