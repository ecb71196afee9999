"""Compare the units of the Price List with those of the price book."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_LISTED: Final[Mapping[str, frozenset[str]]] = {
    "gb": frozenset({"gb", "gigabyte"}),
    "tb": frozenset({"tb", "terabyte"}),
    "gb-month": frozenset({"gb-mo", "gb-month"}),
    "gb-hour": frozenset({"gb-hour", "gb-hr"}),
    "vcpu-hour": frozenset({"vcpu-hour", "vcpu-hr"}),
    "minute": frozenset({"minute", "min"}),
    "span": frozenset({"span", "trace"}),
    "request": frozenset({"request", "api request", "apirequest"}),
    "message": frozenset({"message", "request", "api request", "notification"}),
    "read unit": frozenset({"readrequestunit", "request"}),
    "write unit": frozenset({"writerequestunit", "request"}),
    "series-month": frozenset({"metric"}),
    "metric-month": frozenset({"alarm", "metric"}),
    "alarm-month": frozenset({"alarm"}),
    "dashboard-month": frozenset({"dashboard"}),
    "key-month": frozenset({"key"}),
}
"""What the Price List calls a unit of the book, in small letters and without a plural's s."""
_COUNTS: Final = frozenset({"count", "unit", "quantity"})
"""Units that say nothing but that things are counted; which, the usage type says."""
_MEASURES: Final = ("gb", "tb", "vcpu")


def same_unit(listed: str, book: str) -> bool:
    """Tell whether a price for one unit of the list is one for one unit of the book.

    The list prices one unit, never a thousand or a million of them. Bytes and hours have no second name here: a price
    for one TB, taken for one of a GB, would be wrong by a thousand.
    """
    theirs, ours = _plain(listed), _plain(book)
    if theirs == ours or theirs in _LISTED.get(ours, frozenset()):
        return True
    return theirs in _COUNTS and not ours.startswith(_MEASURES)


def _plain(unit: str) -> str:
    return unit.strip().lower().removesuffix("s")
