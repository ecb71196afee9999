"""Say what a retrieval span holds in each regime: pure, from what was retrieved to the span's attributes.

Names follow the GenAI conventions and OpenInference, so that CloudWatch, Phoenix and Langfuse read the same span.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from agent_image.contract import RETRIEVAL_OPERATION, Regime, Span
from agent_image.retrieval.knowledge_base import Retrieval
from agent_image.retrieval.passage import addresses

OPERATION: Final = RETRIEVAL_OPERATION
OPENINFERENCE_KIND: Final = "RETRIEVER"
SCORE_DIGITS: Final = 4

AttributeValue = str | int | float | bool


def asked(knowledge_base_id: str, top_k: int) -> dict[str, AttributeValue]:
    """Give the attributes that are known before the knowledge base answers."""
    return {
        Span.OPERATION: OPERATION,
        Span.DATA_SOURCE: knowledge_base_id,
        Span.TOP_K: top_k,
        Span.KIND: OPENINFERENCE_KIND,
    }


def answered(regime: Regime, retrieval: Retrieval, first: int) -> dict[str, AttributeValue]:
    """Give the attributes of what was retrieved.

    `first` is the number under which the model reads the first passage; the others follow in order.
    """
    return {str(key): value for key, value in _answered(regime, retrieval, first)}


def _answered(regime: Regime, retrieval: Retrieval, first: int) -> Iterator[tuple[str, AttributeValue]]:
    passages = retrieval.passages
    yield Span.PASSAGES, len(passages)
    if retrieval.index_version is not None:
        yield Span.INDEX_VERSION, retrieval.index_version
    if retrieval.without_text:
        yield Span.WITHOUT_TEXT, retrieval.without_text
    if without_score := sum(passage.score is None for passage in passages):
        yield Span.WITHOUT_SCORE, without_score
    if regime is Regime.METADATA or not passages:
        return
    yield Span.FIRST, first
    base, documents = _documents(retrieval, with_content=regime is Regime.CONTENT)
    if base:
        yield Span.BASE, base
    yield Span.DOCUMENTS, json.dumps(documents, separators=(",", ":"), ensure_ascii=False)
    if regime is Regime.CONTENT:
        yield Span.CONTENT_BYTES, sum(len(passage.text.encode("utf-8", "replace")) for passage in passages)


def _documents(retrieval: Retrieval, *, with_content: bool) -> tuple[str, list[dict[str, object]]]:
    base, found = addresses(retrieval.passages)
    documents: list[dict[str, object]] = [
        # A document without a score makes Phoenix drop the whole list; what had none is counted beside.
        {"id": str(address), "score": round(passage.score or 0, SCORE_DIGITS)}
        | ({"content": passage.text} if with_content else {})
        for address, passage in zip(found, retrieval.passages, strict=True)
    ]
    return base, documents
