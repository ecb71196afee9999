"""Write documents as people's programs do: PDF and Word, in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from docx import Document
from reportlab.lib.pdfencrypt import StandardEncryption  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]


def pdf(*pages: Sequence[str], password: str | None = None) -> bytes:
    """Write lines on pages; a password is needed to read it where one is given, be it empty."""
    into = BytesIO()
    encryption = None if password is None else StandardEncryption(password, "owner", strength=128)
    canvas = Canvas(into, encrypt=encryption)
    for lines in pages:
        for n, line in enumerate(lines):
            canvas.drawString(72, 760 - 18 * n, line)
        canvas.showPage()
    canvas.save()
    return into.getvalue()


def scanned() -> bytes:
    """Write a page that holds a drawing and no letter."""
    into = BytesIO()
    canvas = Canvas(into)
    canvas.rect(72, 72, 300, 300, fill=1)
    canvas.showPage()
    canvas.save()
    return into.getvalue()


def word(write: Callable[[Any], object]) -> bytes:
    """Write a Word document."""
    document, into = Document(), BytesIO()
    write(document)
    document.save(into)
    return into.getvalue()


FOOTNOTES = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def with_parts(document: bytes, body: str = "", footnote: str = "") -> bytes:
    """Put XML into a document's body, before its end, and a footnote beside it."""
    into = BytesIO()
    with ZipFile(BytesIO(document)) as old, ZipFile(into, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name).decode("utf-8", "surrogateescape")
            if name == "word/document.xml":
                data = data.replace("<w:sectPr", f"{body}<w:sectPr", 1)
            if footnote and name == "[Content_Types].xml":
                part = f'<Override PartName="/word/footnotes.xml" ContentType="{FOOTNOTES}"/>'
                data = data.replace("</Types>", f"{part}</Types>")
            if footnote and name == "word/_rels/document.xml.rels":
                relation = f'<Relationship Id="rIdN" Type="{_RELATION}" Target="footnotes.xml"/>'
                data = data.replace("</Relationships>", f"{relation}</Relationships>")
            new.writestr(name, data.encode("utf-8", "surrogateescape"))
        if footnote:
            note = f'<w:footnote w:id="2"><w:p><w:r><w:t>{footnote}</w:t></w:r></w:p></w:footnote>'
            new.writestr("word/footnotes.xml", f'<w:footnotes xmlns:w="{_W}">{note}</w:footnotes>')
    return into.getvalue()


def paragraph(inner: str) -> str:
    """Write a paragraph's XML around runs."""
    return f"<w:p>{inner}</w:p>"


def run(text: str) -> str:
    """Write a run's XML."""
    return f"<w:r><w:t>{text}</w:t></w:r>"
