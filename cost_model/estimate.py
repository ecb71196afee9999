"""Price one scenario: every meter that is switched on, and what was taken for granted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from cost_model.meters.alarms import ALARMS
from cost_model.meters.archive import ARCHIVE
from cost_model.meters.audit import AUDIT
from cost_model.meters.dashboards import DASHBOARDS
from cost_model.meters.event_ingestion import EVENT_INGESTION
from cost_model.meters.indexing import INDEXING
from cost_model.meters.keys import KEYS
from cost_model.meters.masking import MASKING
from cost_model.meters.meter import Line, Meter, price
from cost_model.meters.metrics import METRICS
from cost_model.meters.queries import QUERIES
from cost_model.meters.runtime import RUNTIME
from cost_model.meters.span_ingestion import SPAN_INGESTION
from cost_model.meters.split_ingestion import SPLIT_INGESTION
from cost_model.meters.stdout_ingestion import STDOUT_INGESTION
from cost_model.meters.storage import STORAGE
from cost_model.meters.table import TABLE
from cost_model.meters.tokens import TOKENS
from cost_model.meters.topic import TOPIC
from cost_model.meters.vended_logs import VENDED_LOGS
from cost_model.money import known_sum
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes, assume_sizes
from cost_model.token_prices import token_rows

TRAIL: Final[tuple[Meter, ...]] = (
    *(SPAN_INGESTION, *SPLIT_INGESTION, *EVENT_INGESTION, *STDOUT_INGESTION, *VENDED_LOGS),
    *(INDEXING, STORAGE, MASKING, QUERIES, *DASHBOARDS, METRICS, *ALARMS, *ARCHIVE),
)
"""What the trail costs: what goes in, what is kept of it, and whoever asks it."""

GUARD: Final[tuple[Meter, ...]] = (*AUDIT, *TABLE, TOPIC, *KEYS)
"""What the guard's records cost, the audit among them."""

METERS: Final[tuple[Meter, ...]] = (*TRAIL, *GUARD)
"""In the order in which lines are printed."""

SCALE: Final[tuple[Meter, ...]] = (*RUNTIME, *TOKENS)
"""What the agent costs that leaves the trail: shown beside it, and in no total of it."""

_TRAIL_KEYS: Final = frozenset(meter.key for meter in TRAIL)

CONVENTIONS: Final = (
    "a month is 30 days, a KB 1,024 bytes, a GB 2^30 bytes; volumes of other environments move no tier",
    "no account-wide free tier is taken off, of logs, metrics, alarms, dashboards, requests or keys",
    "what the stacks hold none of, such as alarms or dashboards, has no line",
    "totals add up unrounded amounts, so printed lines can differ from them by a cent",
)

NOT_PRICED: Final = (
    "queries, vended logs, metric series and output beside event lines, where they are not stated",
    "field indexes: no price of theirs is published",
    "Application Signals metrics: charged as custom ones by some accounts, bundled by others",
    "what retrieving a trace reads (StartTraceRetrieval), and the queries of AgentCore Evaluations",
    "copies of logs in a central account, and subscriptions to them",
    "restoring the table to any second, and its streams",
    "deliveries of an alert beyond its publishing; the secrets that the agent reads; image storage",
    "reads of the archive and the audit by people; the guard's documents too long for an item",
    "AgentCore Gateway and Memory, the knowledge base, and the network",
)
"""What a deployment may be charged for beside every meter: no price is known, or nothing tells how much."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Hold the priced lines of one scenario; amounts in USD, unrounded. `scale` is in no total."""

    scenario: Scenario
    lines: tuple[Line, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    scale: tuple[Line, ...] = ()

    @property
    def total(self) -> Decimal | None:
        """Add up the known lines of a month in steady state; None where no line is known."""
        return known_sum(line.monthly for line in self.lines)

    @property
    def trail_lines(self) -> tuple[Line, ...]:
        """Return the lines of the trail alone."""
        return tuple(line for line in self.lines if line.key in _TRAIL_KEYS)

    @property
    def guard_lines(self) -> tuple[Line, ...]:
        """Return the lines of the guard's records."""
        return tuple(line for line in self.lines if line.key not in _TRAIL_KEYS)

    @property
    def first_month(self) -> Decimal | None:
        """Add up the known lines of the month in which the stores fill; None where no line is known."""
        return known_sum(line.first_month for line in self.lines)

    @property
    def scale_total(self) -> Decimal | None:
        """Add up what is known of what the agent itself costs; None where nothing is."""
        return known_sum(line.monthly for line in self.scale)

    @property
    def unknown(self) -> tuple[Line, ...]:
        """Name the lines that depend on usage nobody stated: the totals lack them."""
        return tuple(line for line in self.lines if line.monthly is None)


def estimate(scenario: Scenario, prices: PriceBook, today: date, sizes: SessionSizes | None = None) -> Estimate:
    """Price a scenario; MissingPriceError where its Region lacks a row.

    `sizes` were measured and stand in for those that nobody stated; without them these stay unknown.
    """
    scenario = scenario if sizes is None else assume_sizes(scenario, sizes)
    region = scenario.deployment.region
    prices.require_region(region)
    stated = token_rows(scenario.workload.tokens, region, today)
    book = prices.own_first(PriceBook(stated)) if stated else prices
    priced, scale = (_priced(meters, scenario, book) for meters in (METERS, SCALE))
    lines = tuple(line for _, line in (*priced, *scale))
    assumed = (text for meter, _ in (*priced, *scale) for text in meter.assumes(scenario))
    notes = (line.row.age_note(today) for line in lines)
    return Estimate(
        scenario,
        tuple(line for _, line in priced),
        _once((*scenario.deployment.assumptions, *assumed, *CONVENTIONS)),
        _once(note for note in notes if note),
        tuple(line for _, line in scale),
    )


def _priced(meters: Iterable[Meter], scenario: Scenario, prices: PriceBook) -> tuple[tuple[Meter, Line], ...]:
    lines = ((meter, price(meter, scenario, prices)) for meter in meters)
    return tuple((meter, line) for meter, line in lines if line is not None)


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
