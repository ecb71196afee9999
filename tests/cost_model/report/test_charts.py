"""A chart shows the model's own figures, and tells what it cannot show."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest

from agent_image.contract import Regime
from cost_model.diff import difference
from cost_model.estimate import estimate
from cost_model.prices import load_prices
from cost_model.regimes import compare_regimes
from cost_model.report.bars import Bar, Bars, Piece, draw_bars
from cost_model.report.charts import difference_bars, lever_bars, meter_bars, money, regime_bars, step_bars
from cost_model.report.drawing import Labelled, short
from cost_model.report.growth import SESSIONS, growth
from cost_model.report.growth_lines import draw_growth
from cost_model.report.paint import Paint, as_property
from cost_model.report.steps import article_scenario, guard_beside, measured, steps
from cost_model.scenario import Scenario
from cost_model.sensitivity import movers, sensitivity
from cost_model.session_sizes import load_session_sizes
from tests.cost_model.conftest import TODAY
from tests.cost_model.report.reports import article, unknown, written
from tests.parsed_page import Parsed

PRICES, SIZES = load_prices(), load_session_sizes()
LABEL = Labelled("name", "a title", "some words")


def width(bar: Bar) -> Decimal:
    return sum((piece.end - piece.start for piece in bar.pieces), Decimal(0))


def test_stacked_bars_add_up_to_the_totals_of_the_regimes() -> None:
    """Piece after piece without a gap, and a colour is one line in every bar."""
    comparison = compare_regimes(article(), PRICES, TODAY, SIZES)
    stacked = regime_bars("name", comparison)
    totals = [each.total for each in comparison.estimates.values()]

    assert [width(bar) for bar in stacked.bars.bars] == totals
    assert all(one.end == other.start for bar in stacked.bars.bars for one, other in pairwise(bar.pieces))
    labels = {legend.paint: legend.label for legend in stacked.legend}
    pieces = [piece for bar in stacked.bars.bars for piece in bar.pieces]
    assert len(labels) == len(stacked.legend)
    assert all(f", {labels[piece.paint]}: $" in piece.tip for piece in pieces)


def test_meters_stand_in_order_and_free_ones_together() -> None:
    """The dearest first; what costs nothing has no bar, and says $0.00."""
    found = estimate(article(), PRICES, TODAY, SIZES)
    bars = meter_bars("name", found).bars.bars
    widths = [width(bar) for bar in bars if bar.pieces]

    assert widths == sorted((line.monthly for line in found.lines if line.monthly), reverse=True)
    assert bars[0].figure == "$47.68 \u00b7 75.8 %"
    assert (bars[-1].label, bars[-1].figure) == ("Event line ingestion", "$0.00")


def guarded(regime: Regime) -> Scenario:
    found = article(regime)
    pieces = replace(found.deployment.pieces, table=True, audit=True)
    return replace(found, deployment=replace(found.deployment, pieces=pieces))


def test_the_guard_is_told_from_the_trail() -> None:
    """Its lines have a colour of their own; regimes and growth show the trail, which it would drown."""
    comparison = compare_regimes(guarded(Regime.ARCHIVE), PRICES, TODAY, SIZES)
    coloured = meter_bars("name", comparison.estimates[Regime.ARCHIVE])
    paints = {bar.label: bar.pieces[0].paint for bar in coloured.bars.bars if bar.pieces}
    grown = growth(guarded(Regime.ARCHIVE), PRICES, TODAY, SIZES, [Decimal(1_000_000)])

    assert {legend.label: legend.paint for legend in coloured.legend} == {
        "the trail": paints["Span ingestion"],
        "the guard's records": paints["Guard record writes"],
    }
    assert paints["Span ingestion"] is not paints["Guard record writes"]
    assert [bar.figure for bar in regime_bars("name", comparison).bars.bars] == [
        "$32.31",
        "$60.87",
        "$62.90",
        "$239.40",
    ]
    assert [money(totals[0] or Decimal(0)) for totals in grown.totals.values()][-1] == "$239.40"
    assert (comparison.estimates[Regime.CONTENT].total or 0) > Decimal("239.40")


def test_what_depends_on_usage_has_words_and_no_bar() -> None:
    """Also where another line of the same estimate is known."""
    found = estimate(unknown(), PRICES, TODAY, SIZES)
    bars = {bar.label: bar for bar in meter_bars("name", found).bars.bars}

    assert found.unknown
    for line in found.unknown:
        assert (bars[line.label].figure, bars[line.label].pieces) == ("depends on usage", ())


def test_a_lever_reaches_from_its_least_to_its_greatest_total() -> None:
    """Around the total as it is, which a line marks."""
    levers = movers(sensitivity(article(), PRICES, TODAY, SIZES))
    chart = lever_bars("name", levers)
    ends = [{end for piece in bar.pieces for end in (piece.start, piece.end)} for bar in chart.bars]

    assert chart.line == levers[0].base
    assert [max(one) - min(one) for one in ends] == [lever.swing for lever in levers]
    assert "sessions, 500,000 to 2,000,000 sessions/month" in {bar.label for bar in chart.bars}
    assert "masking, off or on" in {bar.label for bar in chart.bars}


def test_a_difference_goes_right_where_it_costs_more() -> None:
    """And its colour says so, too; what is not known has no bar."""
    base, head = (estimate(article(regime), PRICES, TODAY, SIZES) for regime in (Regime.CONTENT, Regime.ARCHIVE))
    found = difference([base], [head])
    bars = {bar.label: bar for bar in difference_bars("name", found).bars}

    assert width(bars["Span ingestion"]) < 0
    assert {bars["Span ingestion"].pieces[0].paint, bars["Archive PUT requests"].pieces[0].paint} == {
        Paint.LESS,
        Paint.MORE,
    }
    assert sum((width(bar) for bar in bars.values()), Decimal(0)) == found.delta


def test_growth_prices_each_number_of_sessions_under_each_regime() -> None:
    """From ten thousand to a hundred million, as the model would one by one; linear meters grow alike."""
    found = growth(article(), PRICES, TODAY, SIZES)
    million = found.sessions.index(Decimal(1_000_000))

    assert (found.sessions[0], found.sessions[-1]) == (Decimal(10**4), Decimal(10**8))
    assert list(found.sessions) == sorted(SESSIONS)
    assert found.totals.keys() == set(Regime)
    assert [money(totals[million] or Decimal(0)) for totals in found.totals.values()] == [
        *("$32.31", "$60.87", "$62.90", "$239.40"),
    ]
    assert all(
        low < high for totals in found.totals.values() for low, high in pairwise(map(Decimal, filter(None, totals)))
    )


def test_growth_names_what_it_lacks_and_draws_nothing_of_nothing() -> None:
    """Without a known total there is no chart."""
    workload = replace(article().workload, queries=None)
    lacking = growth(Scenario(article().deployment, workload), PRICES, TODAY, SIZES)
    nothing = growth(unknown(), PRICES, TODAY, SIZES, [Decimal(0)])

    assert lacking.lacking == ("Logs Insights queries",)
    assert draw_growth(LABEL, replace(nothing, totals={Regime.CONTENT: (None,)}), 300, None) is None


@pytest.mark.parametrize("sizes", ["article", "measured"])
def test_each_step_begins_where_the_one_before_it_ended(sizes: str) -> None:
    """From the article's content to archive, in the model's own figures."""
    scenario = article_scenario() if sizes == "article" else measured(article_scenario())
    found = steps(scenario, PRICES, TODAY, SIZES)
    bars = step_bars("name", found).bars

    assert all(one.pieces[-1].end == other.pieces[0].start for one, other in pairwise(bars[:-1]) if other.pieces)
    assert bars[-1].pieces[0].end == found[-1].total
    for before, after in pairwise(found):
        assert after.total == (before.total or 0) + (after.change or 0)


def test_archive_costs_less_than_twenty_dollars_where_the_article_pays_239_for_content() -> None:
    """On its span sizes, with masking and the archive: addresses, indexed look-ups and free indexing do it."""
    found = steps(article_scenario(), PRICES, TODAY, SIZES)

    assert money(found[0].total or Decimal(0)) == "$239.40"
    assert (found[-1].total or Decimal(20)) < 20
    assert [money(step.total or Decimal(0)) for step in found[1:]] == ["$60.87", "$20.53", "$14.59", "$16.88", "$18.90"]


def test_the_guard_stands_beside_the_measured_steps() -> None:
    """It is no part of a trail, and no regime changes it."""
    scenario = measured(article_scenario())
    costs = {
        guard_beside(replace(scenario, deployment=replace(scenario.deployment, regime=regime)), PRICES, TODAY, SIZES)
        for regime in Regime
    }

    assert len(costs) == 1
    assert (costs.pop() or 0) > 0
    assert guard_beside(article_scenario(), PRICES, TODAY) is None


def test_a_drawing_says_what_it_shows() -> None:
    """Title and description first; each piece says its own; a long label is cut to its room."""
    bars = (Bar("a label " * 40, "$1.00", (Piece(Decimal(0), Decimal(1), Paint.FIRST, "one & <only>"),)),)
    found = Parsed(str(draw_bars(Bars(LABEL, "USD", bars), 340)))

    assert [tag for tag, _ in found.elements[:3]] == ["svg", "title", "desc"]
    assert "a title" in found.all_text
    assert "one & <only>" in found.all_text
    assert max(len(text) for text in found.text) < 60
    assert not [attrs for _, attrs in found.elements if "style" in attrs or "font-family" in attrs]


@pytest.mark.parametrize("amount", ["0", "1e-9", "1", "1e20", "-1e20"])
def test_a_bar_of_any_size_is_drawn(amount: str) -> None:
    """Next to nothing, and more money than there is; nothing has no bar."""
    bars = (Bar("x", amount, (Piece(Decimal(0), Decimal(amount), Paint.FIRST, "tip"),)),)
    found = Parsed(str(draw_bars(Bars(LABEL, "USD", bars), 340)))
    marks = [attrs for _, attrs in found.elements if attrs.get("class") == "mark"]

    assert len(marks) == (1 if Decimal(amount) else 0)
    assert not [path for path in found.values("d") if "nan" in path.lower() or "inf" in path.lower()]


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.5, "0.5"), (999, "999"), (10_000, "10k"), (2_500_000, "2.5M"), (1e9, "1G"), (3e14, "300T"), (-20_000, "-20k")],
)
def test_numbers_of_an_axis_are_short(value: float, written: str) -> None:
    """So that those of a large bill do not run into each other."""
    assert short(value) == written


def test_every_paint_is_a_property_of_the_page() -> None:
    """No colour of a chart is fixed: light, dark and paper each have their own."""
    assert {as_property(paint.placeholder) for paint in Paint} == {f"var(--{paint.value})" for paint in Paint}
    assert as_property("none") == "none"


def test_charts_of_environments_of_one_name_share_none() -> None:
    """Each of their ids stands once on the page."""
    ids = Parsed(written(article(), article())).values("id")

    assert max(Counter(ids).values()) == 1


@pytest.mark.parametrize(
    ("amount", "shown"),
    [("0", "$0.00"), ("0.001", "<$0.01"), ("-0.001", "-<$0.01"), ("-1234.567", "-$1,234.57"), ("0.005", "$0.01")],
)
def test_an_amount_has_its_sign_before_its_currency(amount: str, shown: str) -> None:
    """What is not nothing is not shown as nothing."""
    assert money(Decimal(amount)) == shown
