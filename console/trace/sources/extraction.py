"""Take the text out of documents that are no text, in child processes: a document may be made to break its reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from console.trace.sources.media import Kind
from console.trace.sources.source import Content, Refused


class Extraction(Protocol):
    """Take texts out of documents; from several threads at once."""

    def texts(self, kind: Kind, content: Content) -> Sequence[bytes] | Refused:
        """Give the normalised text, once for each way to read it, or say why there is none."""
        ...
