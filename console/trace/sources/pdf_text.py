"""Take the text out of a PDF: in the order in which it was written, and as it lies on the page."""

from __future__ import annotations

import time
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError

from console.trace.sources.refusal import NoTextError
from console.trace.sources.source import Why

_LAYOUT_SECONDS: Final = 15
"""Processor time from which on a document is not read a second time, by its layout, which takes longer."""


def texts(data: bytes, charset: str) -> Iterator[str]:  # noqa: ARG001 - a page alone has one
    """Give the text, in two ways; words that are hyphenated at a line's end stay so.

    Raises:
        NoTextError: it is encrypted, or holds no text.
    """
    reader = PdfReader(BytesIO(data), strict=False)
    # Without a password for reading, it opens with an empty one.
    if reader.is_encrypted and not _opens(reader):
        raise NoTextError(Why.ENCRYPTED)
    started = time.process_time()
    plain = _pages(reader)
    yield plain
    if plain.strip() and time.process_time() - started < _LAYOUT_SECONDS:
        yield _pages(reader, extraction_mode="layout")


def _opens(reader: PdfReader) -> bool:
    try:
        return bool(reader.decrypt(""))
    except (PyPdfError, DependencyError, NotImplementedError):
        return False


def _pages(reader: PdfReader, **mode: Any) -> str:
    found, broken = [], 0
    for page in reader.pages:
        # What one page does to its reader takes nothing from the others.
        try:
            found.append(page.extract_text(**mode))
        except (MemoryError, RecursionError):
            raise
        except Exception:  # noqa: BLE001 - as above
            broken += 1
    text = "\n".join(found)
    if broken and not text.strip():
        raise NoTextError(Why.MALFORMED)
    return text
