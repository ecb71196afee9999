"""Tell what kind of document it is: by its first bytes, by what its server says, by the ending of its name."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from console.trace.sources.source import Content


class Kind(StrEnum):
    """Name what can be done with a document."""

    TEXT = "text"
    HTML = "html"
    PDF = "pdf"
    WORD = "word"
    UNSUPPORTED = "unsupported"


HTML_TYPE: Final = "text/html"
PDF_TYPE: Final = "application/pdf"
WORD_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_KINDS: Final = {HTML_TYPE: Kind.HTML, "application/xhtml+xml": Kind.HTML, PDF_TYPE: Kind.PDF, WORD_TYPE: Kind.WORD}
_TEXTS: Final = re.compile(
    r"text/(?!rtf|richtext).+|.+\+(json|xml|yaml)"
    r"|application/(json|xml|yaml|x-yaml|toml|csv|x-ndjson|jsonl|javascript|sql|markdown|x-sh)"
)
_NOTATIONS: Final = re.compile(
    r"application/(?!markdown).+|.+\+(json|xml|yaml)|text/(csv|tab-separated-values|xml|json|(x-)?yaml|javascript)"
)
_SUFFIXES: Final = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML_TYPE),
    ".pdf": PDF_TYPE,
    ".docx": WORD_TYPE,
    **dict.fromkeys((".md", ".markdown"), "text/markdown"),
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".adoc", ".tex"), "text/plain"),
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    **dict.fromkeys((".jsonl", ".ndjson"), "application/x-ndjson"),
    ".xml": "application/xml",
    **dict.fromkeys((".yaml", ".yml"), "application/yaml"),
}
# What servers say of files that they know nothing of.
_NOTHING: Final = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/x-unknown", "application/unknown"}
)
_PLAIN: Final = frozenset({*_NOTHING, "text/plain"})
_CONTAINERS: Final = {
    b"PK\x03\x04": "application/zip",
    b"\xd0\xcf\x11\xe0": "application/x-ole-storage",
    b"{\\rtf": "application/rtf",
}
_PAGE: Final = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
_SNIFFED_BYTES: Final = 1_024
_BINARY: Final = "application/octet-stream"


def media_type_of(content: Content) -> str:
    """Say what it is, as a media type."""
    by_name = _SUFFIXES.get(PurePosixPath(content.name).suffix.lower(), "")
    beginning = content.data[:_SNIFFED_BYTES]
    if beginning.lstrip().startswith(b"%PDF-"):
        return PDF_TYPE
    # A Word document with a password is no archive any more, but the container of Office's older formats.
    if container := next((known for mark, known in _CONTAINERS.items() if beginning.startswith(mark)), ""):
        return WORD_TYPE if WORD_TYPE in {by_name, content.media_type} else container
    # Markdown and pages are often served as plain text: the name says more.
    if content.media_type in _PLAIN and by_name:
        return by_name
    if content.media_type in _NOTHING:
        return HTML_TYPE if _PAGE.match(beginning) else _BINARY if b"\0" in beginning else "text/plain"
    return content.media_type


def is_notation(media_type: str) -> bool:
    """Tell whether a text of this type may write words otherwise than an index that read it gives them."""
    return _NOTATIONS.fullmatch(media_type) is not None


def kind_of(media_type: str) -> Kind:
    """Say what can be done with it."""
    if kind := _KINDS.get(media_type):
        return kind
    return Kind.TEXT if _TEXTS.fullmatch(media_type) else Kind.UNSUPPORTED
