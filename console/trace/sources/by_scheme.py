"""Choose what reads a document by its URI's scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from console.trace.sources.source import Content, Refused, Sources, Version, Why, unreadable


class ByScheme:
    """Read documents of several kinds of sources."""

    def __init__(self, sources: Mapping[str, Sources]) -> None:
        """Take what reads each scheme, in small letters."""
        self._sources = sources

    def read(self, uri: str) -> Content | Refused:
        """Read a document, or say that nothing reads such URIs."""
        source = self._of(uri)
        return unreadable(Why.NO_SCHEME) if source is None else source.read(uri)

    def older(self, uri: str, newest: str) -> Sequence[Version]:
        """List what its source keeps of older versions."""
        source = self._of(uri)
        return () if source is None else source.older(uri, newest)

    def _of(self, uri: str) -> Sources | None:
        return self._sources.get(uri.partition(":")[0].lower())
