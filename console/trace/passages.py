"""Read which passages a retrieval's span names, in the order in which the model read them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from agent_image.contract import Span
from agent_image.retrieval.passage import Address, parse_address
from console.trace.kinds import FLATTENED_DOCUMENTS
from console.trace.session import PassageRead
from console.trace.values import count, measure, text

_FLATTENED: Final = re.compile(re.escape(FLATTENED_DOCUMENTS) + r"([0-9]{1,6})\.document\.(id|score|content)")
_REMEMBERED: Final = 4_096
"""Addresses that are remembered once they were read: a session reads the same passages again and again."""


@dataclass(frozen=True, slots=True)
class Named:
    """Hold the documents that a span names.

    Attributes:
        documents: None where it names none, which is not the same as having found none.
        malformed: what it says could not be read, or not all of it.
    """

    documents: Sequence[Mapping[str, Any]] | None
    malformed: bool = False

    @property
    def with_words(self) -> bool:
        """Tell whether the words stand there too."""
        return any("content" in one for one in self.documents or ())


def named_in(attributes: Mapping[str, Any]) -> Named:
    """Read the documents of a span: a JSON text, a list, or OpenInference's flattened attributes."""
    value = attributes.get(Span.DOCUMENTS)
    if value is None:
        return _flattened(attributes)
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=str)
        except (ValueError, RecursionError):
            return Named(None, malformed=True)
    if not isinstance(value, list):
        return Named(None, malformed=True)
    documents = [one for one in value if isinstance(one, dict)]
    return Named(documents, malformed=len(documents) < len(value))


def passages_of(named: Named, attributes: Mapping[str, Any], cited: Collection[int]) -> tuple[PassageRead, ...] | None:
    """Give the passages; `cited` are the numbers that an answer names."""
    if named.documents is None:
        return None
    base, first = text(attributes.get(Span.BASE)), count(attributes.get(Span.FIRST))
    scores = _scores(named.documents, count(attributes.get(Span.WITHOUT_SCORE)) or 0)
    passages = []
    for place, (document, score) in enumerate(zip(named.documents, scores, strict=True)):
        number = None if first is None else first + place
        name, words = text(document.get("id")), document.get("content")
        address = _address(name)
        uri = "" if address is None else address.uri(base)
        passages.append(
            PassageRead(
                number,
                place + 1,
                name,
                address,
                uri,
                score,
                words if isinstance(words, str) else None,
                cited=number in cited,
            )
        )
    return tuple(passages)


def _scores(documents: Sequence[Mapping[str, Any]], without: int) -> list[float | None]:
    """Read scores. A span gives 0 for one that there was not, and counts those: where it can be told, it is none."""
    scores = [measure(one.get("score")) for one in documents]
    if without and sum(score == 0 for score in scores) == without:
        return [None if score == 0 else score for score in scores]
    return scores


def _flattened(attributes: Mapping[str, Any]) -> Named:
    documents: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(FLATTENED_DOCUMENTS) and (found := _FLATTENED.fullmatch(key)):
            documents.setdefault(int(found[1]), {})[found[2]] = value
    return Named([documents[number] for number in sorted(documents)] if documents else None)


@lru_cache(maxsize=_REMEMBERED)
def _address(name: str) -> Address | None:
    try:
        return parse_address(name)
    except ValueError:
        return None
