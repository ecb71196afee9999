"""Find which run each resume goes on with: by its span's link, the checkpoint, and the call that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent_image.contract import Field, Kind, Ruling, Span
from console.trace.forest import NONE, Forest
from console.trace.joining import checkpoint_of, ruling_of
from console.trace.record import EventRecord
from console.trace.runs import Run
from console.trace.values import text


def resumed(forest: Forest, runs: Sequence[Run]) -> Mapping[str, str]:
    """Map each run that goes on with another to it; runs come in the order of their time."""
    roots = dict(_roots(forest, runs))
    asked: dict[str, str] = {}
    found: dict[str, str] = {}
    for run in runs:
        if _is_resume(forest, run):
            linked = () if run.root == NONE else forest.spans[run.root].links
            named = [roots.get(link, "") for link in linked] + [asked.get(mark, "") for mark in _marks(forest, run)]
            if paused := next((one for one in named if one and one != run.id), ""):
                found[run.id] = paused
        for mark in _asked(forest, run):
            asked[mark] = run.id
    return found


def _is_resume(forest: Forest, run: Run) -> bool:
    kind = "" if run.root == NONE else text(forest.spans[run.root].attributes.get(Span.RUN_KIND))
    told = "" if run.started is None else text(run.started.fields.get(Field.KIND))
    # Where nothing says what it is, a link or a decided checkpoint does.
    return (kind or told or Kind.RESUME) == Kind.RESUME


def _roots(forest: Forest, runs: Sequence[Run]) -> Iterator[tuple[tuple[str, str], str]]:
    """Give the span of each run's invocation, from the span or from what the first and the last event say of it."""
    for run in runs:
        for event in (run.started, run.ended):
            if event is not None and event.span_id:
                yield (event.trace_id, event.span_id), run.id
        if run.root != NONE:
            span = forest.spans[run.root]
            yield (span.trace_id, span.span_id), run.id


def _marks(forest: Forest, run: Run) -> Iterator[str]:
    """Give what a run says of decided calls: their checkpoints first, which are one of a kind."""
    decided = [event for event in run.events if ruling_of(event) not in {"", Ruling.ALLOWED, Ruling.ASKED}]
    yield from filter(None, map(checkpoint_of, decided))
    yield from (checkpoint for ruling, checkpoint in _guards(forest, run) if checkpoint and ruling != Ruling.ASKED)
    yield from filter(None, map(_use, decided))


def _asked(forest: Forest, run: Run) -> Iterator[str]:
    for event in run.events:
        if ruling_of(event) == Ruling.ASKED:
            yield from filter(None, (checkpoint_of(event), _use(event)))
    yield from (checkpoint for ruling, checkpoint in _guards(forest, run) if checkpoint and ruling == Ruling.ASKED)


def _guards(forest: Forest, run: Run) -> Iterator[tuple[str, str]]:
    for place in run.places:
        attributes = forest.spans[place].attributes
        if Span.DECISION in attributes:
            yield text(attributes.get(Span.DECISION)), text(attributes.get(Span.CHECKPOINT))


def _use(event: EventRecord) -> str:
    """Name the call of a tool, apart from every checkpoint's id."""
    use, tool = text(event.fields.get(Field.TOOL_USE_ID)), text(event.fields.get(Field.TOOL))
    return f"{tool}\0{use}" if use and tool else ""
