"""Draw a chart for both widths that it is shown at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from markupsafe import Markup

from cost_model.render.figures import UNKNOWN
from cost_model.report.bars import Bars, draw_bars
from cost_model.report.charts import Legend
from cost_model.report.drawing import Labelled
from cost_model.report.layout import Chart

WIDE: Final = 820
NARROW: Final = 340


def chart_of_bars(found: Bars, legend: tuple[Legend, ...] = (), captions: tuple[str, ...] = ()) -> Chart:
    """Draw bars."""
    return chart_of(found.label, lambda label, width: draw_bars(replace(found, label=label), width), legend, captions)


def chart_of(
    label: Labelled,
    draw: Callable[[Labelled, int], Markup | None],
    legend: tuple[Legend, ...] = (),
    captions: tuple[str, ...] = (),
) -> Chart:
    """Draw what `draw` draws under a name and at a width."""
    wide, narrow = (
        draw(replace(label, name=f"{label.name}-{size}"), width) for size, width in (("wide", WIDE), ("narrow", NARROW))
    )
    absent = f"No total is known: {UNKNOWN}."
    return Chart(label.name, wide, narrow, absent=absent, legend=legend, captions=captions)
