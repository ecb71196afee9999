"""Lay out what was found of one environment."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from cost_model.estimate import Estimate
from cost_model.render.document import Remarks, Row, Table
from cost_model.render.figures import UNKNOWN, joined, percentage, plain, quantity, unit_price
from cost_model.render.levers import sensitivity_sections
from cost_model.render.report import comparison_sections, estimate_sections
from cost_model.report.amounts import known, without
from cost_model.report.charted import chart_of, chart_of_bars
from cost_model.report.charts import (
    GUARD_LABEL,
    first_month_words,
    guard_words,
    lever_bars,
    meter_bars,
    money,
    regime_bars,
    total_words,
    trail_words,
)
from cost_model.report.drawing import Labelled
from cost_model.report.findings import Subject
from cost_model.report.growth import Growth
from cost_model.report.growth_lines import draw_growth
from cost_model.report.layout import Card, Chapter, Tile
from cost_model.sensitivity import movers

_LEVERS: Final = 12
"""Inputs that the chart shows."""
_THOUSAND: Final = Decimal(1_000)


def subject_chapter(subject: Subject, name: str) -> Chapter:
    """Lay out what an environment costs: by regime, by meter, what moves it, how it grows."""
    estimate = subject.estimate
    return Chapter(
        name=name,
        title=subject.name or "The stated usage",
        said=_deployed_words(subject),
        tiles=tuple(_tiles(estimate)),
        cards=(
            *_advice(subject, name),
            _regimes(subject, name),
            _meters(subject, name),
            *_levers(subject, name),
            _growth(subject, name),
            *_scale(subject, name),
        ),
    )


def _deployed_words(subject: Subject) -> str:
    deployment, workload = subject.estimate.scenario.deployment, subject.estimate.scenario.workload
    indexed, kept = deployment.indexing_percentage, deployment.retention_days
    return joined(
        (
            deployment.region,
            f"regime {deployment.regime}" if deployment.regime else "regime unknown",
            "sessions unknown" if workload.sessions is None else f"{quantity(workload.sessions)} sessions a month",
            "indexing unknown" if indexed is None else f"{plain(indexed.normalize())} % of spans indexed",
            "kept for ever" if kept is None else f"kept {plain(kept)} days",
            "masked" if deployment.masking else "not masked",
        )
    )


def _tiles(estimate: Estimate) -> Iterator[Tile]:
    unknown = len(estimate.unknown)
    lacking = f"{unknown} line{' depends' if unknown == 1 else 's depend'} on usage" if unknown else ""
    yield Tile("a month", total_words(estimate), lacking)
    if estimate.guard_lines:
        yield Tile("of it the trail", trail_words(estimate), f"{GUARD_LABEL} {guard_words(estimate)}")
    yield Tile("the first month", first_month_words(estimate), "stores begin empty")
    known = [line for line in estimate.lines if line.monthly]
    if known and estimate.total:
        dearest = max(known, key=lambda line: line.monthly or 0)
        amount = dearest.monthly or Decimal(0)
        yield Tile("the dearest line", dearest.label, f"{money(amount)}, {percentage(amount, estimate.total)}")
    sessions = estimate.scenario.workload.sessions
    if sessions and estimate.total is not None:
        each = money(estimate.total / sessions * _THOUSAND)
        yield Tile("a thousand sessions", f"at least {each}" if unknown else each)


def _advice(subject: Subject, name: str) -> Iterator[Card]:
    if subject.advice:
        rows = tuple(Row((each.text, each.threshold, each.source)) for each in subject.advice)
        table = Table(("Advice", "Given where", "Threshold from"), rows, frozenset({0, 1, 2}))
        yield Card(f"{name}-advice-card", "What it gives reason to do", table=table)


def _regimes(subject: Subject, name: str) -> Card:
    coloured = regime_bars(f"{name}-regimes", subject.comparison)
    section = next(iter(comparison_sections(subject.comparison)))
    trail = (line for each in subject.comparison.estimates.values() for line in each.trail_lines)
    lines = dict.fromkeys(line.label for line in trail if line.monthly is None)
    return Card(
        name=f"{name}-regimes-card",
        title="By capture regime",
        said="The same usage under each regime: what a retrieval span holds of the passages decides what is stored.",
        chart=chart_of_bars(coloured.bars, coloured.legend, (*_alone(subject.estimate), *without(lines))),
        table=section.table,
    )


def _alone(estimate: Estimate) -> Iterator[str]:
    if estimate.guard_lines:
        regime = estimate.scenario.deployment.regime
        where = f" in {regime}" if regime else ""
        yield f"The trail alone: {GUARD_LABEL} come on top, {guard_words(estimate)} a month{where} as stated."


def _meters(subject: Subject, name: str) -> Card:
    estimate = subject.estimate
    regime = estimate.scenario.deployment.regime
    coloured = meter_bars(f"{name}-meters", estimate)
    section = next(iter(estimate_sections([estimate])))
    unknown = tuple(f"{line.label}: {UNKNOWN}: {unit_price(line.row)}" for line in estimate.unknown)
    return Card(
        name=f"{name}-meters-card",
        title=f"By meter, in {regime}" if regime else "By meter",
        chart=chart_of_bars(coloured.bars, coloured.legend),
        table=section.table,
        open=True,
        remarks=(
            Remarks("Not in the total", unknown),
            Remarks("Assumptions", estimate.assumptions),
            Remarks("Notes", estimate.notes),
        ),
    )


def _levers(subject: Subject, name: str) -> Iterator[Card]:
    moving = movers(subject.judged.levers)
    shown = moving[:_LEVERS]
    if not shown:
        return
    (section,) = sensitivity_sections([subject.judged])
    more = f"The {len(shown)} inputs that move it most, of {len(moving)}; the others stand in the table."
    said = (
        f"Each input alone is moved, and the month priced again. The line stands at {money(shown[0].base)}, as it is."
    )
    captions = (more,) if len(moving) > len(shown) else ()
    yield Card(
        name=f"{name}-sensitivity-card",
        title="What moves it",
        said=said,
        chart=chart_of_bars(lever_bars(f"{name}-sensitivity", shown), captions=captions),
        table=section.table,
        remarks=section.said,
    )


def _scale(subject: Subject, name: str) -> Iterator[Card]:
    """Show what the agent itself costs, where something is known of it."""
    estimate = subject.estimate
    if estimate.scale_total is not None:
        _, section, *_ = estimate_sections([estimate])
        said = "What the agent costs beside its trail. It is in no total, no chart and no other table of this page."
        yield Card(f"{name}-scale-card", "For scale", said, table=section.table)


def _growth(subject: Subject, name: str) -> Card:
    found, here = subject.growth, subject.estimate.scenario.workload.sessions
    totals = "; ".join(
        f"{regime} from {known(amounts[0])} to {known(amounts[-1])}" for regime, amounts in found.totals.items()
    )
    first, last = quantity(found.sessions[0]), quantity(found.sessions[-1])
    label = Labelled(
        f"{name}-growth",
        "Cost by sessions a month, both axes in powers of ten",
        f"A line a regime, from {first} to {last} sessions, in USD a month: {totals}.",
    )
    captions = (
        *_alone(subject.estimate),
        "Everything but the sessions stays as it is stated: queries a month, distinct passages, retention.",
        *without(found.lacking),
    )
    return Card(
        name=f"{name}-growth-card",
        title=f"From {first} to {last} sessions",
        chart=chart_of(label, lambda one, width: draw_growth(one, found, width, here), captions=captions),
        table=_growth_table(found),
    )


def _growth_table(found: Growth) -> Table:
    rows = [
        Row((quantity(sessions), *(known(amounts[position]) for amounts in found.totals.values())))
        for position, sessions in enumerate(found.sessions)
        if (sessions.log10() % 1) == 0
    ]
    return Table(("Sessions a month", *(regime.value for regime in found.totals)), tuple(rows))
