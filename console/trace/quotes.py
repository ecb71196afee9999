"""Gather the words of each passage that a session read, once each, with what stands around them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from console.trace import phrases
from console.trace.display import Quote
from console.trace.facts import Facts
from console.trace.reads import Distinct, Finding, distinct
from console.trace.session import PassageRead, Session

WORDS_SHOWN: Final = 20_000
"""Characters of one passage; knowledge bases cut smaller ones."""


def quotes(session: Session, finding: Finding | None) -> Iterator[Quote]:
    """Quote each distinct passage, the first read first."""
    yield from (_quote(one) for one in distinct(session, finding))


def numbers(one: Distinct) -> str:
    """Name a passage by the numbers under which the model was reading it: [1] [7]."""
    return " ".join(f"[{number}]" for number in one.numbers) or "[?]"


def quote_of(passage: PassageRead, facts: Facts | None, title: str = "") -> Quote:
    """Quote one passage; where nobody has its words, say why."""
    where = f"{passage.uri}#{passage.address.fingerprint}" if passage.address else passage.id
    full = "  ".join(filter(None, (title, phrases.cut(where, phrases.URI_SHOWN))))
    if facts is None:
        why = "" if passage.text is not None else "nobody looked for them"
        return Quote(full, _cut(passage.text), why=why, cited=passage.cited)
    words = facts.text.words if facts.text.words is not None else passage.text
    why = "" if words is not None else phrases.text_words(facts.text)
    return Quote(full, _cut(words), facts.source.before.strip(), facts.source.after.strip(), why, passage.cited)


def _quote(one: Distinct) -> Quote:
    return quote_of(one.passage, one.facts, f"{numbers(one)}  cited" if one.cited else numbers(one))


def _cut(words: str | None) -> str | None:
    return None if words is None else phrases.cut(words, WORDS_SHOWN)
