"""Tell under which capture regimes a session may have run, by what its spans hold: nothing says it outright."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent_image.contract import Regime, Span
from console.trace.forest import Forest
from console.trace.kinds import Kind
from console.trace.passages import Named
from console.trace.values import count

_TEXTS = (Span.QUESTION.value, Span.ANSWER_TEXT.value, Span.NOTE.value)


def regimes_of(forest: Forest, kinds: list[Kind], named: Mapping[int, Named]) -> tuple[Regime, ...]:
    """Give the regimes that fit, in the contract's order; none where nothing tells.

    Address and archive leave the same bytes, so both fit, unless the archive says that it lost something. An
    environment that changed its regime between two turns has more than one.
    """
    found = {regime for place, kind in enumerate(kinds) for regime in _shown(forest, place, kind, named)}
    if Regime.ADDRESS in found and _archived(forest, kinds):
        found.remove(Regime.ADDRESS)
    return tuple(regime for regime in Regime if regime in found)


def _shown(forest: Forest, place: int, kind: Kind, named: Mapping[int, Named]) -> Iterator[Regime]:
    attributes = forest.spans[place].attributes
    if kind is Kind.INVOCATION and any(name in attributes for name in _TEXTS):
        yield Regime.CONTENT
    # Another vendor's retrieval says nothing of ours; one that found nothing has nothing to hold.
    if kind is not Kind.RETRIEVAL or not count(attributes.get(Span.PASSAGES)):
        return
    documents = named[place]
    if documents.with_words:
        yield Regime.CONTENT
    elif documents.documents:
        yield from (Regime.ADDRESS, Regime.ARCHIVE)
    elif not documents.malformed:
        yield Regime.METADATA


def _archived(forest: Forest, kinds: list[Kind]) -> bool:
    return any(
        kind is Kind.INVOCATION and Span.ARCHIVE_LOST in forest.spans[place].attributes
        for place, kind in enumerate(kinds)
    )
