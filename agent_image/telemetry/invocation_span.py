"""Say what an invocation's span holds in each regime: pure, from what happened to the span's attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agent_image.citations import Citations, without_marks
from agent_image.contract import INVOCATION_SPAN, Kind, Outcome, Regime, Span, Verdict
from agent_image.digest import Digest
from agent_image.retrieval.fingerprint import fingerprint, normalised

NAME: Final = INVOCATION_SPAN
ANSWER_FINGERPRINT_BYTES: Final = 200
"""Normalised bytes from which on an answer leaves its fingerprint: a shorter one could be guessed."""

AttributeValue = str | int | float | bool
Attributes = dict[str, AttributeValue]


@dataclass(frozen=True, slots=True)
class Answered:
    """Hold an answer and what its marks name."""

    text: str
    citations: Citations


def started(kind: Kind, run: str) -> Attributes:
    """Give the attributes that every invocation has from its start."""
    return {Span.RUN: run, Span.RUN_KIND: kind.value}


def ended(outcome: Outcome, archive_lost: int) -> Attributes:
    """Give the attributes that every invocation has at its end; nothing lost leaves nothing."""
    attributes: Attributes = {Span.OUTCOME: outcome.value}
    if archive_lost:
        attributes[Span.ARCHIVE_LOST] = archive_lost
    return attributes


def questioned(regime: Regime, question: str) -> Attributes:
    """Give what a question leaves: its text where the regime holds texts, else nothing."""
    return {Span.QUESTION: question} if regime is Regime.CONTENT else {}


def answered(regime: Regime, answer: Answered) -> Attributes:
    """Give what an answer leaves."""
    return {str(key): value for key, value in _answered(regime, answer)}


def answer_fingerprint(text: str) -> str | None:
    """Fingerprint an answer, so that whoever holds it finds its session; None where it is too short.

    Marks do not count: a page may render them as links, or leave them out.
    """
    bare = without_marks(text)
    return str(fingerprint(bare)) if len(normalised(bare)) >= ANSWER_FINGERPRINT_BYTES else None


def _answered(regime: Regime, answer: Answered) -> Iterator[tuple[str, AttributeValue]]:
    if answer.citations.cited:
        yield Span.CITED, _numbers(answer.citations.cited)
    if answer.citations.unsupported:
        yield Span.UNSUPPORTED, _numbers(answer.citations.unsupported)
    if mark := answer_fingerprint(answer.text):
        yield Span.ANSWER, mark
    if regime is Regime.CONTENT:
        yield Span.ANSWER_TEXT, answer.text


def _numbers(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))


def judged(regime: Regime, verdict: Verdict, note: str, digest: Digest) -> Attributes:
    """Give what feedback leaves: the verdict, and the note by the regime's rule."""
    attributes: Attributes = {Span.VERDICT: verdict.value}
    if not note:
        return attributes
    if regime is Regime.CONTENT:
        return attributes | {Span.NOTE: note}
    return attributes | {Span.NOTE_BYTES: len(note.encode("utf-8", "replace")), Span.NOTE_DIGEST: digest.of(note)}
