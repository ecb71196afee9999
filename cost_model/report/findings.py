"""Work out everything that a report shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from cost_model.advice import Advice, advice
from cost_model.break_even import break_evens
from cost_model.diff import Difference
from cost_model.estimate import Estimate, estimate
from cost_model.prices import PriceBook
from cost_model.regimes import Comparison, compare_regimes
from cost_model.render.levers import Judged
from cost_model.report.growth import Growth, growth
from cost_model.report.steps import Step, article_scenario, guard_beside, measured, steps
from cost_model.scenario import Scenario
from cost_model.sensitivity import sensitivity
from cost_model.session_sizes import SessionSizes

BUDGET: Final = Decimal(100)
"""USD a month: the break-even that `sensitivity` solves for where nobody names another."""
SHARE: Final = Decimal(1)
"""Per cent of inference, likewise."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Hold what was found of one environment."""

    judged: Judged
    comparison: Comparison
    growth: Growth
    advice: tuple[Advice, ...]

    @property
    def estimate(self) -> Estimate:
        """Return the estimate of what is deployed."""
        return self.judged.estimate

    @property
    def name(self) -> str:
        """Name the environment."""
        return self.estimate.scenario.deployment.environment or ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Hold what a report shows.

    Attributes:
        difference: None where no base was named.
        guard: what the guard's records and the audit take of the article's sessions, at their measured sizes.
    """

    today: date
    subjects: tuple[Subject, ...]
    difference: Difference | None
    article: tuple[Step, ...]
    measured: tuple[Step, ...]
    guard: Decimal | None
    sizes: SessionSizes


def find(
    scenarios: Sequence[Scenario],
    prices: PriceBook,
    today: date,
    sizes: SessionSizes,
    difference: Difference | None = None,
) -> Findings:
    """Price each scenario every way that a report shows; MissingPriceError where a Region lacks a row."""
    return Findings(
        today=today,
        subjects=tuple(_subject(scenario, prices, today, sizes) for scenario in scenarios),
        difference=difference,
        article=steps(article_scenario(), prices, today, sizes),
        measured=steps(measured(article_scenario()), prices, today, sizes),
        guard=guard_beside(measured(article_scenario()), prices, today, sizes),
        sizes=sizes,
    )


def _subject(scenario: Scenario, prices: PriceBook, today: date, sizes: SessionSizes) -> Subject:
    found = estimate(scenario, prices, today, sizes)
    judged = Judged(
        found,
        sensitivity(scenario, prices, today, sizes),
        break_evens(scenario, prices, today, sizes, budget=BUDGET, share=SHARE),
    )
    return Subject(
        judged,
        comparison=compare_regimes(scenario, prices, today, sizes),
        growth=growth(scenario, prices, today, sizes),
        advice=advice(found),
    )
