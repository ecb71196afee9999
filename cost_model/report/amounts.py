"""Write amounts into tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from cost_model.render.figures import UNKNOWN, joined, percentage
from cost_model.report.charts import money, signed


def without(labels: Iterable[str]) -> Iterator[str]:
    """Name the lines that a chart lacks, where it lacks some."""
    if names := joined(labels):
        yield f"Without what depends on usage: {names}."


def known(amount: Decimal | None) -> str:
    """Show an amount, or what it depends on."""
    return UNKNOWN if amount is None else money(amount)


def moved(amount: Decimal | None) -> str:
    """Show a difference; one that is not known is not shown."""
    return "" if amount is None else signed(amount)


def share(percent: Decimal | None) -> str:
    """Show per cent; a share of nothing is not shown."""
    return "" if percent is None else percentage(percent, Decimal(100))
