"""Solve for the traffic at which one cost overtakes another, exactly: in whole sessions, or in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Final

from agent_image.contract import Quantity, Regime
from cost_model.estimate import Estimate, estimate
from cost_model.money import known_sum
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes

MOST_SESSIONS: Final = 10**12
"""Sessions a month beyond which nobody looks: a hundred for each person alive."""
BUDGET: Final = Quantity("budget", "USD/month", "what the trail may cost", maximum=Decimal(10**9))
SHARE: Final = Quantity(
    *("share", "%", "what the trail of regime content may cost of inference"),
    minimum=Decimal("0.001"), maximum=Decimal(1000),
)  # fmt: skip
SCANNING: Final = "queries"
SPANS: Final = "span_ingestion"
INGESTION: Final = "_ingestion"
"""How the keys of the lines end that bring bytes into the trail's log group, spans among them."""
INFERENCE: Final = "tokens_"
"""How the keys of the lines begin that price what sessions take of models."""


class Outcome(StrEnum):
    """Tell whether there is such a number: `always` is true of any traffic, `never` of none that is allowed."""

    AT = "at"
    ALWAYS = "always"
    NEVER = "never"
    DEPENDS_ON_USAGE = "depends on usage"


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Hold one answer: `at` is a number of `unit` a month where the outcome is AT; `why` says what holds there."""

    name: str
    unit: str
    outcome: Outcome
    at: Decimal | None
    why: str


def break_evens(
    scenario: Scenario,
    prices: PriceBook,
    today: date,
    sizes: SessionSizes | None = None,
    *,
    budget: Decimal,
    share: Decimal,
) -> tuple[BreakEven, ...]:
    """Solve all three for a scenario; `budget` in USD a month, `share` in per cent of inference."""
    priced = partial(_priced, scenario, prices, today, sizes)
    content = replace(scenario, deployment=replace(scenario.deployment, regime=Regime.CONTENT))
    return (
        scanning_passes_ingestion(estimate(scenario, prices, today, sizes)),
        trail_passes(budget, priced),
        content_within(share, partial(_priced, content, prices, today, sizes)),
    )


def scanning_passes_ingestion(priced: Estimate) -> BreakEven:
    """Find how many queries of the stated mix a month cost what bringing the trail in costs.

    Both are linear in what is varied, so the answer is a quotient, exact.
    """
    lines = {line.key: line.monthly for line in priced.lines}
    queries, scan, name = priced.scenario.workload.queries, lines.get(SCANNING), "scanning passes ingestion"
    ingestion = known_sum(amount for key, amount in lines.items() if key.endswith(INGESTION))
    if scan is None or ingestion is None or lines.get(SPANS) is None or queries is None:
        return BreakEven(name, "queries", Outcome.DEPENDS_ON_USAGE, None, "needs sessions, sizes and queries")
    runs = sum((query.runs_per_month for query in queries), Decimal(0))
    if not scan:
        return BreakEven(name, "queries", Outcome.NEVER, None, "the stated queries scan nothing")
    return BreakEven(
        name,
        "queries",
        Outcome.AT,
        runs * ingestion / scan,
        f"in the stated mix, of which {runs.normalize():f} run now",
    )


def trail_passes(budget: Decimal, priced: Callable[[int], Estimate]) -> BreakEven:
    """Find the least number of sessions a month whose trail costs more than a budget, by bisection."""
    name = f"the trail passes ${budget.normalize():f}"
    if not _depends_on_sessions(priced):
        return BreakEven(
            name, "sessions", Outcome.DEPENDS_ON_USAGE, None, "no line with a known amount depends on sessions"
        )
    found = _least(lambda sessions: trail_usd(priced(sessions)) > budget)
    why = "by the lines that are known" if _has_unknown(priced(MOST_SESSIONS)) else "all else as it is"
    return _sessions(name, found, why)


def content_within(share: Decimal, priced: Callable[[int], Estimate]) -> BreakEven:
    """Find the least number of sessions a month at which content costs at most `share` per cent of inference.

    What does not grow with sessions weighs less the more there are, and tiers make later bytes cheaper: the share only
    falls.
    """
    name = f"content costs at most {share.normalize():f} % of inference"
    thousand = inference_usd(priced(1000))
    if not thousand or not _depends_on_sessions(priced):
        why = "needs [usage.tokens]: what a session takes of models, and at which price"
        return BreakEven(name, "sessions", Outcome.DEPENDS_ON_USAGE, None, why)

    def within(sessions: int) -> bool:
        each = priced(sessions)
        return trail_usd(each) * 100 <= share * (inference_usd(each) or Decimal(0))

    return _sessions(name, _least(within), f"inference takes ${thousand.normalize():f} for a thousand sessions")


def trail_usd(priced: Estimate) -> Decimal:
    """Add up what is known of the trail in a month, in USD: the guard's records are no part of it."""
    return known_sum(line.monthly for line in priced.trail_lines) or Decimal(0)


def inference_usd(priced: Estimate) -> Decimal | None:
    """Add up what models take in a month, in USD; None where somebody has to state it."""
    amounts = [line.monthly for line in priced.scale if line.key.startswith(INFERENCE)]
    return None if None in amounts else known_sum(amounts)


def _priced(scenario: Scenario, prices: PriceBook, today: date, sizes: SessionSizes | None, sessions: int) -> Estimate:
    workload = replace(scenario.workload, sessions=Decimal(sessions))
    return estimate(replace(scenario, workload=workload), prices, today, sizes)


def _depends_on_sessions(priced: Callable[[int], Estimate]) -> bool:
    return trail_usd(priced(1)) < trail_usd(priced(MOST_SESSIONS))


def _has_unknown(priced: Estimate) -> bool:
    return any(line.monthly is None for line in priced.trail_lines)


def _least(holds: Callable[[int], bool]) -> int | None:
    """Return the least whole number of sessions for which something holds that holds ever after; None: for none."""
    if not holds(MOST_SESSIONS):
        return None
    low, high = 0, MOST_SESSIONS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _sessions(name: str, found: int | None, why: str) -> BreakEven:
    if found is None:
        return BreakEven(name, "sessions", Outcome.NEVER, None, f"not at {MOST_SESSIONS:,} sessions either; {why}")
    if found == 1:
        return BreakEven(name, "sessions", Outcome.ALWAYS, None, f"from the first session on; {why}")
    return BreakEven(name, "sessions", Outcome.AT, Decimal(found), why)
