"""Take the text out of an HTML page, in the ways in which extractors do: they differ in where they see a blank."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator
from typing import Final

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from bs4.element import CData, NavigableString, PageElement, Tag

from console.trace.sources.decoding import decoded, encodings
from console.trace.sources.refusal import NoTextError
from console.trace.sources.source import Why

_CHARSET: Final = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_HEAD_BYTES: Final = 4_096
_NO_TEXT: Final = frozenset({"script", "style", "template"})
_FRAME: Final = frozenset({"head", "nav", "header", "footer", "aside"})
"""What an extractor of a page's own words leaves out."""
_BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "dialog", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
        *("li", "main", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th"),
        *("thead", "title", "tr", "ul"),
    }
)
_BORDER: Final = NavigableString("\n")
_SHOWN: Final = frozenset({NavigableString, CData})
"""Strings of a page that are words: no remarks, no scripts."""


def texts(data: bytes, charset: str) -> Iterator[str]:
    """Give the text: as a browser shows it, with no blank at any tag, with a blank at every tag; whole and unframed.

    Raises:
        NoTextError: it is no text in any encoding that it names.
    """
    warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
    page = BeautifulSoup(_markup(data, charset), "html.parser")
    for left_out in (_NO_TEXT, _NO_TEXT | _FRAME):
        parts = [*_parts(page, left_out)]
        yield "".join(parts)
        words = [part for part in parts if part is not _BORDER]
        yield "".join(words)
        yield " ".join(words)


def _parts(page: Tag, left_out: Collection[str]) -> Iterator[str]:
    """Give the words of a page, with a border around each block; a page may be nested deeper than a stack of calls."""
    waiting: list[PageElement] = [page]
    while waiting:
        node = waiting.pop()
        if isinstance(node, NavigableString):
            if node is _BORDER or type(node) in _SHOWN:
                yield node
        elif isinstance(node, Tag) and node.name not in left_out:
            borders = [_BORDER] if node.name in _BLOCKS else []
            waiting += [*borders, *reversed(node.contents), *borders]


def _markup(data: bytes, charset: str) -> str:
    for encoding in encodings(data, charset or _stated(data)):
        try:
            return "".join(decoded(data, encoding))
        except UnicodeError:
            continue
    raise NoTextError(Why.NOT_TEXT)


def _stated(data: bytes) -> str:
    """Read what a page says of itself; what it says in ASCII, it does not say in UTF-16."""
    found = _CHARSET.search(data[:_HEAD_BYTES])
    charset = found[1].decode().lower() if found else ""
    return "" if charset.startswith("utf-16") else charset
