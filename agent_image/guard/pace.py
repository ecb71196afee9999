"""Find a session that spends too much, too fast, or more than before. Unknown costs are left out: they are not zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from agent_image.guard.budget import Amount, Limits
from agent_image.guard.findings import Anomaly, Finding, Observed, Remedy, WatchRules, rung, warning

MINUTE: Final = 60
STEPS_AHEAD: Final = 3
"""So many more steps like those before must fit within the limits."""
USUAL: Final = 8
"""Steps before one is called out of the ordinary."""
DEVIATIONS: Final = 4
_GRAIN: Final = 5  # seconds that are added up as one moment
_REMEMBERED: Final = 256  # steps; then older ones count half


@dataclass(frozen=True, slots=True)
class Moment:
    """Hold what was spent within some seconds."""

    second: int
    nano: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """Hold what steps cost so far, in whole numbers: how many, their sum, and the sum of their squares."""

    steps: int = 0
    total: int = 0
    squares: int = 0

    def with_step(self, nano: int) -> Baseline:
        """Count one more step."""
        half = 2 if self.steps >= _REMEMBERED else 1
        return Baseline(self.steps // half + 1, self.total // half + nano, self.squares // half + nano * nano)

    def exceeded_by(self, nano: int) -> bool:
        """Tell whether a step costs twice the mean, and lies some standard deviations above it."""
        above = self.steps * nano - self.total
        spread = max(0, self.steps * self.squares - self.total * self.total)
        return self.steps >= USUAL and above > self.total and above * above > DEVIATIONS**2 * spread


@dataclass(frozen=True, slots=True)
class Pace:
    """Hold what a session spent lately.

    Attributes:
        moments: of the last minute.
        fast: the last minute cost too much; it was said.
        projected: that the limits are near was said.
        spent: nano-dollars of the session, as seen last.
    """

    moments: tuple[Moment, ...] = ()
    baseline: Baseline = field(default_factory=Baseline)
    spent: int = 0
    fast: bool = False
    projected: bool = False

    def observed(self, step: Observed, rules: WatchRules) -> tuple[Pace, tuple[Finding, ...]]:
        """Look at what one step cost."""
        cost = step.cost_nano or 0
        moments = tuple(_within_a_minute(self.moments, step.at, cost))
        minute = sum(moment.nano for moment in moments)
        fast = rules.cost_per_minute_nano is not None and minute > rules.cost_per_minute_nano
        near = rules.limits is not None and _near(step.spent, rules.limits.hard)
        found = [*_over(self.spent, step.spent, rules.limits)]
        if fast and not self.fast:
            found.append(warning(Anomaly.COST_RATE, {"minute_nano_usd": minute}))
        if self.baseline.exceeded_by(cost):
            found.append(warning(Anomaly.COST_STEP, {"step_nano_usd": cost}))
        if near and not self.projected:
            found.append(warning(Anomaly.BUDGET_PROJECTION, {"steps_ahead": STEPS_AHEAD}))
        return Pace(
            moments=moments,
            baseline=self.baseline if step.cost_nano is None else self.baseline.with_step(cost),
            spent=step.spent.nano_usd,
            fast=fast,
            projected=self.projected or near,
        ), tuple(found)

    def reset(self) -> Pace:
        """Say anew that the limits are near: a person has spoken."""
        return replace(self, projected=False)


def _within_a_minute(moments: tuple[Moment, ...], at: datetime, cost: int) -> Iterator[Moment]:
    now = int(at.timestamp()) // _GRAIN * _GRAIN
    for moment in moments:
        if moment.second == now:
            cost += moment.nano
        # A clock that went backwards leaves moments ahead: those too far ahead belong to no minute of ours.
        elif abs(now - moment.second) < MINUTE:
            yield moment
    if cost:
        yield Moment(now, cost)


def _over(before: int, spent: Amount, limits: Limits | None) -> Iterator[Finding]:
    """Say when another budget's worth is used up; each step beyond the hard limit ends the run."""
    if limits is None:
        return
    hard, soft, now = limits.hard.nano_usd, limits.soft.nano_usd, spent.nano_usd
    if now > hard:
        yield rung(Anomaly.COST, Remedy.STOP, {"nano_usd": now, "limit_nano_usd": hard})
    elif _budgets(now, soft) > _budgets(before, soft):
        yield warning(Anomaly.COST, {"nano_usd": now, "limit_nano_usd": soft * _budgets(now, soft)})


def _budgets(nano: int, soft: int) -> int:
    """Count the budgets that were used up and passed; exactly at a limit it is not passed."""
    if soft <= 0:
        return int(nano > 0)
    return max(0, nano - 1) // soft


def _near(spent: Amount, hard: Amount) -> bool:
    """Tell whether some more steps like those before would pass a limit, with nothing passed yet."""
    steps, ahead = spent.steps, spent.steps + STEPS_AHEAD
    if steps < STEPS_AHEAD:
        return False
    pairs = ((spent.nano_usd, hard.nano_usd), (spent.tokens, hard.tokens), (steps, hard.steps))
    return any(used <= limit and used * ahead > limit * steps for used, limit in pairs)
