"""Say what is missing from a session's trail, and what else its reader must know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from agent_image.contract import SCOPE, Field, Outcome, Span
from agent_image.contract import Kind as Invoked
from agent_image.guard.audit import RECOVERED, SESSION_CHAIN
from console.trace.forest import DEEPEST, NONE, Forest
from console.trace.kinds import ENTRANCES
from console.trace.record import EventRecord, Material, Note, Unread
from console.trace.runs import Run
from console.trace.session import Turn
from console.trace.values import count

GAPS_SHOWN: Final = 5
RUNS_NAMED: Final = 3
_GUARDED: Final = frozenset({Invoked.PROMPT.value, Invoked.RESUME.value})
_TURNED_AWAY: Final = frozenset({Outcome.FAILED, Outcome.REFUSED})
_LACKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "no_invocation": "no invocation span in the trail",
        "no_end": "no end in the trail; it may still be running",
        "no_events": "no events in the trail; what they alone say is unknown",
        "no_first_event": "no first event in the trail",
        "no_last_event": "no last event in the trail",
    }
)
_CUT_SHORT: Final = frozenset({"truncated", "malformed", "too_deep"})


def notes_of(material: Material) -> tuple[Note, ...]:
    """Give what was noted of the reading, with the lines of which nobody can tell whether they belonged to it."""
    return (*material.notes, *unread_note(material.unread))


def unread_note(unread: Sequence[Unread]) -> Iterator[Note]:
    """Say how many lines could not be read, and why."""
    if not unread:
        return
    reasons = sorted({one.reason for one in unread})
    counts = ", ".join(f"{reason}: {sum(one.reason == reason for one in unread):,}" for reason in reasons)
    partial = any(one.reason in _CUT_SHORT for one in unread)
    yield Note("unread_lines", f"{_many(len(unread), 'line')} of the trail could not be read ({counts})", partial)


def gap_notes(events: Iterable[EventRecord]) -> Iterator[Note]:
    """Name the events that the session's chain must have had, and the trail has not."""
    seen = sorted({one.seq for one in events if one.chain == SESSION_CHAIN and one.seq is not None})
    gaps = [(low + 1, high - 1) for low, high in zip([0, *seen], seen, strict=False) if high - low > 1]
    if not gaps:
        return
    shown = ", ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in gaps[:GAPS_SHOWN])
    more = f", and {len(gaps) - GAPS_SHOWN:,} gaps more" if len(gaps) > GAPS_SHOWN else ""
    one = len(gaps) == 1 and gaps[0][0] == gaps[0][1]
    said = f"event {shown} is" if one else f"events {shown}{more} are"
    yield Note("events_missing", f"{said} not in the trail", partial=True)


def run_notes(runs: Iterable[Run], turns: Iterable[Turn]) -> Iterator[Note]:
    """Say which runs lack what: a span, events, a beginning, an end."""
    lacking: dict[str, list[str]] = {}
    for run, turn in zip(runs, turns, strict=True):
        for code in _lacks(run, turn):
            lacking.setdefault(code, []).append(run.id)
        reasons = None if run.started is None else run.started.fields.get(Field.REASONS)
        if isinstance(reasons, list) and RECOVERED in reasons:
            yield Note("recovered", f"run {run.id} took the session up from one that had not ended")
        if turn.archive_lost:
            yield Note("archive_lost", f"the archive lost {_many(turn.archive_lost, 'passage')} by run {run.id}")
    for code, ids in lacking.items():
        named = ", ".join(ids[:RUNS_NAMED]) + (f" and {len(ids) - RUNS_NAMED:,} more" if len(ids) > RUNS_NAMED else "")
        yield Note(code, f"{'run' if len(ids) == 1 else 'runs'} {named}: {_LACKS[code]}", partial=True)


def _lacks(run: Run, turn: Turn) -> Iterator[str]:
    if run.root == NONE:
        yield "no_invocation"
    if not turn.outcome:
        yield "no_end"
    if turn.kind not in _GUARDED:
        return
    if not run.told:
        # Who was turned away at the door has told of nothing.
        if turn.steps or turn.outcome not in _TURNED_AWAY:
            yield "no_events"
    elif run.started is None:
        yield "no_first_event"
    elif run.ended is None and turn.outcome:
        yield "no_last_event"


def span_notes(forest: Forest, apart: Sequence[int]) -> Iterator[Note]:
    """Say what the spans show to be missing, or not to be as it should be."""
    spans = forest.spans
    # Who called from outside leaves its span elsewhere.
    lost = [place for place in forest.orphans if spans[place].kind not in ENTRANCES]
    if lost:
        parents = len({(spans[place].trace_id, spans[place].parent_id) for place in lost})
        yield Note("parents_missing", f"{_spans(len(lost))} hang below {_spans(parents)} that are not in the trail",
                   partial=True)  # fmt: skip
    ours = {spans[place].trace_id for place in apart if spans[place].scope == SCOPE}
    for trace in sorted(ours):
        yield Note("no_invocation", f"trace {trace} has no invocation span in the trail", partial=True)
    if forest.circles:
        yield Note("parent_circle", f"{_spans(forest.circles)} hung below themselves: they are shown at the top")
    if forest.flattened:
        yield Note("too_deep", f"{_spans(forest.flattened)} lie more than {DEEPEST} levels deep: they are shown higher")
    stripped = [held for span in spans if (held := count(span.attributes.get(Span.STRIPPED)))]
    if stripped:
        yield Note("stripped", f"{sum(stripped):,} attributes of {_spans(len(stripped))} did not leave the agent: "
                   "the regime holds no free text")  # fmt: skip


def _spans(number: int) -> str:
    return _many(number, "span")


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
