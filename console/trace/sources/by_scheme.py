"""Choose what reads a document by its URI's scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from console.trace.sources.s3_uri import s3_object
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

    def older(self, uri: str, newest: str) -> Sequence[Version] | Refused:
        """List what its source keeps of older versions."""
        source = self._of(uri)
        return () if source is None else source.older(uri, newest)

    def _of(self, uri: str) -> Sources | None:
        # An object of S3 is one under a web address, too: there it is read with the rights of who asks.
        if s3_object(uri) is not None and (source := self._sources.get("s3")):
            return source
        return self._sources.get(uri.partition(":")[0].lower())
