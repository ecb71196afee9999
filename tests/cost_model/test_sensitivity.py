"""Find what moves a bill, and where one cost overtakes another."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings

from agent_image.contract import Regime
from cost_model.break_even import BreakEven, Outcome, break_evens
from cost_model.deployment import LogClass
from cost_model.estimate import estimate
from cost_model.inputs import RETENTIONS
from cost_model.prices import PriceBook
from cost_model.query_classes import Dashboard
from cost_model.scenario import Scenario
from cost_model.sensitivity import Lever, movers, sensitivity
from cost_model.workload import Tokens, Workload
from tests.cost_model.conftest import TODAY
from tests.cost_model.golden import close, under
from tests.cost_model.test_properties import PRICES, scenarios

D = Decimal
INPUT_UNKNOWN = Tokens(output_per_session=D(1), input_usd=D(1), output_usd=D(1))


def at(scenario: Scenario, regime: Regime, **deployed: Any) -> Scenario:
    """Put a scenario under a regime."""
    return replace(scenario, deployment=replace(scenario.deployment, regime=regime, **deployed))


def lever(levers: tuple[Lever, ...], name: str) -> Lever:
    """Return the lever of a name."""
    return next(each for each in levers if each.name == name)


def solved(
    scenario: Scenario, prices: PriceBook, budget: str = "100", share: str = "1"
) -> tuple[BreakEven, BreakEven, BreakEven]:
    """Solve all three break-evens."""
    scanning, trail, content = break_evens(scenario, prices, TODAY, budget=D(budget), share=D(share))
    return scanning, trail, content


@pytest.mark.parametrize(
    ("regime", "name", "low", "high"),
    [
        (Regime.METADATA, "price of span ingestion", "32.31", "33.68"),
        (Regime.ADDRESS, "price of span ingestion", "60.87", "63.73"),
        (Regime.CONTENT, "price of span ingestion", "239.40", "251.56"),
        (Regime.METADATA, "masking", "32.31", "33.41"),
        (Regime.ADDRESS, "masking", "60.87", "63.16"),
        (Regime.CONTENT, "masking", "239.40", "249.13"),
        (Regime.CONTENT, "split telemetry", "239.40", "250.19"),
        (Regime.METADATA, "share of spans indexed", "26.37", "32.31"),
        (Regime.ADDRESS, "share of spans indexed", "54.93", "60.87"),
    ],
)
def test_levers_move_the_article_s_bill_as_published(
    article: Scenario, prices: PriceBook, regime: Regime, name: str, low: str, high: str
) -> None:
    """Spans at 0.50, masking, split telemetry and indexing: sections 3, 5 and 6 of the facts on prices."""
    found = lever(sensitivity(at(article, regime), prices, TODAY), name)

    assert close(found.total_low, low)
    assert close(found.total_high, high)


def test_the_skip_ratio_has_its_three_points(article: Scenario, prices: PriceBook) -> None:
    """Were the article's scans of content indexed: 239.40 at 0, 57.01 at 0.9, 36.74 at 1, where the scan is free."""
    found = lever(sensitivity(at(article, Regime.CONTENT), prices, TODAY), "skip ratio of 'full scan', were it indexed")

    assert [point.value for point in found.points] == [D(0), D("0.9"), D(1)]
    assert [round(point.total, 2) for point in found.points] == [D("239.40"), D("57.01"), D("36.74")]
    assert found.value == 0


def test_levers_are_ordered_by_their_swing(article: Scenario, prices: PriceBook) -> None:
    """The input that moves the bill most comes first; what moves nothing is no mover."""
    levers = sensitivity(at(article, Regime.CONTENT), prices, TODAY)
    swings = [each.swing for each in levers]

    assert swings == sorted(swings, reverse=True)
    assert [each.name for each in levers[:3]] == ["sessions", "span bytes", "runs of 'full scan'"]
    assert "passage kb" not in {each.name for each in movers(levers)}


def test_dashboards_and_event_lines_are_levers_too(article: Scenario, prices: PriceBook) -> None:
    """A widget that refreshes half as often scans half as much."""
    board = Dashboard("overview", D(1), D(60), D(30), D(720))
    scenario = under(article, dashboards=(board,), event_kb_per_session={Regime.ADDRESS: D(6)})
    levers = sensitivity(at(scenario, Regime.ADDRESS), prices, TODAY)
    refresh = lever(levers, "refresh of dashboard 'overview'")

    assert refresh.total_high < refresh.base < refresh.total_low
    assert lever(levers, "event line bytes").swing > 0


def test_what_nobody_stated_is_no_lever(article: Scenario, prices: PriceBook) -> None:
    """Unknown inputs have no values to try, and a scenario without a known line has no lever at all."""
    silent = under(article, spans_per_session=None, queries=None)
    levers = sensitivity(at(silent, Regime.ADDRESS), prices, TODAY)
    nothing = Scenario(replace(article.deployment, indexing_percentage=None), Workload())

    assert not {"spans per session"} & {each.name for each in levers}
    assert not any("full scan" in each.name for each in levers)
    assert sensitivity(nothing, prices, TODAY) == ()


def test_a_class_without_an_index_has_no_skip_ratio_to_try(article: Scenario, prices: PriceBook) -> None:
    """INFREQUENT_ACCESS has no field index."""
    scenario = at(article, Regime.ADDRESS, log_class=LogClass.INFREQUENT_ACCESS)

    assert not any("skip ratio" in each.name for each in sensitivity(scenario, prices, TODAY))


def test_retention_takes_values_that_cloudwatch_has(article: Scenario, prices: PriceBook) -> None:
    """Half of 30 days is 14, and twice the longest is the longest."""
    half = lever(sensitivity(at(article, Regime.ADDRESS), prices, TODAY), "retention")
    longest = lever(sensitivity(at(article, Regime.ADDRESS, retention_days=D(3653)), prices, TODAY), "retention")

    assert [half.low, half.high] == [D(14), D(60)]
    assert longest.high == RETENTIONS[-1]


@settings(max_examples=100)
@given(scenarios)
def test_more_never_costs_less(scenario: Scenario) -> None:
    """Along each lever the total only rises; a skip ratio and a longer refresh only save. A split goes either way."""
    for each in sensitivity(scenario, PRICES, TODAY):
        if each.name == "split telemetry":  # in a group of class INFREQUENT_ACCESS logs cost less than spans
            continue
        totals = [point.total for point in each.points]
        saves = each.name.startswith(("skip ratio", "refresh"))
        assert totals == sorted(totals, reverse=saves), each.name
        assert each.swing >= 0


@pytest.mark.parametrize("regime", list(Regime))
def test_scanning_passes_ingestion_at_70_full_scans(article: Scenario, prices: PriceBook, regime: Regime) -> None:
    """A scan of a month costs a seventieth of bringing it in, in every regime: 0.35 / 0.005."""
    scanning, _, _ = solved(at(article, regime), prices)

    assert (scanning.outcome, scanning.at, scanning.unit) == (Outcome.AT, D(70), "queries")


def test_at_the_break_even_both_cost_the_same(article: Scenario, prices: PriceBook) -> None:
    """Put back in, the answer makes scanning cost exactly what ingestion does."""
    scenario = at(article, Regime.CONTENT)
    query = (article.workload.queries or ())[0]
    runs = solved(scenario, prices)[0].at
    assert runs is not None
    priced = estimate(under(scenario, queries=(replace(query, runs_per_month=runs),)), prices, TODAY)
    lines = {line.key: line.monthly for line in priced.lines}

    assert lines["queries"] == lines["span_ingestion"]


def test_the_trail_passes_a_budget_at_one_session_exactly(article: Scenario, prices: PriceBook) -> None:
    """One session fewer stays within it."""
    scenario = at(article, Regime.CONTENT)
    found = solved(scenario, prices, budget="100")[1].at
    assert found is not None

    def total(sessions: Decimal) -> Decimal:
        return estimate(under(scenario, sessions=sessions), prices, TODAY).total or D(0)

    assert found == D(417_712)
    assert total(found - 1) <= 100 < total(found)


def test_content_is_within_8_per_cent_of_input_at_a_quarter_dollar(article: Scenario, prices: PriceBook) -> None:
    """239.40 of 3,000 is 7.98 %, at any traffic within the first tier: always within 8, and within 7.9 no sooner."""
    tokens = Tokens(None, D(12_000), D(0), D("0.25"), D(0))
    scenario = under(at(article, Regime.METADATA), tokens=tokens)

    assert solved(scenario, prices, share="8")[2].outcome is Outcome.ALWAYS
    tiered = solved(scenario, prices, share="7.9")[2]
    assert tiered.outcome is Outcome.AT
    assert tiered.at is not None
    assert tiered.at > 126_000_000  # the first tier of span ingestion ends there
    assert solved(scenario, prices, share="0.5")[2].outcome is Outcome.NEVER


@pytest.mark.parametrize(
    ("stated", "position"),
    [({"queries": None}, 0), ({"kb_per_session": {}}, 0), ({"tokens": None}, 2), ({"tokens": INPUT_UNKNOWN}, 2)],
)
def test_a_break_even_without_its_inputs_depends_on_usage(
    article: Scenario, prices: PriceBook, stated: dict[str, object], position: int
) -> None:
    """It says which are missing, and never 0."""
    found = solved(under(at(article, Regime.CONTENT), **stated), prices)[position]

    assert (found.outcome, found.at) == (Outcome.DEPENDS_ON_USAGE, None)
    assert found.why.startswith("needs ")


def test_queries_that_scan_nothing_never_pass_ingestion(article: Scenario, prices: PriceBook) -> None:
    """At a skip ratio of 1, or without any query."""
    free = replace((article.workload.queries or ())[0], skip_ratio=D(1))

    for queries in ((free,), ()):
        scenario = under(at(article, Regime.CONTENT), queries=queries)
        assert solved(scenario, prices)[0].outcome is Outcome.NEVER
