"""Tell which sessions read a passage: when, how often, and whether an answer cites it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from console.table import Table
from console.trace import phrases
from console.trace.display import Cell, Line, Role, line, noted
from console.trace.document import moment
from console.trace.document import scanned as document_of
from console.trace.ending import scanned
from console.trace.matching import same_source
from console.trace.record import Note
from console.trace.session import PassageRead, Retrieval, Session, Turn, walk
from console.trace.trail import Needle, Scan

HEADER: Final = ("session", "first read, UTC", "last read, UTC", "times", "cited", "outcome")
_NUMBERS: Final = frozenset({3})


@dataclass(frozen=True, slots=True)
class Reader:
    """Hold one session that read a passage.

    Attributes:
        first, last: when it was retrieved; None where the spans do not say.
        retrievals: how many gave it to a model.
        cited: whether an answer names it; None where nobody looked.
        outcomes: how the turns that read it ended, each outcome once; none where nobody looked.
    """

    session_id: str
    first: datetime | None
    last: datetime | None
    retrievals: int
    cited: bool | None
    outcomes: tuple[str, ...]


def reader_of(session: Session, needle: Needle, *, whole: bool) -> Reader | None:
    """Tell how a session read a passage; None where it did not.

    `whole` tells that the session is whole: else it holds retrievals alone, and nothing of answers.
    """
    found = list(_reads(session, needle))
    if not found:
        return None
    times = sorted(retrieval.started for _, retrieval, _ in found if retrieval.started is not None)
    turns = {turn.run: turn for turn, _, _ in found if turn is not None}
    outcomes = dict.fromkeys(turn.outcome or "no end in the trail" for turn in turns.values())
    return Reader(
        session.id,
        first=times[0] if times else None,
        last=times[-1] if times else None,
        retrievals=len(found),
        cited=any(passage.cited for _, _, read in found for passage in read) if whole else None,
        outcomes=tuple(outcomes) if whole else (),
    )


def ordered(readers: Sequence[Reader]) -> list[Reader]:
    """Put who read it last first."""
    known = [reader for reader in readers if reader.last is not None]
    known.sort(key=lambda reader: (reader.last, reader.session_id), reverse=True)
    return known + [reader for reader in readers if reader.last is None]


def table(readers: Sequence[Reader]) -> Table:
    """Lay readers out."""
    return Table(HEADER, tuple(_row(reader) for reader in readers), _NUMBERS)


def summary(readers: Sequence[Reader]) -> str:
    """Add readers up, in one line."""
    retrieved = sum(reader.retrievals for reader in readers)
    cited = sum(reader.cited is True for reader in readers)
    unknown = sum(reader.cited is None for reader in readers)
    told = f"{phrases.counted(len(readers), 'session')}, {phrases.counted(retrieved, 'retrieval')}; cited in {cited:,}"
    return f"{told}, unknown of {unknown:,}" if unknown else told


def ending(readers: Sequence[Reader], scan: Scan, notes: Sequence[Note], option: str) -> Iterator[Line]:
    """Say what reading took, what a reader must know, and how to see one of the sessions."""
    yield from (noted(note) for note in notes)
    if read := scanned(scan):
        yield line(0, Cell("read", Role.NAME), Cell(read, Role.DIM))
    shown = next((one.session_id for one in readers if one.session_id and one.session_id.isprintable()), "")
    if shown:
        yield Line(0, ())
        yield line(
            0, Cell("one of them", Role.DIM), Cell(f"rastro trace --session {shlex.quote(shown)}{option}", Role.COMMAND)
        )


def document(needle: Needle, readers: Sequence[Reader], scan: Scan, notes: Sequence[Note]) -> dict[str, Any]:
    """Write readers as JSON."""
    return {
        "fingerprint": needle.fingerprint or None,
        "uri": needle.uri or None,
        "sessions": [
            {
                "session_id": reader.session_id,
                "first": moment(reader.first),
                "last": moment(reader.last),
                "retrievals": reader.retrievals,
                "cited": reader.cited,
                "outcomes": list(reader.outcomes),
            }
            for reader in readers
        ],
        "retrievals": sum(reader.retrievals for reader in readers),
        "notes": [asdict(note) for note in notes],
        "scan": document_of(scan),
    }


def is_read(passage: PassageRead, needle: Needle) -> bool:
    """Tell whether a passage is the one that is asked for."""
    if not needle.fingerprint:
        return same_source(passage.uri, needle.uri)
    return passage.address is not None and passage.address.fingerprint.text == needle.fingerprint


def _reads(session: Session, needle: Needle) -> Iterator[tuple[Turn | None, Retrieval, list[PassageRead]]]:
    parts = [*((turn, turn.steps) for turn in session.turns), (None, session.apart)]
    for turn, steps in parts:
        for step in walk(steps):
            if isinstance(step, Retrieval):
                found = [passage for passage in step.passages or () if is_read(passage, needle)]
                if found:
                    yield turn, step, found


def _row(reader: Reader) -> tuple[str, ...]:
    cited = phrases.UNKNOWN if reader.cited is None else ("yes" if reader.cited else "no")
    return (
        reader.session_id or "without an id",
        phrases.clock(reader.first),
        phrases.clock(reader.last),
        f"{reader.retrievals:,}",
        cited,
        ", ".join(reader.outcomes) or phrases.UNKNOWN,
    )
