"""Say why no text can be taken out of a document."""

from __future__ import annotations

from console.trace.sources.source import Why


class NoTextError(Exception):
    """Carry the code."""

    def __init__(self, why: Why) -> None:
        """Take the code."""
        super().__init__(why)
        self.why = why
