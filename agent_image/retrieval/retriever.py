"""Retrieve passages and leave the trail of it: a span of what was read, and each passage's words in the archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from opentelemetry.trace import Span as OpenSpan
from opentelemetry.trace import Status, StatusCode, Tracer

from agent_image.contract import Regime
from agent_image.conversation import Reading
from agent_image.errors import KnowledgeBaseError
from agent_image.retrieval.knowledge_base import KnowledgeBase, Retrieval
from agent_image.retrieval.passage import Passage
from agent_image.telemetry import retrieval_span


class Keeper(Protocol):
    """Keep passages whatever happens to their source; at once, never failing."""

    def keep(self, passages: Sequence[Passage]) -> None:
        """Take passages to keep."""
        ...


@dataclass(frozen=True, slots=True)
class Read:
    """Hold what the model is given to read, and the number of its first passage."""

    retrieval: Retrieval
    first: int


class Retriever:
    """Ask one knowledge base, in one regime."""

    def __init__(
        self, knowledge_base: KnowledgeBase, *, regime: Regime, top_k: int, archive: Keeper, tracer: Tracer
    ) -> None:
        """Take the knowledge base and where its trail goes."""
        self._knowledge_base = knowledge_base
        self._regime = regime
        self._top_k = top_k
        self._archive = archive
        self._tracer = tracer

    def retrieve(self, query: str, reading: Reading) -> Read:
        """Retrieve passages and number them behind what the session has read already.

        Raises:
            KnowledgeBaseError: nothing could be retrieved; the span says so too.
        """
        name = f"{retrieval_span.OPERATION} {self._knowledge_base.id}"
        with self._tracer.start_as_current_span(
            name, record_exception=False, set_status_on_exception=False, end_on_exit=True
        ) as span:
            span.set_attributes(retrieval_span.asked(self._knowledge_base.id, self._top_k))
            retrieval = self._ask(query, span)
            first = reading.add([f"{passage.uri}#{passage.fingerprint}" for passage in retrieval.passages])
            span.set_attributes(retrieval_span.answered(self._regime, retrieval, first))
        if self._regime is Regime.ARCHIVE:
            self._archive.keep(retrieval.passages)
        return Read(retrieval, first)

    def _ask(self, query: str, span: OpenSpan) -> Retrieval:
        try:
            return self._knowledge_base.retrieve(query, self._top_k)
        except KnowledgeBaseError as error:
            span.set_attribute("error.type", error.code)
            span.set_status(Status(StatusCode.ERROR, error.code))
            raise
