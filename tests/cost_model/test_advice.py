"""Give advice where an estimate gives reason to, and only there."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from agent_image.contract import Regime
from cost_model.advice import RULES, Advice, advice, comparison_advice
from cost_model.deployment import LogClass
from cost_model.pieces import Pieces
from cost_model.prices import PriceBook
from cost_model.query_classes import Dashboard, QueryClass
from cost_model.regimes import compare_regimes
from cost_model.scenario import Scenario
from tests.cost_model.conftest import TODAY
from tests.cost_model.golden import priced, under
from tests.cost_model.test_properties import priced as of
from tests.cost_model.test_properties import scenarios

D = Decimal
OPENED = QueryClass("open one session", D(470), D(30), indexed=True)


def given_of(
    scenario: Scenario, prices: PriceBook, regime: Regime = Regime.ADDRESS, **deployed: Any
) -> dict[str, Advice]:
    """Return the advice on a scenario by its code."""
    return {each.code: each for each in advice(priced(scenario, prices, regime, **deployed))}


@pytest.mark.parametrize(("sessions", "fires"), [(49_999, True), (50_000, False)])
def test_below_50_000_sessions_attention_is_the_cost(
    article: Scenario, prices: PriceBook, sessions: int, *, fires: bool
) -> None:
    """The sentence says how little the trail costs; from 50,000 on it is not said."""
    found = given_of(under(article, sessions=D(sessions)), prices)

    assert ("few-sessions" in found) == fires
    assert not fires or "the trail costs little (3.04 USD)" in found["few-sessions"].text
    assert not fires or found["few-sessions"].threshold == "fewer than 50,000 sessions a month"


def test_a_dashboard_on_log_queries_is_called_the_dearest_line(article: Scenario, prices: PriceBook) -> None:
    """One hourly widget over 30 days costs 68.66 in regime address, more than 500 queries."""
    board = Dashboard("overview", D(1), D(60), D(30), D(720))
    found = given_of(under(article, dashboards=(board,)), prices)

    assert "dearest line (68.66 USD a month)" in found["dashboard-on-queries"].text
    assert "dashboard-on-queries" not in given_of(article, prices)


@pytest.mark.parametrize(("runs", "indexed", "fires"), [(720, False, True), (719, False, False), (720, True, False)])
def test_a_class_that_runs_as_often_as_a_dashboard_is_one(
    article: Scenario, prices: PriceBook, runs: int, *, indexed: bool, fires: bool
) -> None:
    """Hourly or more, unindexed, and the dearest of the dearest line."""
    refresh = QueryClass("refresh", D(runs), D(30), indexed=indexed)

    assert ("dashboard-on-queries" in given_of(under(article, queries=(refresh,)), prices)) == fires


@pytest.mark.parametrize(("days", "fires"), [(30, False), (31, True), (None, True)])
def test_retention_over_30_days_loses_the_index(
    article: Scenario, prices: PriceBook, days: int | None, *, fires: bool
) -> None:
    """Entries of an index live 30 days; for ever is longer."""
    kept = None if days is None else D(days)

    assert ("retention-over-index" in given_of(article, prices, retention_days=kept)) == fires


def test_unindexed_classes_say_what_an_index_would_save(article: Scenario, prices: PriceBook) -> None:
    """500 full scans of content cost 202.66, and 20.27 at the assumed skip ratio."""
    scans = under(article, queries=(replace((article.workload.queries or ())[0], skip_ratio=None),))
    text = given_of(scans, prices, Regime.CONTENT)["unindexed-queries"].text

    assert "'full scan' 202.66 USD, 20.27 indexed" in text
    assert "unindexed-queries" not in given_of(under(article, queries=(OPENED,)), prices)
    assert "unindexed-queries" not in given_of(article, prices, log_class=LogClass.INFREQUENT_ACCESS)


def test_infrequent_access_loses_its_index(article: Scenario, prices: PriceBook) -> None:
    """Half the price of event lines, and no filterIndex."""
    found = given_of(article, prices, log_class=LogClass.INFREQUENT_ACCESS)

    assert "no filterIndex" in found["infrequent-access"].text
    assert "infrequent-access" not in given_of(article, prices)


def test_content_stands_against_archive(article: Scenario, prices: PriceBook) -> None:
    """By what a session leaves, where both are stated."""
    sized = given_of(article, prices, Regime.CONTENT)["content-or-archive"].text
    alone = given_of(under(article, kb_per_session={Regime.CONTENT: D(85)}), prices, Regime.CONTENT)

    assert "content leaves 85 KB of spans a session, address and archive 20" in sized
    assert "archive keeps each passage once" in alone["content-or-archive"].text
    assert "content-or-archive" not in given_of(article, prices, Regime.ARCHIVE)


def test_masking_is_named_where_it_is_a_tenth_of_the_bill(article: Scenario, prices: PriceBook) -> None:
    """3.6 % beside the article's scans; more than a tenth once queries go through the index."""
    indexed = under(article, queries=(OPENED,))

    assert "masking-share" not in given_of(article, prices, masking=True)
    found = given_of(indexed, prices, masking=True, indexing_percentage=D(1))
    assert "masking is 1" in found["masking-share"].text
    assert "masking-share" not in given_of(indexed, prices, indexing_percentage=D(1))


def test_the_one_of_indexing_and_size_that_moves_the_bill_is_named(article: Scenario, prices: PriceBook) -> None:
    """Size while queries scan; indexing, once they do not and all spans are indexed."""
    tiny = under(article, queries=(), kb_per_session={Regime.ADDRESS: D(2)})

    assert given_of(article, prices)["index-or-size"].text.startswith("span size moves this trail, not indexing")
    assert given_of(tiny, prices)["index-or-size"].text.startswith("indexing moves this trail, not span size")


def test_what_is_written_beside_spans_is_not_called_span_size(article: Scenario, prices: PriceBook) -> None:
    """A KB of spans beside 300 of other output: no smaller span makes that trail cheaper."""
    loud = under(article, kb_per_session={Regime.ADDRESS: D(1)}, stdout_kb_per_session=D(300))
    found = given_of(loud, prices)["index-or-size"].text

    assert found.startswith("what is written beside spans moves this trail, not indexing")


def test_guard_s_records_that_cost_more_than_the_trail_are_named(article: Scenario, prices: PriceBook) -> None:
    """216 writes a session are 135 USD for a million sessions: no regime makes that less."""
    guarded = under(article, table_writes_per_session=D(216), table_reads_per_session=D(0), table_kb_per_session=D(0))
    found = given_of(guarded, prices, pieces=Pieces(table=True))

    assert "135.00 USD against 60.87, most of it Guard record writes (135.00)" in found["guard-over-trail"].text
    assert "guard-over-trail" not in given_of(guarded, prices, Regime.CONTENT, pieces=Pieces(table=True))
    assert "guard-over-trail" not in given_of(article, prices)


def test_a_comparison_is_advised_by_its_dearest_regime(article: Scenario, prices: PriceBook) -> None:
    """And says what content costs beside archive."""
    found = {each.code: each.text for each in comparison_advice(compare_regimes(article, prices, TODAY))}

    assert found["content-or-archive"] == "content costs 239.40 USD where archive costs 62.90"
    assert "of 239.40" in found["index-or-size"]


def test_a_comparison_with_an_archive_that_depends_on_usage_says_so(article: Scenario, prices: PriceBook) -> None:
    """What nobody stated of the archive is not nothing: its amount is the least that it costs."""
    unstated = under(article, distinct_passages=None)
    found = {each.code: each.text for each in comparison_advice(compare_regimes(unstated, prices, TODAY))}

    assert found["content-or-archive"].startswith("content costs 239.40 USD where archive costs at least 6")


def test_every_rule_has_a_code_of_its_own_and_a_source() -> None:
    """So that a tool can tell them apart, and a person can look them up."""
    codes = [rule.code for rule in RULES]

    assert len(codes) == len(set(codes))
    assert all(rule.source and rule.threshold for rule in RULES)


@given(scenarios)
def test_advice_never_fails_whatever_is_unknown(scenario: Scenario) -> None:
    """A missing line silences a rule; no sentence holds a placeholder or a None."""
    for each in advice(of(scenario)):
        assert "None" not in each.text
        assert "{" not in each.threshold
