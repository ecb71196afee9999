"""Draw bars that lie: each under its label, its figure at the right, so that long names and narrow screens fit."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Final

from markupsafe import Markup

from cost_model.render.figures import clean
from cost_model.report.drawing import Drawing, Edges, Labelled, amounts_below, as_number, drawn
from cost_model.report.paint import Paint

_ROW: Final = 42
_ROW_OF_WORDS: Final = 24
"""Height of a row, and of one without a bar."""
_LABEL: Final = 14
_BAR: Final = (20, 16)
"""Where a bar begins within its row, and how high it is."""
_EDGES: Final = Edges(left=8, right=16, top=4, bottom=42)
_LETTER: Final = 6.8
"""Width of a letter, on the wide side."""
_LEAST: Final = 0.0025
"""Part of the plot's width that the smallest piece takes, so that it can be seen and pointed at."""
_SEPARABLE: Final = 4
"""Width from which a piece can spare room for a gap."""
_NARROW: Final = 480


@dataclass(frozen=True, slots=True)
class Piece:
    """Hold one piece of a bar, from one amount to another, and what it says when it is pointed at."""

    start: Decimal
    end: Decimal
    paint: Paint
    tip: str


@dataclass(frozen=True, slots=True)
class Bar:
    """Hold a bar's label, its figure and its pieces; without pieces the figure says why there are none."""

    label: str
    figure: str
    pieces: tuple[Piece, ...] = ()
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """Hold a chart of bars, the unit under it, and an amount at which a line stands."""

    label: Labelled
    unit: str
    bars: tuple[Bar, ...]
    line: Decimal | None = None


def draw_bars(chart: Bars, width: int) -> Markup:
    """Draw the chart as wide as it will be shown."""
    height = _EDGES.top + _EDGES.bottom + sum(map(_height, chart.bars))
    return drawn(chart.label, width, height, _EDGES, lambda drawing: _draw(drawing, chart))


def _height(bar: Bar) -> int:
    return _ROW if bar.pieces else _ROW_OF_WORDS


def _draw(drawing: Drawing, chart: Bars) -> None:
    low, high = _reach(chart)
    drawing.axes.set_xlim(low, high)
    drawing.axes.set_ylim(drawing.plotted_height, 0)
    drawing.axes.set_yticks([])
    if any(bar.pieces for bar in chart.bars):
        amounts_below(drawing, chart.unit, ticks=4 if drawing.width < _NARROW else 7)
    else:
        drawing.axes.set_xticks([])  # no amount is known: an axis would have to make some up
    top = 0
    for bar in chart.bars:
        _draw_bar(drawing, bar, top, (low, high))
        top += _height(bar)
    if chart.line is not None:
        place = as_number(chart.line)
        drawing.axes.plot(
            [place, place], [0, drawing.plotted_height], color=Paint.INK.placeholder, linewidth=1.5, clip_on=False
        )


def _draw_bar(drawing: Drawing, bar: Bar, top: int, reach: tuple[float, float]) -> None:
    low, high = reach
    room = drawing.plotted_width / _LETTER - len(bar.figure) - 2
    drawing.text(low, top + _LABEL, _shortened(clean(bar.label), int(room)), bold=bar.bold)
    paint = Paint.INK if bar.pieces else Paint.DIM
    drawing.text(high, top + _LABEL, bar.figure, side="right", paint=paint, bold=bar.bold)
    scale = drawing.plotted_width / (high - low)
    for piece in bar.pieces:
        start, end = sorted((as_number(piece.start), as_number(piece.end)))
        if piece.start == piece.end:  # nothing has no bar, not even the smallest
            continue
        drawing.axes.barh(
            top + _BAR[0],
            max(end - start, (high - low) * _LEAST),
            height=_BAR[1],
            left=start,
            align="edge",
            color=piece.paint.placeholder,
            edgecolor=Paint.CARD.placeholder,
            linewidth=1 if (end - start) * scale > _SEPARABLE else 0,
            gid=drawing.tip(clean(piece.tip)),
            clip_on=False,
        )


def _reach(chart: Bars) -> tuple[float, float]:
    """Return the least and the greatest amount to show: zero is always among them."""
    ends = [(piece.start, piece.end) for bar in chart.bars for piece in bar.pieces]
    amounts = [as_number(amount) for amount in chain.from_iterable(ends)]
    low, high = min([0.0, *amounts]), max([0.0, *amounts])
    return (low, high) if low < high else (0.0, 1.0)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(most - 1, 1)].rstrip()}…"
