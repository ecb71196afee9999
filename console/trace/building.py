"""Build a session out of what a trail gave: the same one, whatever order its lines came in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from console.trace.belonging import NOBODY, Left, by_session
from console.trace.citing import cited_in
from console.trace.forest import NONE, Forest, by_time, planted
from console.trace.growing import Ground, Growing
from console.trace.joining import joined
from console.trace.kinds import Kind, kind_of
from console.trace.missing import gap_notes, run_notes, span_notes, unread_note
from console.trace.once import events_once, in_order, spans_once
from console.trace.passages import named_in
from console.trace.record import Material, Note, SpanRecord
from console.trace.regimes import regimes_of
from console.trace.resumes import resumed
from console.trace.runs import Run, gathered, invocations
from console.trace.session import Session, Step, Turn
from console.trace.steps import error_of
from console.trace.texts import why_none
from console.trace.turns import turn_of

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


def session_of(session_id: str, material: Material) -> Session:
    """Build one session; what belongs to no session at all stands apart in it, what belongs to others does not."""
    sessions, doubled = _sessions(material)
    own, nobodys = sessions.get(session_id, Left()), sessions.get(NOBODY, Left())
    left = own if session_id == NOBODY else Left([*own.spans, *nobodys.spans], [*own.events, *nobodys.events])
    notes = dict.fromkeys((*material.notes, *doubled, *unread_note(material.unread)))
    built = _built(session_id, left)
    return replace(
        built,
        unread=tuple(sorted(material.unread, key=lambda one: (one.reason, one.beginning))),
        notes=(*sorted(notes, key=lambda one: (one.code, one.text)), *built.notes),
    )


def sessions_of(material: Material) -> tuple[Session, ...]:
    """Build every session, by the time of its first turn; what belongs to none comes last, as a session without an id.

    What could not be read belongs to no session: it stays in the material.
    """
    sessions, _ = _sessions(material)
    built = [_built(session_id, left) for session_id, left in sessions.items()]
    shown = [one for one in built if one.turns or one.apart]
    return tuple(sorted(shown, key=lambda one: (not one.id, _began(one), one.id)))


def _sessions(material: Material) -> tuple[Mapping[str, Left], tuple[Note, ...]]:
    # Materials of several queries may have been put together.
    spans, doubled = spans_once(material.spans)
    events, repeated = events_once(material.events)
    return by_session(spans, events), (*doubled, *repeated)


def _built(session_id: str, left: Left) -> Session:
    spans = by_time(left.spans)
    kinds = [kind_of(span) for span in spans]
    roots = invocations(spans, kinds)
    forest = planted(spans, frozenset(roots.values()))
    runs, apart, told = gathered(forest, roots, in_order(left.events))
    named = {place: named_in(spans[place].attributes) for place, kind in enumerate(kinds) if kind is Kind.RETRIEVAL}
    regimes = regimes_of(forest, kinds, named)
    ground = Ground(forest, kinds, named, cited_in(forest, runs, named), why_none(regimes))
    turns = tuple(_turns(ground, runs))
    rest = Growing(ground, joined(forest, kinds, apart, told)).steps(apart)
    notes = (*gap_notes(left.events), *run_notes(runs, turns), *span_notes(forest, apart))
    return Session(session_id, regimes, turns, rest, (), notes)


def _turns(ground: Ground, runs: list[Run]) -> Iterator[Turn]:
    resumes = resumed(ground.forest, runs)
    resumed_by: dict[str, list[str]] = {}
    for run in runs:
        if run.id in resumes:
            resumed_by.setdefault(resumes[run.id], []).append(run.id)
    for run in runs:
        yield turn_of(
            run,
            _span(ground.forest, run),
            _steps(ground, run),
            ground.why,
            resumes=resumes.get(run.id, ""),
            resumed_by=tuple(resumed_by.get(run.id, ())),
        )


def _steps(ground: Ground, run: Run) -> tuple[Step, ...]:
    span = _span(ground.forest, run)
    found = joined(ground.forest, ground.kinds, run.places, run.events)
    return Growing(ground, found, run.root, failed=span is not None and bool(error_of(span))).steps(run.places)


def _span(forest: Forest, run: Run) -> SpanRecord | None:
    return None if run.root == NONE else forest.spans[run.root]


def _began(session: Session) -> datetime:
    return next((turn.started for turn in session.turns if turn.started is not None), _NEVER)
