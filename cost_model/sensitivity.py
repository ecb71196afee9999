"""Find which input moves the bill most: each is changed alone, and the whole scenario priced again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from cost_model.estimate import estimate
from cost_model.inputs import inputs_of
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes


@dataclass(frozen=True, slots=True)
class Point:
    """Hold one value of an input, and what a month costs with it in USD, unrounded."""

    value: Decimal
    total: Decimal


@dataclass(frozen=True, slots=True)
class Lever:
    """Hold an input, its value now, the values it was given, and the total as it is now.

    A switch takes 0 for off and 1 for on.
    """

    name: str
    unit: str
    value: Decimal
    points: tuple[Point, ...]
    base: Decimal

    @property
    def low(self) -> Decimal:
        """Return the least value."""
        return self.points[0].value

    @property
    def high(self) -> Decimal:
        """Return the greatest value."""
        return self.points[-1].value

    @property
    def total_low(self) -> Decimal:
        """Return what a month costs at the least value."""
        return self.points[0].total

    @property
    def total_high(self) -> Decimal:
        """Return what a month costs at the greatest value."""
        return self.points[-1].total

    @property
    def swing(self) -> Decimal:
        """Return how far the total moves over all values, and that of now."""
        totals = (self.base, *(point.total for point in self.points))
        return max(totals) - min(totals)


def sensitivity(
    scenario: Scenario, prices: PriceBook, today: date, sizes: SessionSizes | None = None
) -> tuple[Lever, ...]:
    """Return every input that somebody stated or the model assumed, the one that moves the total most first.

    What depends on usage nobody stated is in no total; without a known line there is nothing to move.
    """
    now = estimate(scenario, prices, today, sizes)
    base = now.total
    if base is None:
        return ()

    def total(changed: Scenario, book: PriceBook) -> Decimal:
        return estimate(changed, book, today, sizes).total or Decimal(0)

    levers = [
        Lever(each.name, each.unit, each.value, tuple(Point(v, total(*each.put(v))) for v in each.values), base)
        for each in inputs_of(now.scenario, prices)
    ]
    return tuple(sorted(levers, key=lambda lever: -lever.swing))


def movers(levers: Iterable[Lever]) -> tuple[Lever, ...]:
    """Leave out the inputs that move nothing."""
    return tuple(lever for lever in levers if lever.swing)
