"""Draw with matplotlib, the same bytes each time, whatever a person's own settings of it are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from io import StringIO
from typing import Final, Literal, TypeAlias

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from cost_model.report.inline_svg import inline
from cost_model.report.paint import Paint

TEXT_SIZE: Final = 12
Side: TypeAlias = Literal["left", "center", "right"]
_LETTERS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_LONG: Final = 10_000
"""From which amount on an axis has letters for zeros."""
_POINTS_PER_INCH: Final = 72
"""So that a point of matplotlib's is a unit of the drawing."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Hold the room around what is plotted, in units of the drawing."""

    left: int
    right: int
    top: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """Hold a drawing's axes, its size, and what its parts say when they are pointed at."""

    axes: Axes
    width: int
    height: int
    edges: Edges
    tips: dict[str, str] = field(default_factory=dict)

    @property
    def plotted_height(self) -> int:
        """Return the height between the edges."""
        return self.height - self.edges.top - self.edges.bottom

    @property
    def plotted_width(self) -> int:
        """Return the width between the edges."""
        return self.width - self.edges.left - self.edges.right

    def tip(self, text: str) -> str:
        """Keep what a part says, and return the id to draw it under."""
        name = f"part-{len(self.tips)}"
        self.tips[name] = text
        return name

    def text(
        self, x: float, y: float, said: str, *, side: Side = "left", paint: Paint = Paint.INK, bold: bool = False
    ) -> None:
        """Write at a place in the data's units, its base line at y; `side` is the one that the place is at."""
        self.axes.text(
            *(x, y, said),
            ha=side,
            va="baseline",
            color=paint.placeholder,
            fontsize=TEXT_SIZE,
            fontweight="bold" if bold else "normal",
        )

    def note(
        self,
        said: str,
        corner: tuple[float, float],
        away: tuple[float, float],
        *,
        side: Side = "left",
        paint: Paint = Paint.DIM,
        bold: bool = False,
    ) -> None:
        """Write beside the plot: so many units away from a part of its width and height."""
        self.axes.annotate(
            said,
            xy=corner,
            xycoords="axes fraction",
            xytext=away,
            textcoords="offset points",
            ha=side,
            va="baseline",
            color=paint.placeholder,
            fontsize=TEXT_SIZE if bold else TEXT_SIZE - 1,
            fontweight="bold" if bold else "normal",
        )


@dataclass(frozen=True, slots=True)
class Labelled:
    """Hold what a chart is called, where no other is: its name in the page, its title, and what it shows in words."""

    name: str
    title: str
    words: str


def drawn(label: Labelled, width: int, height: int, edges: Edges, draw: Callable[[Drawing], None]) -> Markup:
    """Return what `draw` puts into empty axes as an element of a page."""
    with _settings(label.name):
        figure = Figure(figsize=(width / _POINTS_PER_INCH, height / _POINTS_PER_INCH), dpi=_POINTS_PER_INCH)
        FigureCanvasSVG(figure)
        drawing = Drawing(_axes(figure, width, height, edges), width, height, edges)
        draw(drawing)
        saved = StringIO()
        figure.savefig(saved, format="svg", metadata={"Date": None})
    return Markup(inline(saved.getvalue(), label.name, label.title, label.words, drawing.tips))  # noqa: S704 - escaped as XML


def amounts_below(drawing: Drawing, unit: str, *, ticks: int) -> None:
    """Put amounts under the plot, a line up from each, and their unit at the end."""
    axis = drawing.axes.xaxis
    axis.set_major_locator(MaxNLocator(nbins=ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value) if abs(value) >= _LONG else f"{value:,.10g}"))
    axis.grid(visible=True, color=Paint.LINE.placeholder, linewidth=1, clip_on=False)
    drawing.axes.set_axisbelow(True)
    drawing.note(unit, (1, 0), (0, -32), side="right")


def as_number(amount: Decimal) -> float:
    """Give a drawing its place: the one use of a binary fraction, for no sum is made of it."""
    return float(amount)


def _axes(figure: Figure, width: int, height: int, edges: Edges) -> Axes:
    figure.patch.set_visible(False)
    axes = figure.add_axes(
        (
            edges.left / width,
            edges.bottom / height,
            (width - edges.left - edges.right) / width,
            (height - edges.top - edges.bottom) / height,
        )
    )
    axes.patch.set_visible(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_tick_params(which="both", length=0, pad=6, labelcolor=Paint.DIM.placeholder, labelsize=TEXT_SIZE - 1)
    return axes


def short(value: float) -> str:
    """Write 10000 as 10k, 1000000 as 1M: numbers that fit under an axis."""
    for least, letter in _LETTERS:
        if abs(value) >= least:
            return f"{value / least:,.4g}{letter}"
    return f"{value:,.4g}"


@contextmanager
def _settings(name: str) -> Iterator[None]:
    """Put matplotlib's own settings for a while, but for what makes a drawing depend on more than its data."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rc("svg", fonttype="none", hashsalt=name)
        mpl.rc("text", parse_math=False)
        yield
