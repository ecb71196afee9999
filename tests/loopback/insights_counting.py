"""Compute columns of lines, and count groups of lines, as Logs Insights does: fields, stats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Fields = Mapping[str, Any]
"""The fields of one line, by their flat names."""


@dataclass(frozen=True)
class Column:
    """Hold what is shown of a line: its name, and what gives its value."""

    name: str
    value: Callable[[Fields], Any]


@dataclass(frozen=True)
class Counting:
    """Hold what `stats` tells of each group of lines, and by which fields lines make a group."""

    told: tuple[tuple[str, Callable[[Sequence[Fields]], Any]], ...]
    by: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """Name the columns that are left."""
        return frozenset((*self.by, *(name for name, _ in self.told)))

    def rows(self, lines: Iterable[Fields]) -> list[Fields]:
        """Count: one row for each group, those first that came first. A line that lacks a field groups by nothing."""
        groups: dict[tuple[Any, ...], list[Fields]] = {}
        for line in lines:
            groups.setdefault(tuple(line.get(name) for name in self.by), []).append(line)
        return [
            {
                name: value
                for name, value in (
                    *zip(self.by, key, strict=True),
                    *((alias, tell(members)) for alias, tell in self.told),
                )
                if value is not None
            }
            for key, members in groups.items()
        ]


def count(field: str) -> Callable[[Sequence[Fields]], Any]:
    """Count lines, or those that have a field."""
    return lambda lines: sum(field == "*" or field in line for line in lines)


def count_distinct(field: str) -> Callable[[Sequence[Fields]], Any]:
    """Count the values of a field."""
    return lambda lines: len({line[field] for line in lines if field in line})


def _over(reckon: Callable[[list[float]], float]) -> Callable[[str], Callable[[Sequence[Fields]], Any]]:
    """Reckon over the numbers that a field holds; there is no answer where it holds none."""

    def of(field: str) -> Callable[[Sequence[Fields]], Any]:
        def tell(lines: Sequence[Fields]) -> Any:
            numbers = [line[field] for line in lines if isinstance(line.get(field), int | float)]
            return reckon(numbers) if numbers else None

        return tell

    return of


def pct(field: str, percentile: int) -> Callable[[Sequence[Fields]], Any]:
    """Give the value that so many per cent of the values are at most."""
    return _over(lambda numbers: sorted(numbers)[max(0, math.ceil(len(numbers) * percentile / 100) - 1)])(field)


def _at(choose: Callable[..., Fields]) -> Callable[[str], Callable[[Sequence[Fields]], Any]]:
    def of(field: str) -> Callable[[Sequence[Fields]], Any]:
        def tell(lines: Sequence[Fields]) -> Any:
            having = [line for line in lines if field in line]
            return choose(having, key=lambda line: line["@timestamp"])[field] if having else None

        return tell

    return of


AGGREGATES: Final[Mapping[str, Callable[[str], Callable[[Sequence[Fields]], Any]]]] = {
    "count": count,
    "count_distinct": count_distinct,
    "sum": _over(math.fsum),
    "avg": _over(lambda numbers: math.fsum(numbers) / len(numbers)),
    "min": _over(min),
    "max": _over(max),
    "earliest": _at(min),
    # Of lines of the same moment the last one counts.
    "latest": _at(lambda lines, key: max(reversed(lines), key=key)),
}
"""The functions of `stats` that take a field; `pct` takes a number too."""
