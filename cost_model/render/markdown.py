"""Write a report as GitHub-flavoured Markdown, for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from cost_model.render.document import Kind, Row, Section, Table
from cost_model.render.figures import clean

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|~])")


def render_markdown(sections: Iterable[Section]) -> str:
    """Return the whole report."""
    return "\n".join(line for section in sections for line in (*_section(section), "")).rstrip("\n") + "\n"


def escape(text: str) -> str:
    """Take from a text what Markdown or HTML would act on."""
    return _SPECIAL.sub(r"\\\1", clean(text))


def _section(section: Section) -> Iterator[str]:
    yield f"### {escape(section.title)}"
    if section.table:
        yield ""
        yield from _table(section.table)
    for remark in section.said:
        yield ""
        yield f"**{escape(remark.heading)}**"
        yield ""
        yield from (f"- {escape(item)}" for item in remark.items)


def _table(table: Table) -> Iterator[str]:
    yield _joined(escape(cell) for cell in table.header)
    yield _joined(":---" if column in table.texts else "---:" for column in range(len(table.header)))
    for row in table.rows:
        yield _joined(_cells(row))


def _cells(row: Row) -> Iterator[str]:
    for column, cell in enumerate(escape(cell) for cell in row.cells):
        if row.kind is Kind.TOTAL:
            yield f"**{cell}**" if cell else ""
        elif row.kind is Kind.PART:
            yield f"↳ {cell}" if column == 0 else f"*{cell}*" if cell else ""
        else:
            yield cell


def _joined(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
