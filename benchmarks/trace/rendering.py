"""State what showing a long session costs: for a pipe, on a terminal, and as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from io import StringIO

from rich.console import Console

from benchmarks.ratio import Ratio
from benchmarks.trace.sessions import SESSION, SPANS, lines_of
from console.screen import Screen
from console.trace.building import session_of
from console.trace.document import document
from console.trace.drawn import Drawn
from console.trace.facts import Facts, Index, IndexFact, Source, SourceFact, Text, TextFact
from console.trace.plain import PlainWriter
from console.trace.reading import material
from console.trace.session import PassageRead, Retrieval
from console.trace.trail import Scan
from console.trace.tree import tree

_ROUNDS = 3
_WIDE = 120
_FACTS = Facts(
    TextFact(Text.ARCHIVE, "The words of a passage."),
    SourceFact(Source.INTACT, media_type="text/markdown"),
    IndexFact(Index.SAME, "JOB1234567", "JOB1234567"),
)


def rendering_ratios() -> list[Ratio]:
    """Measure, and give the ratios; every passage has its facts."""
    print(f"a session of {SPANS:,} spans, shown")
    lines = lines_of()
    session = session_of(SESSION, material(lines))
    parse = _best(lambda: [json.loads(line) for line in lines])

    def for_a_pipe() -> None:
        PlainWriter(_Nowhere().put).lines(tree(session, _found))

    def on_a_terminal() -> None:
        console = Console(file=_Nowhere(), force_terminal=True, width=_WIDE, highlight=False, legacy_windows=False)
        Drawn(console).lines(tree(session, _found))

    def as_json() -> None:
        Screen(_Nowhere().put).document(document(session, _found, (), Scan()))

    plain, drawn, written = (_best(show) for show in (for_a_pipe, on_a_terminal, as_json))
    shown = (
        ("rendered for a pipe", plain, 6.0),
        ("drawn on a terminal", drawn, 40.0),
        ("written as JSON", written, 8.0),
    )
    return [
        Ratio(
            f"a session of {SPANS:,} spans {how} / json.loads of its lines",
            seconds / parse,
            at_most,
            f"{seconds:.2f} s / {parse:.2f} s",
        )
        for how, seconds, at_most in shown
    ]


class _Nowhere(StringIO):
    """Take what is written as a screen does."""

    def put(self, text: str) -> None:
        self.write(text)


def _found(_retrieval: Retrieval, _passage: PassageRead) -> Facts:
    return _FACTS


def _best(work: Callable[[], object]) -> float:
    took = []
    for _ in range(_ROUNDS):
        start = time.process_time()
        work()
        took.append(time.process_time() - start)
    return min(took)
