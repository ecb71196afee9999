"""Price a scenario at many numbers of sessions, once under each regime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from agent_image.contract import Regime
from cost_model.estimate import Estimate
from cost_model.money import known_sum
from cost_model.prices import PriceBook
from cost_model.regimes import compare_regimes
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes

SESSIONS: Final[Sequence[Decimal]] = (
    *(Decimal(figure) * 10**power for power in range(4, 8) for figure in (1, 2, 5)),
    Decimal(10**8),
)
"""From ten thousand to a hundred million sessions a month, three to a power of ten."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Hold what a month of the trail costs under each regime at each number of sessions, in USD; None depends on usage.

    Attributes:
        lacking: labels of the lines that depend on usage: no total holds them.
    """

    sessions: tuple[Decimal, ...]
    totals: Mapping[Regime, tuple[Decimal | None, ...]]
    lacking: tuple[str, ...] = ()


def growth(
    scenario: Scenario,
    prices: PriceBook,
    today: date,
    sizes: SessionSizes | None = None,
    sessions: Sequence[Decimal] = SESSIONS,
) -> Growth:
    """Price the scenario with each number of sessions; everything else stays as it was stated."""
    found = [
        compare_regimes(
            Scenario(scenario.deployment, replace(scenario.workload, sessions=number)), prices, today, sizes
        ).estimates
        for number in sessions
    ]
    totals = {regime: tuple(_trail(estimates[regime]) for estimates in found) for regime in Regime}
    lacking = dict.fromkeys(
        line.label
        for estimates in found
        for each in estimates.values()
        for line in each.trail_lines
        if line.monthly is None
    )
    return Growth(tuple(sessions), MappingProxyType(totals), tuple(lacking))


def _trail(estimate: Estimate) -> Decimal | None:
    return known_sum(line.monthly for line in estimate.trail_lines)
