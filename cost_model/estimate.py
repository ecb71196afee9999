"""Price one scenario: every meter that is switched on, and what was taken for granted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from cost_model.meters.archive import ARCHIVE
from cost_model.meters.event_ingestion import EVENT_INGESTION
from cost_model.meters.indexing import INDEXING
from cost_model.meters.masking import MASKING
from cost_model.meters.meter import Line, Meter, price
from cost_model.meters.queries import QUERIES
from cost_model.meters.span_ingestion import SPAN_INGESTION
from cost_model.meters.storage import STORAGE
from cost_model.money import known_sum
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes, assume_sizes

METERS: Final[tuple[Meter, ...]] = (SPAN_INGESTION, *EVENT_INGESTION, INDEXING, STORAGE, MASKING, QUERIES, *ARCHIVE)
"""In the order in which lines are printed."""

CONVENTIONS: Final = (
    "a month is 30 days, a KB 1,024 bytes, a GB 2^30 bytes; no account-wide free tier is taken off",
    "totals add up unrounded amounts, so printed lines can differ from them by a cent",
)

NOT_PRICED: Final = (
    "AgentCore Runtime and model tokens",
    "logs beside spans and event lines: notices on standard error, vended logs",
    "metrics and alarms",
    "the guard's items in the table, their index of what waits, and point-in-time recovery",
    "audit objects, and the guard's documents too long for an item",
    "image storage",
    "KMS keys and requests",
    "the alerts topic, and the secrets that the agent reads",
    "queries beside the stated classes",
)
"""What a deployment is charged for beside every meter."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Hold the priced lines of one scenario; amounts in USD, unrounded."""

    scenario: Scenario
    lines: tuple[Line, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def total(self) -> Decimal | None:
        """Add up the known lines of a month in steady state; None where no line is known."""
        return known_sum(line.monthly for line in self.lines)

    @property
    def first_month(self) -> Decimal | None:
        """Add up the known lines of the month in which the stores fill; None where no line is known."""
        return known_sum(line.first_month for line in self.lines)

    @property
    def unknown(self) -> tuple[Line, ...]:
        """Name the lines that depend on usage nobody stated: the totals lack them."""
        return tuple(line for line in self.lines if line.monthly is None)


def estimate(scenario: Scenario, prices: PriceBook, today: date, sizes: SessionSizes | None = None) -> Estimate:
    """Price a scenario; MissingPriceError where its Region lacks a row.

    `sizes` were measured and stand in for those that nobody stated; without them these stay unknown.
    """
    scenario = scenario if sizes is None else assume_sizes(scenario, sizes)
    prices.require_region(scenario.deployment.region)
    priced = [(meter, price(meter, scenario, prices)) for meter in METERS]
    lines = tuple(line for _, line in priced if line is not None)
    assumed = (text for meter, line in priced if line is not None for text in meter.assumes(scenario))
    notes = (line.row.age_note(today) for line in lines)
    return Estimate(
        scenario,
        lines,
        _once((*scenario.deployment.assumptions, *assumed, *CONVENTIONS)),
        _once(note for note in notes if note),
    )


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
