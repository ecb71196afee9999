"""Lay out what was found as the chapters of a page."""

from __future__ import annotations

from decimal import Decimal

from cost_model.ceilings import Ceilings
from cost_model.diff import Difference
from cost_model.estimate import NOT_PRICED
from cost_model.prices import PriceRow
from cost_model.render.difference import difference_sections
from cost_model.render.document import Remarks, Row, Table
from cost_model.render.figures import EVERY_TIER, joined, percentage, unit_price
from cost_model.report.amounts import known, moved
from cost_model.report.charted import chart_of_bars
from cost_model.report.charts import difference_bars, step_bars
from cost_model.report.findings import Findings
from cost_model.report.layout import Card, Chapter, Report
from cost_model.report.steps import Step
from cost_model.report.subject_chapter import subject_chapter


def report(found: Findings) -> Report:
    """Lay out the whole page."""
    names = [subject.name for subject in found.subjects if subject.name]
    chapters = [subject_chapter(subject, f"part-{number}") for number, subject in enumerate(found.subjects, start=1)]
    if found.difference is not None:
        chapters.insert(0, _difference(found.difference))
    chapters += [_why(found), _rests_on(found)]
    return Report(
        title=f"What {joined(names) or 'the trail'} costs a month",
        subtitle=f"Priced on {found.today} by rastro cost report; amounts in US dollars, before taxes and discounts.",
        chapters=tuple(chapters),
        footer=f"rastro cost report, {found.today}: an estimate from dated price rows and stated usage, not a bill.",
    )


def _difference(difference: Difference) -> Chapter:
    section = next(difference_sections(difference, Ceilings(), ()))
    chart = chart_of_bars(difference_bars("diff", difference)) if difference.rows else None
    card = Card("diff-card", "By line", "", chart, section.table, open=True, remarks=section.said)
    return Chapter("changes", "What changes", section.title, cards=(card,))


def _why(found: Findings) -> Chapter:
    said = (
        "A million sessions a month under the assumptions of cost_model/examples/article.toml. "
        "Each step is priced by this model, and changes one thing."
    )
    sizes = found.sizes
    measured = (
        f"The same steps with what one session of the agent image left when it was measured on {sizes.measured}: "
        f"{sizes.session}. It leaves more spans than the article counts, and event lines beside them."
    )
    guard = (
        "the guard's records in the table and its audit, which the article does not have: "
        f"{known(found.guard)} a month at their measured sizes, the same in every regime"
    )
    cards = (
        _steps("article-steps", "With the article's sizes of a session", "", found.article),
        _steps("measured-steps", "With the measured sizes of the agent image", measured, found.measured, (guard,)),
    )
    return Chapter("why", "Why a trail need not cost much", said, cards=cards)


def _steps(name: str, title: str, said: str, steps: tuple[Step, ...], beside: tuple[str, ...] = ()) -> Card:
    rows = [Row((step.label, moved(step.change), known(step.total))) for step in steps]
    return Card(
        name=f"{name}-card",
        title=title,
        said=said,
        chart=chart_of_bars(step_bars(name, steps)),
        table=Table(("Step", "Change", "USD a month"), tuple(rows)),
        remarks=(Remarks("Not in it", beside),),
    )


def _rests_on(found: Findings) -> Chapter:
    estimates = [each for subject in found.subjects for each in subject.comparison.estimates.values()]
    rows = dict.fromkeys(line.row for each in estimates for line in (*each.lines, *each.scale))
    table = Table(
        ("Price", "Unit price", "Seen on", "Region", "Usage type", "Source"),
        tuple(Row(_price_cells(row)) for row in rows),
        frozenset({0, 1, 2, 3, 4, 5}),
    )
    cards = (
        Card("prices-card", "Prices, each with the day it was last seen and where", table=table),
        Card(
            "not-priced-card",
            "What is not priced",
            "The bill may hold these as well.",
            remarks=(Remarks("", NOT_PRICED),),
        ),
    )
    return Chapter("rests-on", "What this rests on", cards=cards)


def _price_cells(row: PriceRow) -> tuple[str, ...]:
    free = f", {percentage(row.free_share, Decimal(1))} free" if row.free_share else ""
    price = f"{unit_price(row, EVERY_TIER)}{free}"
    return (row.name, price, row.as_of.isoformat(), row.region, f"{row.service_code} {row.usage_type}", row.source)
