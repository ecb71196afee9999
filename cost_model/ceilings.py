"""Hold a change to ceilings, and name the lines that break one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from agent_image.contract import Quantity
from cost_model.diff import Difference, Standing

MAX_MONTHLY: Final = Quantity("max-monthly", "USD/month", "most that the new side may cost")
MAX_INCREASE: Final = Quantity("max-increase", "%", "most by which the new side may cost more than the old one")


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Hold what a change may cost: USD a month, and per cent more; None is no ceiling."""

    max_monthly: Decimal | None = None
    max_increase: Decimal | None = None

    @property
    def any(self) -> bool:
        """Tell whether there is a ceiling at all."""
        return self.max_monthly is not None or self.max_increase is not None


@dataclass(frozen=True, slots=True)
class Breach:
    """Hold a broken ceiling, by its option, and what was found; None where the increase is from nothing.

    `lines` broke it, the worst first, with what each adds; where the bill did not grow, with what each costs.
    """

    ceiling: Quantity
    limit: Decimal
    found: Decimal | None
    lines: tuple[Standing, ...]
    grew: bool


def breaches(difference: Difference, ceilings: Ceilings) -> tuple[Breach, ...]:
    """Return the ceilings that are broken, by what is known: a line that depends on usage breaks none."""
    found = []
    total, delta, limit = difference.total_new, difference.delta, ceilings.max_monthly
    if limit is not None and total is not None and total > limit:
        found.append(_breach(MAX_MONTHLY, limit, total, difference))
    limit = ceilings.max_increase
    # Multiplied rather than divided: what cost nothing before has no per cent, and any increase of it is too much.
    if limit is not None and delta * 100 > difference.compared * limit:
        found.append(_breach(MAX_INCREASE, limit, difference.percent, difference))
    return tuple(found)


def _breach(ceiling: Quantity, limit: Decimal, found: Decimal | None, difference: Difference) -> Breach:
    grown = [
        Standing(row.environment, row.label, row.delta)
        for row in difference.rows
        if row.delta is not None and row.delta > 0
    ]
    grew = difference.delta > 0
    # A bill that fell, and is over its ceiling all the same, is not there by the lines that grew.
    lines = grown if grew else [each for each in difference.new if each.monthly]
    worst_first = sorted(lines, key=lambda each: each.monthly or Decimal(0), reverse=True)
    return Breach(ceiling, limit, found, tuple(worst_first), grew)
