"""Say what a knowledge base is to the rest of the image, whatever answers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from agent_image.errors import KnowledgeBaseError
from agent_image.retrieval.failure import Failure
from agent_image.retrieval.passage import Passage

_MESSAGES: Final[Mapping[Failure, str]] = MappingProxyType(
    {
        Failure.THROTTLED: "The knowledge base is busy. Try again in a moment.",
        Failure.ACCESS_DENIED: "The agent may not read the knowledge base.",
        Failure.NOT_FOUND: "The knowledge base does not exist.",
        Failure.INVALID: "The knowledge base refused the query as invalid.",
        Failure.UNAVAILABLE: "The knowledge base cannot be reached.",
    }
)


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
            KnowledgeBaseError: nothing was retrieved; `code` is a `Failure`.
        """
        ...


def refusal(failure: Failure) -> KnowledgeBaseError:
    """Say that a knowledge base did not answer, in words that hold nothing of the query."""
    return KnowledgeBaseError(failure, _MESSAGES[failure])
