"""Tell which session each span and event belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from agent_image.contract import Span
from console.trace.record import EventRecord, SpanRecord
from console.trace.values import text

NOBODY: Final = ""
"""The session of what says of none, and hangs with nothing that does."""
_NAMES: Final = (Span.SESSION.value, "gen_ai.conversation.id", "langfuse.session.id")


@dataclass(slots=True)
class Left:
    """Gather what one session left."""

    spans: list[SpanRecord] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)


def by_session(spans: Sequence[SpanRecord], events: Iterable[EventRecord]) -> Mapping[str, Left]:
    """Give what each session left.

    A span that names none belongs where the nearest span above it does, else to the only session of its trace.
    """
    sessions: dict[str, Left] = {}
    for event in events:
        sessions.setdefault(event.session_id, Left()).events.append(event)
    silent: list[SpanRecord] = []
    for span in spans:
        if said := _session(span):
            sessions.setdefault(said, Left()).spans.append(span)
        else:
            silent.append(span)
    for span, session in zip(silent, _found(silent, spans), strict=True) if silent else ():
        sessions.setdefault(session, Left()).spans.append(span)
    return sessions


def _session(span: SpanRecord) -> str:
    attributes = span.attributes
    for name in _NAMES:
        if name in attributes and (said := text(attributes[name])):
            return said
    return NOBODY


def _found(silent: Iterable[SpanRecord], spans: Sequence[SpanRecord]) -> list[str]:
    known = {(one.trace_id, one.span_id): one for one in spans}
    traces: dict[str, set[str]] = {}
    for span in spans:
        if said := _session(span):
            traces.setdefault(span.trace_id, set()).add(said)
    found: dict[tuple[str, str], str] = {}
    return [_of(span, known, traces, found) for span in silent]


def _of(
    span: SpanRecord,
    known: Mapping[tuple[str, str], SpanRecord],
    traces: Mapping[str, set[str]],
    found: dict[tuple[str, str], str],
) -> str:
    path: dict[tuple[str, str], str] = {}
    here: SpanRecord | None = span
    session = NOBODY
    while here is not None and not session:
        key = (here.trace_id, here.span_id)
        if key in found or key in path:
            session = found.get(key, NOBODY)
            break
        session = _session(here)
        path[key] = NOBODY
        here = known.get((here.trace_id, here.parent_id))
    of_trace = traces.get(span.trace_id, set())
    if not session and len(of_trace) == 1:
        session = next(iter(of_trace))
    found.update(dict.fromkeys(path, session))
    return session
