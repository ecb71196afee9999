"""Sum up numbers without making any up: what nobody measured is None, and never 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from agent_image.contract import Field

Number = int | Decimal


@dataclass(frozen=True, slots=True)
class Spread:
    """Hold how numbers spread: each percentile is one of them, by nearest rank."""

    count: int = 0
    mean: Decimal | None = None
    p50: Number | None = None
    p95: Number | None = None
    p99: Number | None = None
    largest: Number | None = None


def spread(values: Iterable[Number]) -> Spread:
    """Tell how numbers spread; of none nothing is known."""
    ordered = sorted(values)
    if not ordered:
        return Spread()
    total = sum((Decimal(value) for value in ordered), Decimal(0))
    p50, p95, p99 = (percentile(ordered, share) for share in (50, 95, 99))
    return Spread(len(ordered), total / len(ordered), p50, p95, p99, ordered[-1])


def percentile(ordered: list[Number], percent: int) -> Number:
    """Give the smallest of the ordered numbers that at least `percent` of a hundred of them do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]


def rate(part: int, whole: int) -> Decimal | None:
    """Give a share; of nothing there is none."""
    return Decimal(part) / Decimal(whole) if whole else None


def number(record: Mapping[str, Any], field: Field) -> Number | None:
    """Read a number of an event; None where it is unknown."""
    return as_number(record.get(field))


def as_number(value: object) -> Number | None:
    """Read a number; None where it is none."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return value if Decimal(value).is_finite() else None


def text(record: Mapping[str, Any], field: Field) -> str:
    """Read a text of an event; empty where it is none."""
    value = record.get(field)
    return value if isinstance(value, str) else ""
