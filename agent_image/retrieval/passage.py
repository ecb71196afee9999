"""Describe a passage: a retrieved chunk of a source, and the address that leads back to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from agent_image.retrieval.fingerprint import Fingerprint, fingerprint, parse


@dataclass(frozen=True)
class Passage:
    """Hold one retrieved passage.

    Attributes:
        uri: where the source lies.
        text: the words that the model reads.
        score: how well it answers, as the knowledge base says; None where it does not say.
        metadata: what the knowledge base knows of it beside.
    """

    uri: str
    text: str
    score: float | None = None
    metadata: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Fingerprint the text, once."""
        return fingerprint(self.text)


@dataclass(frozen=True, slots=True)
class Address:
    """Say where a passage stands: a URI relative to a base, and the fingerprint of its words."""

    relative_uri: str
    fingerprint: Fingerprint

    def __str__(self) -> str:
        """Render `<uri relative to the base>#<fingerprint>.<length>`."""
        return f"{self.relative_uri}#{self.fingerprint}"

    def uri(self, base: str) -> str:
        """Give the whole URI."""
        return f"{base}{self.relative_uri}"


def parse_address(form: str) -> Address:
    """Read an address; a URI may hold `#` itself, a fingerprint never does.

    Raises:
        ValueError: the form has no fingerprint behind its last `#`.
    """
    relative_uri, _, mark = form.rpartition("#")
    return Address(relative_uri, parse(mark))


def base_of(uris: Sequence[str]) -> str:
    """Factor out what all URIs begin with, up to and with a slash; empty where they share nothing."""
    # What the first and the last in order share, all between them share.
    first, last = min(uris, default=""), max(uris, default="")
    shared = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[: first.rfind("/", 0, shared) + 1]


def addresses(passages: Sequence[Passage]) -> tuple[str, tuple[Address, ...]]:
    """Address passages, in their order, relative to the base that they share; the base comes first."""
    base = base_of([passage.uri for passage in passages])
    return base, tuple(Address(passage.uri[len(base) :], passage.fingerprint) for passage in passages)
