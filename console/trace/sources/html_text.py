"""Take the text out of an HTML page, in the ways in which extractors do: they differ in where they see a blank."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Final

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

from console.trace.sources.decoding import decoded, encodings
from console.trace.sources.refusal import NoTextError
from console.trace.sources.source import Why

_CHARSET: Final = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_HEAD_BYTES: Final = 4_096
_NO_TEXT: Final = ("script", "style", "template")
_FRAME: Final = ("head", "nav", "header", "footer", "aside")
"""What an extractor of a page's own words leaves out."""
_BLOCKS: Final = (
    *("address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "dialog", "div", "dl", "dt"),
    *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"),
    *("main", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead"),
    *("title", "tr", "ul"),
)


def texts(data: bytes, charset: str) -> Iterator[str]:
    """Give the text: with no blank at any tag, as a browser shows it, with a blank at every tag; whole and unframed.

    Raises:
        NoTextError: it is no text in any encoding that it names.
    """
    warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
    markup = _markup(data, charset)
    for left_out in ((), _FRAME):
        page = BeautifulSoup(markup, "html.parser")
        for tag in page.find_all((*_NO_TEXT, *left_out)):
            tag.decompose()
        yield page.get_text()
        yield page.get_text(" ")
        for tag in page.find_all(_BLOCKS):
            tag.insert_before("\n")
            tag.insert_after("\n")
        yield page.get_text()


def _markup(data: bytes, charset: str) -> str:
    stated = _CHARSET.search(data[:_HEAD_BYTES])
    for encoding in encodings(data, charset or (stated[1].decode() if stated else "")):
        try:
            return "".join(decoded(data, encoding))
        except UnicodeDecodeError:
            continue
    raise NoTextError(Why.NOT_TEXT)
