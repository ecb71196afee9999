"""Print cards and tables on a terminal. Only a terminal loads rich: here, and in trace/drawn, where trees are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from rich import box
from rich.cells import chop_cells
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from agent_image.contract import Zone
from agent_image.guard.checkpoint import State
from console.card import Card, Row, row, width
from console.table import Table
from console.terminal import shown_line

_STYLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        Zone.GREEN: "green",
        Zone.YELLOW: "yellow",
        Zone.RED: "bold red",
        State.PENDING: "bold yellow",
        State.APPROVED: "green",
        State.EXECUTING: "cyan",
        State.DONE: "green",
        State.FAILED: "red",
        State.IN_DOUBT: "bold red",
        State.REJECTED: "red",
        State.CANCELLED: "dim",
        State.EXPIRED: "dim",
        "fault": "bold red",
        "note": "yellow",
        "warning": "yellow",
        "unknown": "cyan",
        "skipped": "dim",
        "ok": "green",
        "allow": "green",
        "ask": "bold yellow",
        "block": "bold red",
        "not_judged": "cyan",
    }
)
"""How a cell, or the first word of one, is shown that says nothing but such a word."""
_WIDEST: Final = 110
"""Columns of a card at most: longer lines are hard to read."""
_FRAME: Final = 6
"""Columns that the frame of a card takes, with the blanks beside it."""
_GAP: Final = 2
"""Columns between a label and what stands beside it."""
_BETWEEN: Final = 3
"""Columns between two columns of a table."""
_READABLE: Final = 12
"""Columns that a long cell needs at least: the beginning of an id, which people copy, takes as many."""
_MARK: Final = "↳ "
"""What a line begins with that goes on with the one above."""


class Framed:
    """Draw on a terminal."""

    def __init__(self, console: Console | None = None) -> None:
        """Take the terminal: the one behind standard output where none is named."""
        self._console = console or Console(highlight=False)

    def table(self, table: Table) -> None:
        """Draw a table, row under row where it is too wide; texts go in as they are, never as markup."""
        if table.title:
            self._console.print(Text(shown_line(table.title), "bold cyan"))
        least = [min(max(map(len, cells)), _READABLE) for cells in zip(table.header, *table.rows, strict=True)]
        if sum(least) + _BETWEEN * (len(least) - 1) > self._console.width:
            for position, cells in enumerate(table.rows):
                facts = tuple(row(heading, cell) for heading, cell in zip(table.header, cells, strict=True))
                self._console.print(*([Text()] if position else []), _facts(facts, self._console.width), sep="\n")
            return
        grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column, heading in enumerate(table.header):
            grid.add_column(
                Text(shown_line(heading)),
                justify="right" if column in table.numbers else "left",
                min_width=least[column],
                overflow="fold",
            )
        for cells in table.rows:
            grid.add_row(*(_styled(cell) for cell in cells))
        self._console.print(grid)

    def card(self, card: Card) -> None:
        """Draw a card in a frame, and below it the commands, each on a line that can be copied."""
        wide = min(self._console.width, _WIDEST)
        warnings = [Text(f"WARNING: {shown_line(warning)}", "bold white on red") for warning in card.warnings]
        title = Text.assemble((shown_line(card.title), "bold"), ": ", _styled(card.badge))
        frame = Panel(
            Group(*warnings, *([Text()] if warnings else []), _facts(card.rows, wide - _FRAME)),
            title=title,
            title_align="left",
            border_style="red" if warnings else "cyan",
            padding=(1, 2),
            width=wide,
        )
        self._console.print(frame)
        wide = max((len(what) for what, _ in card.commands), default=0)
        for what, command in card.commands:
            line = Text.assemble((f"{shown_line(what):<{wide}}  ", "dim"), shown_line(command))
            self._console.print(line, soft_wrap=True)


def _facts(rows: Sequence[Row], room: int) -> Grid:
    labels = width(rows)
    grid = Grid.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
    grid.add_column(style="dim", min_width=labels, no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for one in rows:
        # A row of several lines is a document: only single words have a colour.
        lines = [_styled(line) if len(one.lines) == 1 else Text(shown_line(line)) for line in one.lines]
        grid.add_row(Text(shown_line(one.label)), Group(*(_folded(line, room - labels - _GAP) for line in lines)))
    return grid


def _folded(line: Text, room: int) -> Text:
    """Break a line that is too long, each further piece with a mark: no part of a text looks like a line of its own."""
    room = max(room, 2 * len(_MARK))
    pieces, left = [_piece(line.plain, room)], line.plain[len(_piece(line.plain, room)) :]
    while left:
        pieces.append(_piece(left, room - len(_MARK)))
        left = left[len(pieces[-1]) :]
    return Text(f"\n{_MARK}".join(pieces), line.style)


def _piece(text: str, room: int) -> str:
    """Take as much of a text as there is room for: up to its last blank, unless that is far from the end."""
    first = (chop_cells(text, room) or [""])[0]
    if len(first) == len(text):
        return first
    end = first.rfind(" ") + 1
    return first[:end] if end > len(first) * 2 // 3 else first


def _styled(text: str) -> Text:
    line = shown_line(text)
    word = line.replace(",", " ").replace(":", " ").split(" ")[0]
    return Text(line, _STYLES.get(word, "") if word in _STYLES else "")
