"""Write tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a table; a bar within a cell is escaped."""
    names = list(head)
    return "\n".join([_row(names), f"|{'---|' * len(names)}", *map(_row, rows)])


def code(values: Iterable[object]) -> str:
    """List values, each as code."""
    return ", ".join(f"`{value}`" for value in values)


def lines(values: Iterable[object]) -> str:
    """List values, each as code on a line of its own within a cell."""
    return "<br>".join(f"`{value}`" for value in values)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
