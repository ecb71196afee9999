"""Go from the article's `content` to `archive`, one change at a time, each priced by the model itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from agent_image.contract import Regime
from cost_model.estimate import estimate
from cost_model.prices import PriceBook
from cost_model.query_classes import QueryClass
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes
from cost_model.sources import Overrides, regimes_scenario

ARTICLE: Final = Path(__file__).parent.parent / "examples" / "article.toml"
OPENED: Final = Decimal(470)
"""Of 500 queries, those that open one session: an index finds it."""
SEARCHED: Final = Decimal(30)
SKIPPED: Final = Decimal("0.9")
"""What an indexed look-up is taken to skip of its window."""
FREE_INDEXING: Final = Decimal(1)
"""Per cent of spans that X-Ray indexes free of charge."""

Change: TypeAlias = Callable[[Scenario], Scenario]


@dataclass(frozen=True, slots=True)
class Step:
    """Hold one change, what a month costs after it, and by how much it moved; USD, None where that is not known."""

    label: str
    total: Decimal | None
    change: Decimal | None


def article_scenario() -> Scenario:
    """Read the article's assumptions."""
    return regimes_scenario(ARTICLE, Overrides())


def measured(scenario: Scenario) -> Scenario:
    """Forget what the scenario says of a session's size, so that what was measured of the agent image is taken."""
    nothing = MappingProxyType[Regime, Decimal]({})
    workload = replace(scenario.workload, spans_per_session=None, kb_per_session=nothing, event_kb_per_session=nothing)
    return Scenario(scenario.deployment, workload)


def steps(scenario: Scenario, prices: PriceBook, today: date, sizes: SessionSizes | None = None) -> tuple[Step, ...]:
    """Price the scenario in `content`, then after each change on the way to `archive`."""
    found: list[Step] = []
    for label, change in CHANGES:
        scenario = change(scenario)
        total = estimate(scenario, prices, today, sizes).total
        before = found[-1].total if found else None
        found.append(Step(label, total, None if total is None or before is None else total - before))
    return tuple(found)


def guard_beside(
    scenario: Scenario, prices: PriceBook, today: date, sizes: SessionSizes | None = None
) -> Decimal | None:
    """Price what the guard's records and the audit add to the scenario; None where that is not known.

    Where no regime is stated it is that of the last step.
    """
    bare = replace(scenario.deployment, regime=scenario.deployment.regime or Regime.ARCHIVE)
    guarded = replace(bare, pieces=replace(bare.pieces, table=True, audit=True))
    found = [estimate(Scenario(each, scenario.workload), prices, today, sizes) for each in (bare, guarded)]
    before, after = (each.total for each in found)
    return None if before is None or after is None or found[1].unknown else after - before


def _regime(regime: Regime) -> Change:
    return lambda scenario: Scenario(replace(scenario.deployment, regime=regime), scenario.workload)


def _indexed_queries(scenario: Scenario) -> Scenario:
    classes = (
        QueryClass("open one session", OPENED, Decimal(30), indexed=True, skip_ratio=SKIPPED),
        QueryClass("search the whole trail", SEARCHED, Decimal(30), indexed=False, skip_ratio=Decimal(0)),
    )
    return Scenario(scenario.deployment, replace(scenario.workload, queries=classes))


def _free_indexing(scenario: Scenario) -> Scenario:
    return Scenario(replace(scenario.deployment, indexing_percentage=FREE_INDEXING), scenario.workload)


def _masked(scenario: Scenario) -> Scenario:
    return Scenario(replace(scenario.deployment, masking=True), scenario.workload)


CHANGES: Final[tuple[tuple[str, Change], ...]] = (
    ("content: passages, question and answer in spans; 500 full scans", _regime(Regime.CONTENT)),
    ("addresses in place of passages", _regime(Regime.ADDRESS)),
    ("470 of 500 queries open a session through the index", _indexed_queries),
    ("1 % of spans indexed, which is free", _free_indexing),
    ("masking added, which the article deploys and leaves out", _masked),
    ("archive added: each passage stored once", _regime(Regime.ARCHIVE)),
)
"""Each change, and what it is called; the first states where the way begins."""
