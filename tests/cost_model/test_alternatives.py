"""Price the same workload elsewhere."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import Regime
from cost_model.alternative_rows import load_offers
from cost_model.alternatives import Alternative, Answer, alternatives
from cost_model.errors import PriceRowError
from cost_model.estimate import estimate
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.workload import Workload
from tests.cost_model.conftest import TODAY

ROW = """
[[rows]]
product = "One"
plan = "Basic"
unit = "trace"
counts = ["sessions"]
retention = "14 days"
lacks = "much"
as_of = 2026-06-01
source = "its page"
confidence = "high"
[[rows.prices]]
base = "10"
tiers = [{ usd = "0.001" }]
"""


def found(workload: Workload, product: str, plan: str, regime: Regime = Regime.CONTENT) -> Alternative:
    """Price a workload under one plan."""
    return next(
        each for each in alternatives(workload, TODAY, regime=regime) if (each.product, each.plan) == (product, plan)
    )


@pytest.mark.parametrize(
    ("product", "plan", "units", "low", "high"),
    [
        ("Langfuse Cloud", "Core", "9000000", "661", "661"),
        ("Langfuse Cloud", "Pro", "9000000", "831", "831"),
        ("LangSmith Plus", "base traces", "1000000", "534", "2514"),
        ("LangSmith Plus", "extended traces", "1000000", "4989", "4989"),
        ("Datadog LLM Observability", "15 days", "3000000", "1175", "1690"),
        ("Datadog LLM Observability", "30 days", "3000000", "1625", "2140"),
        ("Honeycomb", "Free", "8000000", "0", "0"),
        ("Honeycomb", "Pro", "8000000", "150", "150"),
    ],
)
def test_a_million_sessions_cost_what_the_table_says(
    article: Scenario, product: str, plan: str, units: str, low: str, high: str
) -> None:
    """Section 10 of the facts on prices: a million sessions of eight spans, three of them model calls."""
    one = found(article.workload, product, plan)

    assert one.answer is Answer.PRICED
    assert (one.units, one.usd_low, one.usd_high) == (Decimal(units), Decimal(low), Decimal(high))


@pytest.mark.parametrize(
    ("product", "plan", "regime", "usd"),
    [
        ("Arize AX", "Pro", Regime.ADDRESS, "6437.22"),
        ("Arize AX", "Pro", Regime.CONTENT, "6623.19"),
        ("Datadog APM", "indexed spans", Regime.METADATA, "14.52"),
        ("Datadog APM", "indexed spans", Regime.CONTENT, "21.71"),
    ],
)
def test_where_gb_are_charged_the_regime_counts(
    article: Scenario, product: str, plan: str, regime: Regime, usd: str
) -> None:
    """6,410 and the GB beyond ten at 3; 13.60 and each GB at 0.10."""
    amount = found(article.workload, product, plan, regime).usd_low

    assert amount is not None
    assert round(amount, 2) == Decimal(usd)


@pytest.mark.parametrize(("product", "plan"), [("Langfuse", "self-hosted (MIT)"), ("Phoenix", "self-hosted (ELv2)")])
def test_what_runs_on_own_servers_has_no_amount(article: Scenario, product: str, plan: str) -> None:
    """A licence that is free is not a bill of nothing."""
    one = found(article.workload, product, plan)

    assert (one.answer, one.usd_low, one.usd_high) == (Answer.OWN_INFRASTRUCTURE, None, None)


def test_a_plan_has_no_price_beyond_its_limit(article: Scenario) -> None:
    """Twenty million events a month are free; one more cannot be had there."""
    just = replace(article.workload, sessions=Decimal(2_500_000))
    over = replace(article.workload, sessions=Decimal(2_500_001))

    assert found(just, "Honeycomb", "Free").answer is Answer.PRICED
    assert found(over, "Honeycomb", "Free").answer is Answer.OVER_THE_LIMIT
    assert found(over, "Honeycomb", "Free").usd_low is None


def test_what_nobody_stated_is_unknown() -> None:
    """Without sessions nothing is priced; without spans only what counts sessions and model calls is."""
    nothing = {each.answer for each in alternatives(Workload(), TODAY)}
    some = {each.plan for each in alternatives(Workload(sessions=Decimal(1000)), TODAY) if each.usd_low is not None}

    assert nothing == {Answer.DEPENDS_ON_USAGE, Answer.OWN_INFRASTRUCTURE}
    assert some == {"base traces", "extended traces", "15 days", "30 days"}


def test_every_row_says_where_it_comes_from(article: Scenario) -> None:
    """Unit, source, date, confidence, retention and what the plan does not do."""
    for each in alternatives(article.workload, TODAY):
        assert all((each.unit, each.source, each.retention, each.lacks))
        assert each.confidence in {"high", "medium", "low"}
        assert each.as_of <= TODAY


def test_old_prices_are_noted(article: Scenario) -> None:
    """Half a year after a row was seen it says so."""
    notes = [each.note for each in alternatives(article.workload, date(2027, 1, 31)) if each.note]

    assert any("Langfuse Cloud, Core: the price is of 2026-06-09, 236 days ago" in note for note in notes)
    assert not any("Honeycomb" in note for note in notes)


def test_no_estimate_holds_another_vendor_s_price(article: Scenario, prices: PriceBook) -> None:
    """The price book has no such row, so no total can."""
    products = {offer.product for offer in load_offers()}

    assert not products & {row.name for row in prices.rows}
    assert not products & {line.label for line in estimate(article, prices, TODAY).lines}


@given(st.integers(0, 10**10), st.integers(1, 10**10))
def test_more_sessions_never_cost_less_anywhere(few: int, more: int) -> None:
    """Graduated tiers: each plan that has a price for the more has one for the fewer, and it is no higher."""
    workload = Workload(spans_per_session=Decimal(8), kb_per_session={Regime.CONTENT: Decimal(85)})
    small = alternatives(replace(workload, sessions=Decimal(few)), TODAY)
    large = alternatives(replace(workload, sessions=Decimal(few + more)), TODAY)

    for less, most in zip(small, large, strict=True):
        if most.usd_low is not None and most.usd_high is not None:
            assert less.usd_low is not None
            assert less.usd_high is not None
            assert less.usd_low <= most.usd_low <= most.usd_high
            assert less.usd_high <= most.usd_high


def test_the_latest_row_of_a_plan_holds(tmp_path: Path) -> None:
    """A price that moved is a later row; the earlier one stays in the file."""
    path = tmp_path / "rows.toml"
    later = ROW.replace("2026-06-01", "2026-09-01").replace('"10"', '"12"')
    path.write_text(later + ROW, encoding="utf-8")
    (offer,) = load_offers(path)

    assert offer.prices[0].base == 12


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('source = "its page"', "", "source: missing"),
        ("as_of = 2026-06-01", 'as_of = "June"', 'as_of: "June" is not allowed'),
        ('"high"', '"sure"', 'confidence: "sure"; allowed: high, medium, low'),
        ('["sessions"]', '["users"]', "counts: ['users']; allowed: a list of sessions, spans, model_calls"),
        ('["sessions"]', "[[1]]", "counts: [[1]]; allowed"),
        ('base = "10"', "base = 10", "prices[0]: base: needs a decimal string"),
        ('usd = "0.001"', 'usd = "-1"', "prices[0]: tiers: usd"),
        ('base = "10"', 'base = "10"\ngb_tiers = []', "prices[0]: gb_tiers: missing"),
        ('base = "10"', 'base = "10"\nseats = 3', "prices[0]: seats: unknown key"),
        ('lacks = "much"', 'lacks = "much"\nprice = 3', "price: unknown key"),
    ],
)
def test_a_row_that_lacks_something_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    """Each fault names the file, the row and what is allowed."""
    path = tmp_path / "rows.toml"
    path.write_text(ROW.replace(old, new), encoding="utf-8")
    with pytest.raises(PriceRowError) as refused:
        load_offers(path)

    assert any(line.startswith(f"rows.toml: rows[0]: {fault}") for line in refused.value.lines), refused.value.lines
