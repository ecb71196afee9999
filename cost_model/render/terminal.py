"""Print a report on a terminal. This module alone imports rich, and only a terminal makes it load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from cost_model.render.document import Kind, Section, Table
from cost_model.render.figures import clean
from cost_model.render.plain import PART_MARK, cells_of

TEXT_WIDTH: Final = 24
"""Characters that a column of texts gets at most before others have to go; numbers get what they need."""
_GAP: Final = 2
"""Characters between two columns: the padding of the left one, and the box's own."""
_STYLES: Final = {Kind.LINE: "", Kind.PART: "dim", Kind.TOTAL: "bold"}


def print_terminal(sections: Iterable[Section], console: Console | None = None) -> None:
    """Print every section; texts go in as they are, never as markup."""
    console = console or Console()
    for section in sections:
        console.print(_text(section.title, "bold cyan"))
        if section.table:
            console.print()
            _print_table(section.table, console)
            console.print()
        for remark in section.said:
            console.print(_text(remark.heading, "bold"))
            for item in remark.items:
                console.print(_indented(_text(item, "dim"), 2))
            console.print()


def _print_table(table: Table, console: Console) -> None:
    widths = _widths(table, console.width)
    for part in [_grid(table, widths)] if widths else _records(table):
        console.print(part)


def _grid(table: Table, widths: Mapping[int, int]) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column, width in widths.items():
        heading = _text(table.header[column])
        if column in table.texts:
            grid.add_column(heading, width=width, overflow="fold")
        else:
            grid.add_column(heading, width=width, justify="right", no_wrap=True)
    for position, row in enumerate(table.rows):
        following = table.rows[position + 1 : position + 2]
        before_totals = row.kind is not Kind.TOTAL and any(each.kind is Kind.TOTAL for each in following)
        cells = cells_of(row)
        grid.add_row(*(_text(cells[column], _STYLES[row.kind]) for column in widths), end_section=before_totals)
    return grid


def _records(table: Table) -> Iterator[Text | Padding]:
    """Put each cell on a line of its own, under its row's label."""
    for row in table.rows:
        label, *rest = cells_of(row)
        yield _text(label, _STYLES[row.kind])
        for heading, cell in zip(table.header[1:], rest, strict=True):
            if cell:
                yield _indented(_text(f"{heading}: {cell}", _STYLES[row.kind]), len(PART_MARK))


def _widths(table: Table, room: int) -> dict[int, int]:
    """Give the columns that fit into the room their widths, or none where even the indispensable ones do not fit."""
    for left_out in range(len(table.dispensable) + 1):
        columns = [each for each in range(len(table.header)) if each not in table.dispensable[:left_out]]
        least = {column: _least(table, column) for column in columns}
        spare = room - sum(least.values()) - _GAP * (len(columns) - 1)
        if spare >= 0:
            return _widened(table, least, spare)
    return {}


def _widened(table: Table, least: Mapping[int, int], spare: int) -> dict[int, int]:
    widths = {}
    for column, width in least.items():
        widths[column] = min(_longest(_texts(table, column)), width + spare)
        spare -= widths[column] - width
    return widths


def _least(table: Table, column: int) -> int:
    """Return the width of a column of numbers, or that in which texts wrap into about two lines of whole words."""
    texts = _texts(table, column)
    longest = _longest(texts)
    if column not in table.texts:
        return longest
    return min(TEXT_WIDTH, max(longest // 2, _longest(word for text in texts for word in text.split())))


def _texts(table: Table, column: int) -> list[str]:
    return [clean(table.header[column]), *(cells_of(row)[column] for row in table.rows)]


def _longest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _indented(text: Text, left: int) -> Padding:
    return Padding(text, (0, 0, 0, left))


def _text(text: str, style: str = "") -> Text:
    return Text(clean(text), style=style)
