"""Write a report as aligned text for a pipe or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cost_model.render.document import Kind, Row, Section, Table
from cost_model.render.figures import clean

PART_MARK = "  - "


def render_plain(sections: Iterable[Section]) -> str:
    """Return the whole report, each line without trailing spaces."""
    lines = [line for section in sections for line in (*_section(section), "")]
    return "\n".join(clean(line).rstrip() for line in lines).rstrip("\n") + "\n"


def _section(section: Section) -> Iterator[str]:
    yield section.title
    if section.table:
        yield ""
        yield from _table(section.table)
    for remark in section.said:
        yield ""
        yield f"{remark.heading}:"
        yield from (f"  {item}" for item in remark.items)


def _table(table: Table) -> Iterator[str]:
    rows = [table.header, *(cells_of(row) for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    rule = ["-" * width for width in widths]
    yield _aligned(table.header, widths, table)
    yield "  ".join(rule)
    for row, cells in zip(table.rows, rows[1:], strict=True):
        if row.kind is Kind.TOTAL and row is next(each for each in table.rows if each.kind is Kind.TOTAL):
            yield "  ".join(rule)
        yield _aligned(cells, widths, table)


def cells_of(row: Row) -> tuple[str, ...]:
    """Return a row's texts without control characters, the label of a part marked as one."""
    label, *rest = (clean(cell) for cell in row.cells)
    return (f"{PART_MARK}{label}" if row.kind is Kind.PART else label, *rest)


def _aligned(cells: tuple[str, ...], widths: list[int], table: Table) -> str:
    pairs = zip(cells, widths, strict=True)
    return "  ".join(
        cell.ljust(width) if column in table.texts else cell.rjust(width) for column, (cell, width) in enumerate(pairs)
    )
