"""Take the text out of a Word document: its body with tables, then headers, footers and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, Final

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from docx.table import Table

from console.trace.sources.refusal import NoTextError
from console.trace.sources.source import Why

_OLE: Final = b"\xd0\xcf\x11\xe0"
_NOTES: Final = (RELATIONSHIP_TYPE.FOOTNOTES, RELATIONSHIP_TYPE.ENDNOTES)
_MARKS: Final = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}


def texts(data: bytes, charset: str) -> Iterator[str]:  # noqa: ARG001 - a page alone has one
    """Give the text: by what the document says of its parts, and by every paragraph that stands in it.

    Raises:
        NoTextError: it opens with a password alone.
    """
    if data.startswith(_OLE):
        raise NoTextError(Why.ENCRYPTED)
    document = Document(BytesIO(data))
    around = [*_edges(document), *_notes(document)]
    yield "\n".join((*_blocks(document), *around))
    # Boxes, controls and what was inserted under review stand in paragraphs that the first way passes over.
    yield "\n".join((*_paragraphs(document.element.body), *around))


def _blocks(container: Any) -> Iterator[str]:  # noqa: ANN401 - a document, a cell, a header: all have blocks
    for block in container.iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield "\t".join("\n".join(_blocks(cell)) for cell in row.cells)
        else:
            yield block.text


def _edges(document: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Give headers and footers, each once: sections share them."""
    seen = set[str]()
    for section in document.sections:
        edges = (section.header, section.first_page_header, section.even_page_header)
        for edge in (*edges, section.footer, section.first_page_footer, section.even_page_footer):
            if edge.is_linked_to_previous:
                continue
            text = "\n".join(_blocks(edge))
            if text not in seen:
                seen.add(text)
                yield text


def _notes(document: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    for relation in document.part.rels.values():
        if relation.reltype in _NOTES and not relation.is_external:
            yield from _paragraphs(parse_xml(relation.target_part.blob))


def _paragraphs(root: Any) -> Iterable[str]:  # noqa: ANN401 - an element of lxml
    """Give every paragraph's text; one that stands within another, as in a box, comes behind it."""
    own = {paragraph: list[str]() for paragraph in root.iter(qn("w:p"))}
    for node in root.iter(qn("w:t"), *_MARKS):
        paragraph = next(node.iterancestors(qn("w:p")), None)
        if paragraph is not None:
            own[paragraph].append(_MARKS.get(node.tag) or node.text or "")
    return ["".join(parts) for parts in own.values()]
