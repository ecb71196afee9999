"""Draw how a bill grows: a line a regime, both axes in powers of ten, each line named at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from markupsafe import Markup
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from agent_image.contract import Regime
from cost_model.render.figures import money, quantity
from cost_model.report.drawing import Drawing, Edges, Labelled, as_number, drawn, short
from cost_model.report.growth import Growth
from cost_model.report.paint import Paint

STYLES: Final = {
    Regime.METADATA: (Paint.THIRD, "-", "o"),
    Regime.ADDRESS: (Paint.FIRST, "--", "s"),
    Regime.ARCHIVE: (Paint.FOURTH, "-", "D"),
    Regime.CONTENT: (Paint.SECOND, "-.", "^"),
}
"""Colour, dashes and marks: whoever cannot tell the colours apart has the others."""
_EDGES: Final = Edges(left=62, right=76, top=30, bottom=42)
_ABOVE: Final = (Regime.CONTENT, Regime.METADATA, Regime.ARCHIVE, Regime.ADDRESS)
"""In which order lines are drawn: the dashed one over the whole one that it lies on."""
_HEIGHT: Final = 380
_BETWEEN_NAMES: Final = 15


@dataclass(frozen=True, slots=True)
class _Curve:
    """Hold the points of a regime that can stand on an axis of powers: more than nothing."""

    regime: Regime
    points: tuple[tuple[Decimal, Decimal], ...]


def draw_growth(label: Labelled, found: Growth, width: int, here: Decimal | None) -> Markup | None:
    """Draw the lines, and one up from the scenario's own number of sessions; None where no total is known."""
    curves = [_curve(found, regime) for regime in _ABOVE if regime in found.totals]
    curves = [curve for curve in curves if curve.points]
    if not curves:
        return None
    return drawn(label, width, _HEIGHT, _EDGES, lambda drawing: _draw(drawing, curves, found.sessions, here))


def _curve(found: Growth, regime: Regime) -> _Curve:
    pairs = zip(found.sessions, found.totals[regime], strict=True)
    return _Curve(regime, tuple((sessions, total) for sessions, total in pairs if total))


def _draw(drawing: Drawing, curves: Sequence[_Curve], sessions: Sequence[Decimal], here: Decimal | None) -> None:
    axes = drawing.axes
    amounts = _powers([amount for curve in curves for _, amount in curve.points])
    numbers = _powers(sessions)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(numbers[0], numbers[-1])
    axes.set_ylim(amounts[0], amounts[-1])
    _graduate(axes.xaxis, numbers)
    _graduate(axes.yaxis, amounts)
    drawing.note("USD a month", (0, 1), (8 - _EDGES.left, 14))
    drawing.note("sessions a month", (1, 0), (0, -34), side="right")
    if here is not None and min(sessions) <= here <= max(sessions):
        place = as_number(here)
        axes.plot(
            [place, place],
            [amounts[0], amounts[-1]],
            color=Paint.INK.placeholder,
            linewidth=1,
            linestyle=":",
            clip_on=False,
        )
        drawing.note(f"{short(place)} stated", (_part(place, numbers), 1), (0, 6), side="center", paint=Paint.INK)
    for curve in curves:
        _draw_curve(drawing, curve)
    _draw_names(drawing, curves)


def _draw_curve(drawing: Drawing, curve: _Curve) -> None:
    paint, dashes, mark = STYLES[curve.regime]
    axes = drawing.axes
    numbers = [(as_number(sessions), as_number(total)) for sessions, total in curve.points]
    axes.plot(*zip(*numbers, strict=True), color=paint.placeholder, linestyle=dashes, linewidth=2, clip_on=False)
    for (x, y), (sessions, total) in zip(numbers, curve.points, strict=True):
        tip = f"{curve.regime}: {quantity(sessions)} sessions, {money(total)} USD a month"
        axes.plot(
            [x],
            [y],
            color=paint.placeholder,
            marker=mark,
            markersize=6,
            markeredgecolor=Paint.CARD.placeholder,
            linestyle="none",
            gid=drawing.tip(tip),
            clip_on=False,
        )


def _draw_names(drawing: Drawing, curves: Sequence[_Curve]) -> None:
    """Name each line at its end, and keep the names of lines that end side by side apart."""
    ends = sorted(curves, key=lambda curve: curve.points[-1][1])
    reach = drawing.axes.get_ylim()
    places = [drawing.plotted_height * _part(as_number(curve.points[-1][1]), reach) for curve in ends]
    for position in range(1, len(places)):
        places[position] = max(places[position], places[position - 1] + _BETWEEN_NAMES)
    for curve, place in zip(ends, places, strict=True):
        drawing.note(curve.regime.value, (1, 0), (10, place - 4), paint=STYLES[curve.regime][0], bold=True)


def _graduate(axis: Axis, powers: Sequence[float]) -> None:
    axis.set_major_locator(FixedLocator(powers))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.grid(visible=True, color=Paint.LINE.placeholder, linewidth=1, clip_on=False)


def _powers(amounts: Sequence[Decimal]) -> list[float]:
    """Return the powers of ten from the one below the least to the one above the greatest."""
    low = math.floor(min(amounts).log10())
    high = max(math.ceil(max(amounts).log10()), low + 1)
    return [10.0**power for power in range(low, high + 1)]


def _part(value: float, reach: Sequence[float]) -> float:
    return math.log(value / reach[0]) / math.log(reach[-1] / reach[0])
