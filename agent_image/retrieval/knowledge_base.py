"""Say what a knowledge base is to the rest of the image, whatever answers behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agent_image.retrieval.passage import Passage


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Hold what one question to a knowledge base brought back.

    Attributes:
        passages: the passages, in the order in which the model reads them.
        index_version: the state of the index that answered; None where it could not be read.
        without_text: results that held no text, and so could not be read by any model.
    """

    passages: tuple[Passage, ...]
    index_version: str | None = None
    without_text: int = 0


class KnowledgeBase(Protocol):
    """Find passages for a query."""

    @property
    def id(self) -> str:
        """Name the knowledge base, as the trail shows it."""
        ...

    def retrieve(self, query: str, top_k: int) -> Retrieval:
        """Retrieve at most `top_k` passages.

        Raises:
            KnowledgeBaseError: nothing was retrieved; `code` is one of throttled, access_denied, not_found, invalid,
                unavailable.
        """
        ...
