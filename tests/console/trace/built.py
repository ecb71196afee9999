"""Build sessions of a few lines, and look at them: for tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from console.trace.building import session_of
from console.trace.reading import material
from console.trace.session import Session, Step, walk
from tests.console.trace.trails import SESSION_ID, lines

_Step = TypeVar("_Step", bound=Step)


def built(documents: Iterable[dict[str, Any]], session_id: str = SESSION_ID) -> Session:
    """Build the session of these lines."""
    return session_of(session_id, material(lines(documents)))


def outline(steps: Iterable[Step]) -> list[Any]:
    """Give the titles of steps, each with what is below it."""
    return [[step.title, *outline(step.children)] if step.children else step.title for step in steps]


def every(session: Session, kind: type[_Step]) -> Iterator[_Step]:
    """List the steps of a kind, wherever they stand."""
    for steps in (*(turn.steps for turn in session.turns), session.apart):
        yield from (step for step in walk(steps) if isinstance(step, kind))


def codes(session: Session) -> list[str]:
    """List the codes of a session's notes."""
    return [note.code for note in session.notes]


def is_event(document: dict[str, Any]) -> bool:
    """Tell a slim line from a span."""
    return "event" in document
