"""Hold documents in memory, and count what is asked of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from console.trace.sources.media import Kind
from console.trace.sources.source import Content, Refused, Version, Why, missing


@dataclass
class Shelf:
    """Hold documents by their URIs, and older versions of them, the newest first."""

    documents: Mapping[str, Content | Refused]
    versions: Mapping[str, Sequence[Version] | Refused] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    asked_back: Counter[str] = field(default_factory=Counter)

    def read(self, uri: str) -> Content | Refused:
        self.asked[uri] += 1
        return self.documents.get(uri, missing(Why.NOT_FOUND))

    def older(self, uri: str, newest: str) -> Sequence[Version] | Refused:
        self.asked_back[f"{uri}@{newest}"] += 1
        return self.versions.get(uri, ())


@dataclass
class Takings:
    """Give the same texts for every document that is no text, or say why there are none."""

    given: Sequence[bytes] | Refused = ()
    asked: list[Kind] = field(default_factory=list)

    def texts(self, kind: Kind, content: Content) -> Sequence[bytes] | Refused:
        self.asked.append(kind)
        return self.given

    @contextmanager
    def opened(self) -> Iterator[Takings]:
        yield self
