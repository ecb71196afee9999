"""Compare two sides: what each line, environment and ceiling says."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given

from agent_image.contract import Regime
from cost_model.ceilings import MAX_INCREASE, MAX_MONTHLY, Ceilings, breaches
from cost_model.diff import Change, Difference, Fact, Origin, difference, facts_of
from cost_model.estimate import Estimate
from cost_model.pieces import Pieces
from cost_model.prices import PriceBook
from cost_model.render.difference import breach_words, difference_sections, summary, unknown_words
from cost_model.render.plain import render_plain
from cost_model.scenario import Scenario
from tests.cost_model.golden import close, priced, under
from tests.cost_model.test_properties import priced as of
from tests.cost_model.test_properties import scenarios

ZERO = Decimal(0)


def named(estimate: Estimate, name: str) -> Estimate:
    """Call an estimate's environment by a name."""
    deployment = replace(estimate.scenario.deployment, environment=name)
    return replace(estimate, scenario=replace(estimate.scenario, deployment=deployment))


def side(
    article: Scenario, prices: PriceBook, regime: Regime = Regime.ADDRESS, name: str = "dev", **deployed: object
) -> Estimate:
    """Price one environment of one side."""
    return named(priced(article, prices, regime, **deployed), name)


def row(found: Difference, key: str) -> tuple[Change, Decimal | None, Decimal | None]:
    """Return a row's change, old and new amount."""
    one = next(each for each in found.rows if each.key == key)
    return one.change, one.old, one.new


def test_regime_content_to_archive_is_cheaper_by_the_difference_of_their_totals(
    article: Scenario, prices: PriceBook
) -> None:
    """239.40 becomes 62.90: lines that come are new, and each delta is that of its line."""
    found = difference([side(article, prices, Regime.CONTENT)], [side(article, prices, Regime.ARCHIVE)])

    assert close(found.total_old, "239.40")
    assert close(found.total_new, "62.90")
    assert close(found.delta, "-176.50")
    assert close(found.percent, "-73.73")
    assert row(found, "archive_requests")[:2] == (Change.ADDED, ZERO)
    change, old, new = row(found, "queries")
    assert change is Change.CHANGED
    assert close(old, "202.66")
    assert close(new, "47.68")
    assert "indexing" not in {each.key for each in found.rows}


def test_a_line_that_goes_costs_nothing_after(article: Scenario, prices: PriceBook) -> None:
    """Masking switched off saves what it cost: 2.29 a month in regime address."""
    found = difference([side(article, prices, masking=True)], [side(article, prices, masking=False)])
    (only,) = found.rows

    assert (only.key, only.change, only.new) == ("masking", Change.REMOVED, ZERO)
    assert close(only.delta, "-2.29")
    assert only.percent == -100


def test_environments_appear_and_vanish(article: Scenario, prices: PriceBook) -> None:
    """Each of their lines is new or gone, and the report names them."""
    found = difference([side(article, prices, name="old")], [side(article, prices, name="new")])
    shown = render_plain(difference_sections(found, Ceilings(), ()))

    assert (found.appeared, found.vanished) == (("new",), ("old",))
    assert {each.change for each in found.rows if each.environment == "new"} == {Change.ADDED}
    assert {each.change for each in found.rows if each.environment == "old"} == {Change.REMOVED}
    assert found.delta == 0
    assert "new appears" in shown
    assert "old vanishes" in shown


def test_a_line_that_depends_on_usage_on_one_side_has_no_difference(article: Scenario, prices: PriceBook) -> None:
    """Unknown becoming known is no rise: the row is shown, and counts neither in the delta nor against a ceiling."""
    silent = under(article, kb_per_session={})
    found = difference([side(silent, prices)], [side(article, prices)])
    one = next(each for each in found.rows if each.key == "span_ingestion")

    assert (one.old, one.delta, one.percent) == (None, None, None)
    assert close(one.new, "6.68")
    assert found.delta == 0
    assert "Span ingestion" in {each.label for each in found.unknown}
    assert breaches(found, Ceilings(max_increase=ZERO)) == ()
    assert "depends on usage: Span ingestion (dev)" in unknown_words(found)


def test_a_line_that_becomes_unknown_weighs_nothing_in_the_per_cent(article: Scenario, prices: PriceBook) -> None:
    """Only what is known on both sides is compared: writes that nobody states any more are in no base."""
    stated = {"table_reads_per_session": ZERO, "table_kb_per_session": ZERO}
    before = under(article, table_writes_per_session=Decimal(216), **stated)
    after = under(article, table_writes_per_session=None, **stated)
    table = Pieces(table=True)
    found = difference([side(before, prices, pieces=table)], [side(after, prices, pieces=table, masking=True)])

    assert close(found.compared, "60.87")
    assert close(found.delta, "2.29")


def test_a_line_that_comes_and_costs_nothing_is_no_difference(article: Scenario, prices: PriceBook) -> None:
    """Masking switched on over no sessions at all moves nothing."""
    idle = under(article, sessions=ZERO)

    assert difference([side(idle, prices, masking=False)], [side(idle, prices, masking=True)]).rows == ()


def test_a_line_that_comes_and_depends_on_usage_is_shown(article: Scenario, prices: PriceBook) -> None:
    """Masking switched on over unknown bytes is a row without an amount, not a silence."""
    silent = under(article, kb_per_session={})
    found = difference([side(silent, prices, masking=False)], [side(silent, prices, masking=True)])

    assert row(found, "masking") == (Change.ADDED, ZERO, None)


def test_usage_is_told_apart_from_what_is_deployed(article: Scenario, prices: PriceBook) -> None:
    """Twice the sessions explain their part of a rise; masking explains the rest."""
    doubled = under(article, sessions=Decimal(2_000_000))
    found = difference(
        [side(article, prices, masking=False)],
        [side(doubled, prices, masking=True)],
        [side(article, prices, masking=True)],
    )

    assert close(found.delta - found.usage, "2.29")  # masking under the old sessions
    assert close(found.usage, "63.16")  # 60.87 and that masking, once more
    assert "is usage" in render_plain(difference_sections(found, Ceilings(), ()))


def test_facts_say_what_differs_in_words(article: Scenario, prices: PriceBook) -> None:
    """A regime, a query class and a size are named as their files have them."""
    workload = article.workload
    query = replace((workload.queries or ())[0], runs_per_month=Decimal(30))
    sizes = {**workload.kb_per_session, Regime.CONTENT: Decimal(60)}
    head = under(article, queries=(query,), kb_per_session=sizes)
    head = replace(head, deployment=replace(head.deployment, regime=Regime.ARCHIVE))
    facts = tuple(facts_of("dev", article, head))
    found = difference([side(article, prices)], [side(article, prices)], facts=facts)
    shown = render_plain(difference_sections(found, Ceilings(), ()))

    assert Fact("dev", Origin.DEPLOYED, "regime", None, Regime.ARCHIVE) in facts
    assert "dev: regime: not stated -> archive" in shown
    assert "dev: kb_per_session.content: 85 -> 60" in shown
    assert "dev: queries: full scan (changed)" in shown


def test_a_ceiling_names_the_lines_that_broke_it(article: Scenario, prices: PriceBook) -> None:
    """The worst first: content raises what queries scan most of all."""
    found = difference([side(article, prices, Regime.ADDRESS)], [side(article, prices, Regime.CONTENT)])
    monthly, increase = breaches(found, Ceilings(Decimal(200), Decimal(10)))

    assert monthly.ceiling is MAX_MONTHLY
    assert close(monthly.found, "239.40")
    assert increase.ceiling is MAX_INCREASE
    assert close(increase.found, "293.29")
    assert [each.label for each in increase.lines] == ["Logs Insights queries", "Span ingestion", "Log storage"]
    assert breach_words(increase).startswith("--max-increase 10: the cost rises by +293.3 %; what grew: dev: Logs Ins")


@pytest.mark.parametrize(("limit", "broken"), [("239.41", False), ("239.39", True)])
def test_a_ceiling_is_held_to_the_unrounded_total(
    article: Scenario, prices: PriceBook, limit: str, *, broken: bool
) -> None:
    """A bill that already stood above its ceiling breaks it, and is named by what it is made of."""
    same = side(article, prices, Regime.CONTENT)
    found = breaches(difference([same], [same]), Ceilings(max_monthly=Decimal(limit)))

    assert bool(found) == broken
    assert not broken or "it did not grow; what it is made of: dev: Logs Insights queries 202.66" in breach_words(
        found[0]
    )


def test_a_bill_that_fell_is_not_over_its_ceiling_by_what_grew(article: Scenario, prices: PriceBook) -> None:
    """Archive is cheaper than content although its own lines are new: the dearest line is named, not the new ones."""
    found = difference([side(article, prices, Regime.CONTENT)], [side(article, prices, Regime.ARCHIVE)])
    (broken,) = breaches(found, Ceilings(max_monthly=Decimal(20)))

    assert not broken.grew
    assert broken.lines[0].label == "Logs Insights queries"


def test_any_rise_from_nothing_breaks_a_ceiling_on_increase(article: Scenario, prices: PriceBook) -> None:
    """Nothing has no per cent; a first environment is an increase from nothing."""
    found = breaches(difference([], [side(article, prices)]), Ceilings(max_increase=Decimal(1000)))

    assert [each.found for each in found] == [None]
    assert "the cost rises from nothing; what grew: dev: Logs Insights queries" in breach_words(found[0])


@given(scenarios)
def test_a_side_against_itself_is_empty(scenario: Scenario) -> None:
    """Whatever is priced, it does not differ from itself, and the report says so."""
    same = of(scenario)
    found = difference([same], [same], facts=tuple(facts_of("", scenario, scenario)))

    assert not found.rows
    assert not found.facts
    assert not found.assumed
    assert found.delta == 0
    assert summary(found).startswith("No difference in monthly cost")
    assert breaches(found, Ceilings(max_increase=ZERO)) == ()


@given(scenarios, scenarios)
def test_the_deltas_add_up_to_that_of_the_totals(before: Scenario, after: Scenario) -> None:
    """Where all lines are known on both sides, nothing of the difference is lost between them."""
    old, new = of(before), of(after)
    found = difference([old], [new])
    if not old.unknown and not new.unknown:
        # Decimal keeps 28 digits: sums in another order may differ in the last of them.
        slack = max(old.total or ZERO, new.total or ZERO, Decimal(1)) * Decimal("1e-24")
        assert abs(found.delta - (new.total or ZERO) + (old.total or ZERO)) <= slack
        assert abs(found.compared - (old.total or ZERO)) <= slack


@given(scenarios, scenarios)
def test_turned_around_each_delta_changes_its_sign(before: Scenario, after: Scenario) -> None:
    """What one direction adds, the other takes away."""
    forth, back = difference([of(before)], [of(after)]), difference([of(after)], [of(before)])

    assert {each.key: each.delta for each in forth.rows} == {
        each.key: None if each.delta is None else -each.delta for each in back.rows
    }
