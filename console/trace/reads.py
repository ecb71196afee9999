"""Go through the passages that a session's models were reading: where each lies, and each distinct one once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from agent_image.retrieval.passage import base_of
from console.trace.facts import Facts
from console.trace.session import PassageRead, Retrieval, Session, retrievals

Finding = Callable[[Retrieval, PassageRead], Facts | None]
"""Tells what became of a passage; None where nobody can look."""


@dataclass(slots=True)
class Distinct:
    """Hold one passage, and under which numbers the model was reading it.

    Attributes:
        facts: of the first place that has any; None where nobody looked.
    """

    passage: PassageRead
    retrieval: Retrieval
    facts: Facts | None
    numbers: dict[int, None] = field(default_factory=dict)
    cited: bool = False


def relative(passages: Sequence[PassageRead]) -> tuple[str, tuple[str, ...]]:
    """Give what all their URIs begin with, up to and with a slash, and what is left of each."""
    base = base_of([passage.uri for passage in passages])
    if base.endswith("//"):
        base = ""  # a scheme alone says nothing of where they lie
    return base, tuple(passage.uri[len(base) :] for passage in passages)


def passages(session: Session) -> Iterator[tuple[Retrieval, PassageRead]]:
    """List every passage of a session, in the order in which the model was reading them."""
    for retrieval in retrievals(session):
        yield from ((retrieval, passage) for passage in retrieval.passages or ())


def distinct(session: Session, finding: Finding | None) -> list[Distinct]:
    """Give each distinct passage once, the first read first; the same words of two sources are two."""
    found: dict[tuple[str, str], Distinct] = {}
    for retrieval, passage in passages(session):
        mark = str(passage.address.fingerprint) if passage.address else passage.id
        one = found.get((passage.uri, mark))
        if one is None or (one.facts is None and finding is not None):
            facts = finding(retrieval, passage) if finding else None
            if one is None:
                one = found.setdefault((passage.uri, mark), Distinct(passage, retrieval, facts))
            else:
                one.facts = facts
        if passage.number is not None:
            one.numbers[passage.number] = None
        one.cited = one.cited or passage.cited
    return list(found.values())
