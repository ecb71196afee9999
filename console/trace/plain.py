"""Write a traced session for a pipe or a file: the same lines whatever the terminal, one thing a line, easy to grep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from console.screen import Write
from console.trace.display import DEEPEST, Line, Quote, safe

_INDENT: Final = "  "
_GAP: Final = "  "
_WORDS: Final = "| "
_AROUND: Final = ": "


class PlainWriter:
    """Write lines as text without colour; each line of a quote has a mark, so that no quote looks like ours."""

    def __init__(self, write: Write) -> None:
        """Take what writes."""
        self._write = write

    def lines(self, lines: Iterable[Line]) -> None:
        """Write lines."""
        for line in lines:
            self._write(f"{_indent(line)}{_GAP.join(safe(cell.text) for cell in line.cells)}".rstrip() + "\n")
            if line.words:
                self._rows(_INDENT * min(line.depth + 1, DEEPEST) + _WORDS, line.words)

    def quote(self, quote: Quote) -> None:
        """Write a quote."""
        self._write(f"{safe(quote.title)}\n")
        if quote.words is None:
            self._write(f"{_INDENT}no words: {safe(quote.why)}\n")
            return
        for mark, text in ((_AROUND, quote.before), (_WORDS, quote.words), (_AROUND, quote.after)):
            self._rows(_INDENT + mark, text)

    def _rows(self, margin: str, text: str) -> None:
        for row in text.splitlines():
            self._write(f"{margin}{safe(row)}".rstrip() + "\n")


def _indent(line: Line) -> str:
    depth = line.depth + (2 if line.below else 0)
    return _INDENT * depth if depth <= DEEPEST else f"{_INDENT * DEEPEST}({depth}) "
