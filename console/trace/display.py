"""Hold what is to be shown, line by line: how deep each stands, and what each part of it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from console.terminal import shown_line
from console.trace.phrases import VALUE_SHOWN, cut
from console.trace.record import Note

DEEPEST: Final = 40
"""Steps of indentation at most: what lies deeper, if anybody ever nests so, says how deep it lies."""


class Role(StrEnum):
    """Say what a part of a line is; a terminal gives each a colour."""

    PLAIN = "plain"
    TITLE = "title"
    NAME = "name"
    """What kind of thing the line is about."""
    NUMBER = "number"
    DIM = "dim"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    COMMAND = "command"
    """To be copied: it stays in one piece, however narrow the terminal."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Hold one part of a line; its text may come from anywhere."""

    text: str
    role: Role = Role.PLAIN


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one line.

    Attributes:
        depth: 0 for what stands alone, 1 for what belongs to it, and so on.
        below: it goes on with the line above, which is no thing of its own.
        words: a text that belongs to it and is shown with it, row by row; empty where there is none.
        quote: a passage that it is about, for whoever shows its words at once.
    """

    depth: int
    cells: tuple[Cell, ...]
    below: bool = False
    words: str = ""
    quote: Quote | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """Hold the words of a passage, to be shown apart from all that is ours.

    Attributes:
        title: which they are, and where they stood.
        words: None where nobody has them.
        before, after: what stands around them in the source.
        why: why there are none.
        cited: an answer names it.
    """

    title: str
    words: str | None
    before: str = ""
    after: str = ""
    why: str = ""
    cited: bool = False


class Writer(Protocol):
    """Show lines and quotes in one way."""

    def lines(self, lines: Iterable[Line]) -> None:
        """Show lines."""
        ...

    def quote(self, quote: Quote) -> None:
        """Show a quote."""
        ...


def line(depth: int, *cells: Cell | None, below: bool = False, words: str = "", quote: Quote | None = None) -> Line:
    """Build a line of the cells that say something."""
    return Line(depth, tuple(cell for cell in cells if cell is not None and cell.text), below, words, quote)


def failed(error: str) -> Cell | None:
    """Say what failed, where something did."""
    return Cell(f"error {cut(error, VALUE_SHOWN)}", Role.BAD) if error else None


def noted(note: Note, depth: int = 0) -> Line:
    """Say what a reader must know of what was read."""
    return line(
        depth, Cell(note.code, Role.NAME), Cell("partial", Role.WARN) if note.partial else None, Cell(note.text)
    )


def safe(text: str) -> str:
    """Spell out what could steer a terminal or begin another line."""
    return text if text.isprintable() else shown_line(text)
