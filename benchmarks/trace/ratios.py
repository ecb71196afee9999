"""State what tracing promises, and measure it."""

from __future__ import annotations

from benchmarks.ratio import Ratio
from benchmarks.trace.finding import finding_ratios
from benchmarks.trace.rendering import rendering_ratios
from benchmarks.trace.sessions import session_ratios


def trace_ratios() -> list[Ratio]:
    """Measure, and give the ratios."""
    return [*session_ratios(), *rendering_ratios(), *finding_ratios()]
