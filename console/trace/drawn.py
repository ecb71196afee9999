"""Draw a traced session on a terminal. Only a terminal loads this module, and rich with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text
from rich.tree import Tree

from console.trace.display import Line, Quote, Role, safe

DEEPEST_DRAWN: Final = 12
"""Steps of indentation that a terminal has room for; what lies deeper says how deep it lies."""
_STYLES: Final[Mapping[Role, str]] = MappingProxyType(
    {
        Role.PLAIN: "",
        Role.TITLE: "bold",
        Role.NAME: "cyan",
        Role.NUMBER: "blue",
        Role.DIM: "bright_black",
        Role.GOOD: "green",
        Role.WARN: "yellow",
        Role.BAD: "bold red",
        Role.COMMAND: "",
    }
)
_GAP: Final = "  "
_ENDLESS: Final = 1_000_000
"""Columns for what must not be broken."""
_LEAST: Final = 8
"""Columns that a piece of a text takes at least."""
_GUIDES: Final = "bright_black"
_GUIDE: Final = 4
"""Columns that one step of indentation takes."""


class Drawn:
    """Draw lines as trees, one for each line that stands alone; texts go in as they are, never as markup."""

    def __init__(self, console: Console | None = None) -> None:
        """Take the terminal: the one behind standard output where none is named."""
        self._console = console or Console(highlight=False)

    def lines(self, lines: Iterable[Line]) -> None:
        """Draw lines."""
        trunk: list[Tree] = []
        width = self._console.width
        for line in lines:
            if line.below and trunk:
                label = trunk[-1].label
                if isinstance(label, Text):
                    label.append("\n").append_text(_text(line, width - _GUIDE * (len(trunk) - 1)))
                continue
            if any(cell.role is Role.COMMAND for cell in line.cells):
                self._print(trunk)
                trunk = []
                self._console.print(_text(line, _ENDLESS), soft_wrap=True)
                continue
            if line.depth == 0 or not trunk:
                self._print(trunk)
                trunk = [Tree(_text(line, width), guide_style=_GUIDES)]
                continue
            # A line hangs on the nearest above it that is less deep, whatever its own depth says.
            del trunk[max(1, min(line.depth, DEEPEST_DRAWN)) :]
            trunk.append(trunk[-1].add(_text(line, width - _GUIDE * len(trunk))))
        self._print(trunk)

    def quote(self, quote: Quote) -> None:
        """Draw a quote in a frame."""
        # Not in the frame, which would cut it.
        self._console.print(Text(safe(quote.title), "bold", overflow="fold"))
        if quote.words is None:
            self._console.print(Text(f"{_GAP}no words: {safe(quote.why)}", _STYLES[Role.BAD]))
            return
        parts = [Text(_rows(text), style) for text, style in _parts(quote, quote.words) if text]
        self._console.print(Panel(Group(*parts), border_style=_GUIDES, padding=(0, 1)))

    def _print(self, trunk: list[Tree]) -> None:
        if trunk:
            self._console.print(trunk[0])


def _parts(quote: Quote, words: str) -> tuple[tuple[str, str], ...]:
    return (quote.before, _STYLES[Role.DIM]), (words, ""), (quote.after, _STYLES[Role.DIM])


def _rows(text: str) -> str:
    return "\n".join(safe(row) for row in text.splitlines())


def _text(line: Line, room: int) -> Text:
    """Set a line into the room that it has: it breaks between its parts, where they fit, and goes on further in."""
    text = Text(overflow="fold")
    if line.depth > DEEPEST_DRAWN:
        text.append(f"({line.depth}){_GAP}", _STYLES[Role.DIM])
    margin, further = (_GAP, _GAP) if line.below else ("", _GAP)
    text.append(margin)
    used = cell_len(text.plain)
    for position, cell in enumerate(line.cells):
        shown, style = safe(cell.text), _STYLES[cell.role]
        if position and used + len(_GAP) + cell_len(shown) > room:
            text.append(f"\n{further}")
            used = len(further)
        elif position:
            text.append(_GAP)
            used += len(_GAP)
        for piece, part in enumerate(_folded(shown, room - used, room - len(further))):
            if piece:
                text.append(f"\n{further}")
                used = len(further)
            text.append(part, style)
            used += cell_len(part)
    for row in line.words.splitlines():
        text.append("\n  │ ", _GUIDES).append(safe(row))
    return text


def _folded(text: str, first: int, room: int) -> list[str]:
    """Break what no line has room for."""
    if cell_len(text) <= first or room < _LEAST:
        return [text]
    head, *rest = chop_cells(text, max(first, _LEAST))
    return [head, *(chop_cells("".join(rest), room) if rest else ())]
