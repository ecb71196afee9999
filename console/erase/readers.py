"""Learn from a trail which sessions were reading a passage, and what the trail itself holds of its words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from console.trace.building import sessions_of
from console.trace.missing import notes_of
from console.trace.readers import is_read
from console.trace.record import Material, Note
from console.trace.session import retrievals
from console.trace.trail import Needle


@dataclass(frozen=True, slots=True)
class Readers:
    """Hold what a trail tells of a passage.

    Attributes:
        sessions: whose models were reading it, in the order of their first turns.
        lengths: normalised bytes, as its addresses say.
        words_at: when the last span was written that holds the words themselves; None where none does.
        words: how many of its places in the trail hold the words.
        notes: what a reader must know, such as what could not be read.
    """

    sessions: tuple[str, ...] = ()
    lengths: frozenset[int] = frozenset()
    words: int = 0
    words_at: datetime | None = None
    notes: tuple[Note, ...] = ()

    @property
    def are_all(self) -> bool:
        """Tell whether the trail was read whole: else there may be readers that nobody knows of."""
        return not any(note.partial for note in self.notes)


def readers_in(material: Material, fingerprint: str) -> Readers:
    """Gather the readers of a passage."""
    needle = Needle(fingerprint=fingerprint)
    sessions, lengths, holding = list[str](), set[int](), list[datetime | None]()
    for session in sessions_of(material):
        for retrieval in retrievals(session):
            for passage in retrieval.passages or ():
                if not is_read(passage, needle) or passage.address is None:
                    continue
                lengths.add(passage.address.fingerprint.length)
                sessions.append(session.id)
                if passage.text is not None:
                    holding.append(retrieval.started)
    return Readers(
        sessions=tuple(one for one in dict.fromkeys(sessions) if one),
        lengths=frozenset(lengths),
        words=len(holding),
        words_at=max((moment for moment in holding if moment is not None), default=None),
        notes=notes_of(material),
    )
