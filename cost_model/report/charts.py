"""Turn results into charts: which bars, in which colours, with which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from cost_model.diff import Difference, Row
from cost_model.estimate import Estimate
from cost_model.meters.meter import Line
from cost_model.money import known_sum
from cost_model.regimes import Comparison
from cost_model.render.figures import UNKNOWN, percentage
from cost_model.render.figures import money as plain_money
from cost_model.report.bars import Bar, Bars, Piece
from cost_model.report.drawing import Labelled
from cost_model.report.paint import SERIES, Paint
from cost_model.report.steps import Step
from cost_model.sensitivity import Lever

MONTH: Final = "USD a month"
_ZERO: Final = Decimal(0)
_SWITCH: Final = "off or on"
"""Unit of an input that is a switch."""
_OTHERS: Final = "all other lines of the trail"
GUARD_LABEL: Final = "the guard's records"
*_OF_LINES, _GUARD = SERIES
_APART: Final = " \N{MIDDLE DOT} "


@dataclass(frozen=True, slots=True)
class Legend:
    """Say what a colour stands for."""

    paint: Paint
    label: str


@dataclass(frozen=True, slots=True)
class Coloured:
    """Hold bars and what their colours stand for."""

    bars: Bars
    legend: tuple[Legend, ...]


def money(amount: Decimal) -> str:
    """Show an amount with its sign before the currency's."""
    text = plain_money(abs(amount))
    sign = "-" if amount < 0 else ""
    return f"{sign}<${text[1:]}" if text.startswith("<") else f"{sign}${text}"


def regime_bars(name: str, comparison: Comparison) -> Coloured:
    """Stack the trail's lines of each regime: the dearest in colours of their own, the others in one."""
    estimates = comparison.estimates
    most: dict[str, Decimal] = {}
    labels: dict[str, str] = {}
    for line in (line for each in estimates.values() for line in each.trail_lines if line.monthly):
        labels[line.key] = line.label
        most[line.key] = max(most.get(line.key, _ZERO), line.monthly or _ZERO)
    dearest = sorted(most, key=lambda key: most[key], reverse=True)[: len(_OF_LINES)]
    paints = dict(zip(dearest, _OF_LINES, strict=False))
    bars = tuple(
        Bar(regime.value, trail_words(each), tuple(_stacked(each, paints)), bold=True)
        for regime, each in estimates.items()
    )
    words = "; ".join(f"{regime} {trail_words(each)}" for regime, each in estimates.items())
    label = Labelled(name, f"Cost of each capture regime, {MONTH}", f"A bar a regime, stacked by meter: {words}.")
    used = {piece.paint for bar in bars for piece in bar.pieces}
    named = [*((paint, labels[key]) for key, paint in paints.items()), (Paint.REST, _OTHERS)]
    return Coloured(Bars(label, MONTH, bars), tuple(Legend(paint, said) for paint, said in named if paint in used))


def _stacked(estimate: Estimate, paints: Mapping[str, Paint]) -> Iterator[Piece]:
    """Put the trail's lines end to end in the order of their colours, then those without one."""
    trail = {line.key: line for line in estimate.trail_lines if line.monthly}
    rest = [line for key, line in trail.items() if key not in paints]
    groups = [
        *((paint, trail[key].label, [trail[key]]) for key, paint in paints.items() if key in trail),
        (Paint.REST, _OTHERS, rest),
    ]
    below = _ZERO
    for paint, said, lines in groups:
        amount = sum((line.monthly or _ZERO for line in lines), _ZERO)
        if amount:
            tip = f"{estimate.scenario.deployment.regime}, {said}: {money(amount)}"
            yield Piece(below, below + amount, paint, tip)
            below += amount


def meter_bars(name: str, estimate: Estimate) -> Coloured:
    """Rank the lines that cost something; those that depend on usage have words in place of a bar."""
    known = sorted((line for line in estimate.lines if line.monthly is not None), key=_monthly, reverse=True)
    free = [line for line in known if not line.monthly]
    guard = {line.key for line in estimate.guard_lines}
    bars = [
        _meter_bar(line, estimate.total, _GUARD if line.key in guard else Paint.FIRST) for line in known if line.monthly
    ]
    if free:
        bars.append(Bar(", ".join(line.label for line in free), money(_ZERO)))
    bars += [Bar(line.label, UNKNOWN) for line in estimate.unknown]
    words = "; ".join(f"{bar.label} {bar.figure}" for bar in bars)
    label = Labelled(name, f"Cost of each meter, {MONTH}", f"A bar a meter, the dearest first: {words}.")
    legend = (Legend(Paint.FIRST, "the trail"), Legend(_GUARD, GUARD_LABEL)) if guard else ()
    return Coloured(Bars(label, MONTH, tuple(bars)), legend)


def _meter_bar(line: Line, total: Decimal | None, paint: Paint) -> Bar:
    amount = line.monthly or _ZERO
    share = "" if total is None else percentage(amount, total)
    tip = f"{line.label}: {money(amount)}{f', {share} of the total' if share else ''}"
    return Bar(
        line.label,
        f"{money(amount)}{_APART}{share}" if share else money(amount),
        (Piece(_ZERO, amount, paint, tip),),
    )


def _monthly(line: Line) -> Decimal:
    return line.monthly or _ZERO


def total_words(estimate: Estimate) -> str:
    """Show a month's total, and say so where it lacks what depends on usage."""
    return _lines_words([line.monthly for line in estimate.lines])


def first_month_words(estimate: Estimate) -> str:
    """Show the first month's total likewise."""
    return _lines_words([line.first_month for line in estimate.lines])


def trail_words(estimate: Estimate) -> str:
    """Show what the trail alone costs a month."""
    return _lines_words([line.monthly for line in estimate.trail_lines])


def guard_words(estimate: Estimate) -> str:
    """Show what the guard's records cost a month."""
    return _lines_words([line.monthly for line in estimate.guard_lines])


def _lines_words(amounts: Sequence[Decimal | None]) -> str:
    total = known_sum(amounts)
    if total is None:
        return UNKNOWN
    return f"at least {money(total)}" if None in amounts else money(total)


def step_bars(name: str, found: Sequence[Step]) -> Bars:
    """Let each change begin where the one before it ended; the first and the last stand on the ground."""
    bars = [_step_bar(before, step) for before, step in pairwise([None, *found])]
    last = found[-1]
    if last.total is not None:
        piece = Piece(_ZERO, last.total, Paint.FIRST, f"archive: {money(last.total)}")
        bars.append(Bar("archive, all of it", money(last.total), (piece,), bold=True))
    words = "; ".join(f"{bar.label} {bar.figure}" for bar in bars)
    label = Labelled(name, f"From the article's content to archive, {MONTH}", f"A bar a change: {words}.")
    return Bars(label, MONTH, tuple(bars))


def _step_bar(before: Step | None, step: Step | None) -> Bar:
    label = "" if step is None else step.label
    if step is None or step.total is None:
        return Bar(label, UNKNOWN)
    if before is None or before.total is None or step.change is None:
        piece = Piece(_ZERO, step.total, Paint.FIRST, f"{label}: {money(step.total)}")
        return Bar(label, money(step.total), (piece,), bold=True)
    paint = Paint.LESS if step.change < 0 else Paint.MORE
    piece = Piece(before.total, step.total, paint, f"{label}: {signed(step.change)}, to {money(step.total)}")
    return Bar(label, signed(step.change), (piece,))


def difference_bars(name: str, difference: Difference) -> Bars:
    """Show by how much each line moves, the most first."""
    known = [row for row in difference.rows if row.delta is not None]
    rows = [
        *sorted(known, key=lambda row: abs(row.delta or _ZERO), reverse=True),
        *(row for row in difference.rows if row.delta is None),
    ]
    alone = len({each.environment for each in (*difference.old, *difference.new)}) == 1
    bars = tuple(_difference_bar(row, "" if alone else f"{row.environment}: ") for row in rows)
    words = "; ".join(f"{bar.label} {bar.figure}" for bar in bars)
    label = Labelled(name, f"What changes, {MONTH}", f"A bar a line, to the right where it costs more: {words}.")
    return Bars(label, MONTH, bars, line=_ZERO)


def _difference_bar(row: Row, before: str) -> Bar:
    label = f"{before}{row.label}"
    if row.delta is None:
        return Bar(label, UNKNOWN)
    paint = Paint.LESS if row.delta < 0 else Paint.MORE
    was = f"{money(row.old or _ZERO)} before, {money(row.new or _ZERO)} after"
    piece = Piece(_ZERO, row.delta, paint, f"{label}: {signed(row.delta)}; {was}")
    return Bar(label, signed(row.delta), (piece,) if row.delta else ())


def signed(amount: Decimal) -> str:
    """Show a difference with its sign."""
    return f"+{money(amount)}" if amount > 0 else money(amount)


def lever_bars(name: str, levers: Sequence[Lever]) -> Bars:
    """Show how far each input moves the total, from what it is now to the least and to the most."""
    base = levers[0].base
    bars = tuple(_lever_bar(lever) for lever in levers)
    words = "; ".join(f"{bar.label} {bar.figure}" for bar in bars)
    label = Labelled(
        name,
        f"What moves the total, {MONTH}",
        f"A bar an input, around a line at {money(base)}, the total as it is; the most first: {words}.",
    )
    return Bars(label, MONTH, bars, line=base)


def _lever_values(lever: Lever) -> str:
    return _SWITCH if lever.unit == _SWITCH else f"{_shortest(lever.low)} to {_shortest(lever.high)} {lever.unit}"


def _shortest(value: Decimal) -> str:
    return f"{value.normalize():,f}"


def _lever_bar(lever: Lever) -> Bar:
    totals = (lever.base, *(point.total for point in lever.points))
    least, most = min(totals), max(totals)
    tip = "; ".join(f"{money(point.total)} at {_shortest(point.value)} {lever.unit}" for point in lever.points)
    pieces = [
        Piece(lever.base, end, paint, f"{lever.name}: {tip}")
        for end, paint in ((least, Paint.LESS), (most, Paint.MORE))
        if end != lever.base
    ]
    return Bar(f"{lever.name}, {_lever_values(lever)}", f"{money(least)} to {money(most)}", tuple(pieces))
