"""Hold rows of texts under headings, and write them aligned for a pipe or a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from console.terminal import shown_line


@dataclass(frozen=True, slots=True)
class Table:
    """Hold a table; the texts may come from anywhere, and are escaped where they are shown.

    Attributes:
        header: the headings.
        rows: as many cells as headings, each.
        numbers: the columns that stand to the right.
        title: what it is about; empty where the command says that.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    title: str = ""


def plain(table: Table) -> str:
    """Write a table as lines without trailing spaces."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(table))


def _lines(table: Table) -> Iterator[str]:
    rows = [tuple(shown_line(cell) for cell in row) for row in (table.header, *table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    if table.title:
        yield shown_line(table.title)
    yield _aligned(rows[0], widths, table)
    yield "  ".join("-" * width for width in widths)
    for row in rows[1:]:
        yield _aligned(row, widths, table)


def _aligned(row: tuple[str, ...], widths: list[int], table: Table) -> str:
    pairs = enumerate(zip(row, widths, strict=True))
    return "  ".join(
        cell.rjust(width) if column in table.numbers else cell.ljust(width) for column, (cell, width) in pairs
    )
