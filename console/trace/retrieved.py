"""Lay a retrieval out as lines: its passages in context order, each with what became of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from agent_image.contract import Regime
from console.trace import phrases, roles
from console.trace.display import Cell, Line, Role, failed, line
from console.trace.facts import Facts, Index, IndexFact
from console.trace.quotes import quote_of
from console.trace.reads import Finding, relative
from console.trace.session import PassageRead, Retrieval

METADATA: Final = "regime metadata: which passages these were cannot be known"
"""What is said where a session holds counts alone."""


def read(step: Retrieval, depth: int, regime: Regime | None, finding: Finding | None) -> Iterator[Line]:
    """Lay a retrieval out, and below it its passages, or why nobody can know them."""
    found = [finding(step, passage) if finding else None for passage in step.passages or ()]
    yield line(depth, *_retrieval(step, found), failed(step.error))
    if step.malformed:
        yield line(depth + 1, Cell("the span's list of passages could not be read, or not all of it", Role.BAD))
    if step.passages is not None:
        yield from _passages(step.passages, depth + 1, found)
    elif step.count != 0:
        why = METADATA if regime is Regime.METADATA else "the span does not say which passages these were"
        yield line(depth + 1, Cell(why, Role.WARN))


def _retrieval(step: Retrieval, found: Sequence[Facts | None]) -> tuple[Cell | None, ...]:
    count = f"passages {phrases.UNKNOWN}" if step.count is None else phrases.counted(step.count, "passage")
    return (
        Cell("retrieval", Role.NAME),
        Cell(step.data_source or step.title),
        Cell(count if step.top_k is None else f"{count} of at most {step.top_k:,}", Role.NUMBER),
        _index(step, next((facts.index for facts in found if facts), None)),
        Cell(phrases.took(step.duration_ms), Role.NUMBER),
    )


def _index(step: Retrieval, now: IndexFact | None) -> Cell:
    then = f"index {step.index_version or phrases.UNKNOWN}"
    if now is None:
        return Cell(then, Role.DIM)
    if now.state is Index.REINDEXED:
        return Cell(f"{then}, now {now.now or 'another'}", Role.WARN)
    return Cell(f"{then}, still the same" if now.state is Index.SAME else f"{then}, now unknown", Role.DIM)


def _passages(passages: Sequence[PassageRead], depth: int, found: Sequence[Facts | None]) -> Iterator[Line]:
    base, shown = relative(passages)
    if base:
        yield line(depth, Cell(f"from {base}", Role.DIM))
    wide = max((len(str(passage.number)) for passage in passages if passage.number is not None), default=1)
    any_cited = any(passage.cited for passage in passages)
    for passage, uri, facts in zip(passages, shown, found, strict=True):
        yield line(depth, *_passage(passage, uri, wide, any_cited=any_cited), quote=quote_of(passage, facts))
        if facts is not None:
            yield line(depth, *_facts(facts), below=True)


def _passage(passage: PassageRead, uri: str, wide: int, *, any_cited: bool) -> tuple[Cell | None, ...]:
    number = "?" if passage.number is None else str(passage.number)
    mark = ("cited" if passage.cited else " " * 5) if any_cited else ""
    score = "no score" if passage.score is None else f"{passage.score:.4f}"
    if passage.address is None:
        return (
            Cell(f"[{number:>{wide}}]", Role.NUMBER),
            Cell(mark, Role.GOOD),
            Cell(score, Role.NUMBER),
            Cell(phrases.cut(passage.id, phrases.VALUE_SHOWN) or "without an id"),
            Cell("no address of ours", Role.DIM),
        )
    fingerprint = passage.address.fingerprint
    return (
        Cell(f"[{number:>{wide}}]", Role.NUMBER),
        Cell(mark, Role.GOOD),
        Cell(score, Role.NUMBER),
        Cell(fingerprint.text, Role.DIM),
        Cell(phrases.cut(uri, phrases.VALUE_SHOWN)),
        Cell(phrases.size(fingerprint.length), Role.DIM),
    )


def _facts(facts: Facts) -> tuple[Cell, ...]:
    return (
        Cell(f"text: {phrases.text_words(facts.text)}", roles.TEXTS.get(facts.text.state, Role.GOOD)),
        Cell(f"source: {phrases.source_words(facts.source)}", roles.SOURCES[facts.source.state]),
        Cell(f"index: {phrases.index_words(facts.index)}", roles.INDEXES[facts.index.state]),
    )
