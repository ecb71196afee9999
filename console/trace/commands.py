"""Carry out `rastro trace`: from the trail to a session, from its passages to what became of them, and to a screen."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from console.errors import ConsoleError
from console.moments import now
from console.screen import Screen
from console.trace import document, quotes, readers
from console.trace.asking import Asked, Shape
from console.trace.building import session_of, sessions_of
from console.trace.display import Writer, safe
from console.trace.ending import ending
from console.trace.facts import Source, Text
from console.trace.missing import notes_of
from console.trace.reads import Finding, passages
from console.trace.record import Material, Note
from console.trace.session import Session, retrievals
from console.trace.trail import Needle, Trail
from console.trace.tree import tree

PARTIAL: Final = 3
"""Exit status of a trace that may lack something."""
STRICT: Final = 4
"""Exit status, with --strict, of a session of which a passage is not intact or its words are lost."""
WHOLE_LIMIT: Final = 20
"""Sessions that read a passage and are read whole, to see what they answered; each takes a query."""
SURROUNDINGS: Final = 300
"""Characters around a passage."""
_NEVER: Final = datetime.min.replace(tzinfo=UTC)

Look = Callable[[Session, int], Finding]
"""Looks up, now, what became of a session's passages, with so many characters around each."""


@dataclass(frozen=True, slots=True)
class Tracer:
    """Hold what a trace needs.

    Attributes:
        trail: where spans and events lie.
        look: looks passages up.
        screen: takes tables and documents.
        writer: takes trees and quotes.
        place: what to call the trail, in a sentence.
        option: what a command has to say to reach the same agent.
        gathered: is called once, before anything is shown: what showed progress makes room.
    """

    trail: Trail
    look: Look
    screen: Screen
    writer: Writer
    place: str
    option: str
    gathered: Callable[[], object] = tuple

    def trace(self, asked: Asked, shape: Shape) -> int:
        """Show what is asked for, and give the exit status.

        Raises:
            ConsoleError: the trail cannot be read, or holds nothing of it.
        """
        if asked.needle is not None:
            return self._readers(asked.needle, shape)
        session, others = self._session(asked)
        finding = self.look(session, _surroundings(shape)) if shape.resolve else None
        self.gathered()
        self._show(session, others, finding, shape)
        if shape.strict and not is_intact(session, finding):
            return STRICT
        return _status(session.notes)

    def _session(self, asked: Asked) -> tuple[Session, tuple[Session, ...]]:
        """Find the session that is asked for, and the others that the question leads to, the newest first."""
        if asked.session_id:
            material = self.trail.session(asked.session_id)
            return self._found(session_of(asked.session_id, material), material, f"the session {asked.session_id}"), ()
        if asked.trace_id:
            material = self.trail.trace(asked.trace_id)
            sessions = sessions_of(material)
            found = [one for one in sessions if asked.trace_id in _traces(one)] or list(sessions)
            what = f"the trace {asked.trace_id}"
        elif asked.answer is not None:
            material = self.trail.answered(asked.answer)
            found = list(sessions_of(material))
            what = f"an answer whose fingerprint is {asked.answer}"
        else:
            material = self.trail.last()
            found = list(sessions_of(material))
            what = "a session"
        if not found:
            raise self._nothing(what, material)
        found.sort(key=_newest, reverse=True)
        first, *others = found
        if asked.answer is not None and first.id:
            # All that is known of it so far is that it answered.
            material = self.trail.session(first.id)
        return self._found(session_of(first.id, material), material, f"the session {first.id}"), tuple(others)

    def _found(self, session: Session, material: Material, what: str) -> Session:
        if not session.turns and not session.apart:
            raise self._nothing(what, material)
        return _with_notes(session, material)

    def _nothing(self, what: str, material: Material) -> ConsoleError:
        notes = [note.text for note in notes_of(material)]
        late = "what an agent did comes into its trail up to a few seconds later, and --since says how far back to look"
        return ConsoleError("\n".join((f"{self.place} holds nothing of {what}; {late}", *notes)))

    def _show(self, session: Session, others: tuple[Session, ...], finding: Finding | None, shape: Shape) -> None:
        if shape.html is not None:
            from console.trace.page import page  # noqa: PLC0415 - jinja2 loads for a page alone
            from console.whole_file import write_whole  # noqa: PLC0415

            write_whole(shape.html, page(session, finding, self.trail.scan, now()))
            if not shape.as_json:
                self.screen.line(f"wrote {safe(str(shape.html))}")
        if shape.as_json:
            self.screen.document(document.document(session, finding, others, self.trail.scan))
        if shape.html is not None or shape.as_json:
            return
        self.writer.lines(tree(session, finding))
        if shape.text:
            for quote in quotes.quotes(session, finding):
                self.screen.line()
                self.writer.quote(quote)
        self.writer.lines(ending(session, others, self.trail.scan, self.option, text=shape.text))

    def _readers(self, needle: Needle, shape: Shape) -> int:
        material = self.trail.reading(needle)
        found = [
            reader
            for session in sessions_of(material)
            if (reader := readers.reader_of(session, needle, whole=False)) is not None
        ]
        if not found:
            what = f"the passage {needle.fingerprint}" if needle.fingerprint else f"a passage of {needle.uri}"
            raise self._nothing(what, material)
        found, notes = self._answered(readers.ordered(found), needle), notes_of(material)
        self.gathered()
        if shape.as_json:
            self.screen.document(readers.document(needle, found, self.trail.scan, notes))
        else:
            self.screen.table(readers.table(found))
            self.screen.line()
            self.screen.line(readers.summary(found))
            self.writer.lines(readers.ending(found, self.trail.scan, notes, self.option))
        return _status(notes)

    def _answered(self, found: list[readers.Reader], needle: Needle) -> list[readers.Reader]:
        """Read the newest sessions whole: their retrievals alone do not say what was answered."""
        told = []
        for position, reader in enumerate(found):
            whole = None
            if position < WHOLE_LIMIT and reader.session_id:
                session = session_of(reader.session_id, self.trail.session(reader.session_id))
                whole = readers.reader_of(session, needle, whole=True)
            told.append(whole or reader)
        return told


def is_intact(session: Session, finding: Finding | None) -> bool:
    """Tell whether every passage that was read is in its source still, and its words are known."""
    if any(one.passages is None and one.count != 0 for one in retrievals(session)):
        return False
    facts = [finding(retrieval, passage) if finding else None for retrieval, passage in passages(session)]
    return all(
        one is not None and one.source.state is Source.INTACT and one.text.state is not Text.NOT_RECOVERED
        for one in facts
    )


def _traces(session: Session) -> frozenset[str]:
    return frozenset(turn.trace_id for turn in session.turns)


def _surroundings(shape: Shape) -> int:
    return SURROUNDINGS if shape.text or shape.as_json or shape.html is not None else 0


def _newest(session: Session) -> datetime:
    return max((turn.started for turn in session.turns if turn.started is not None), default=_NEVER)


def _with_notes(session: Session, material: Material) -> Session:
    """Say with a session what was said of the reading of it."""
    more = tuple(note for note in material.notes if note not in session.notes)
    return replace(session, notes=(*session.notes, *more)) if more else session


def _status(notes: Collection[Note]) -> int:
    return PARTIAL if any(note.partial for note in notes) else 0
