"""Print a report on a terminal. This module alone imports rich, and only a terminal makes it load."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from cost_model.render.document import Kind, Section, Table
from cost_model.render.figures import clean
from cost_model.render.plain import PART_MARK

_STYLES = {Kind.LINE: "", Kind.PART: "dim", Kind.TOTAL: "bold"}


def print_terminal(sections: Iterable[Section], console: Console | None = None) -> None:
    """Print every section; texts go in as they are, never as markup."""
    console = console or Console()
    for section in sections:
        console.print(_text(section.title, "bold cyan"))
        if section.table:
            console.print(_grid(section.table))
        for remark in section.said:
            console.print(_text(remark.heading, "bold"))
            for item in remark.items:
                console.print(Padding(_text(item, "dim"), (0, 0, 0, 2)))
            console.print()


def _grid(table: Table) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column, heading in enumerate(table.header):
        grid.add_column(_text(heading), justify="left" if column in table.texts else "right")
    for position, row in enumerate(table.rows):
        label, *rest = row.cells
        label = f"{PART_MARK}{label}" if row.kind is Kind.PART else label
        following = table.rows[position + 1 : position + 2]
        before_totals = row.kind is not Kind.TOTAL and any(each.kind is Kind.TOTAL for each in following)
        style = _STYLES[row.kind]
        grid.add_row(*(_text(cell, style) for cell in (label, *rest)), end_section=before_totals)
    return grid


def _text(text: str, style: str = "") -> Text:
    return Text(clean(text), style=style)
