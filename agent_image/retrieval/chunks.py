"""Cut a document into passages that overlap, at its own borders where it has them.

Sizes are in characters: they bound what a model reads and what a span carries, whatever the language, and a text
without blanks is cut like any other. A passage is a slice of the document's NFC form, so its normalised text stands in
the normalised document, and whoever has its fingerprint finds it there.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

WINDOW_DEFAULT: Final = 1_200
OVERLAP_DEFAULT: Final = 200
WINDOW_RANGE: Final = range(40, 100_001)

# From the strongest: behind an empty line or before a heading; behind a sentence; between words.
_BORDERS: Final = (
    re.compile(r"\n[^\S\n]*\n\s*|\n(?=#)"),
    re.compile(r"[.!?…:][\"'\u201d\u2019)\]*_]*\s+"),
    re.compile(r"\s+"),
)
_HEADING: Final = re.compile(r"^#[^\n]*\n\s*", re.MULTILINE)

Borders = tuple[Sequence[int], Sequence[int], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Cut:
    """Say how to cut: characters of one passage, and how many of them the next may begin with."""

    window: int = WINDOW_DEFAULT
    overlap: int = OVERLAP_DEFAULT

    def __post_init__(self) -> None:
        """Refuse sizes that lead nowhere, every fault at once."""
        faults = list(self._faults())
        if faults:
            raise ValueError("\n".join(faults))

    def _faults(self) -> Iterator[str]:
        if self.window not in WINDOW_RANGE:
            yield f"window is {self.window}; allowed: {WINDOW_RANGE[0]} to {WINDOW_RANGE[-1]} characters"
        elif not 0 <= self.overlap <= self.window // 2:
            yield f"overlap is {self.overlap}; allowed: 0 to {self.window // 2}, half the window"


def chunks(document: str, cut: Cut) -> Iterator[str]:
    """Cut a document; none of its words is left out."""
    text = unicodedata.normalize("NFC", document)
    borders = _borders(text)
    start, stop = 0, 0
    while stop < len(text):
        stop = _stop(borders, start, cut.window, len(text))
        if passage := text[start:stop].strip():
            yield passage
        start = _start(borders, stop, cut.overlap)


def _borders(text: str) -> Borders:
    """List the offsets of each strength, in order; a heading stays with what it is the heading of."""
    paragraphs, sentences, words = ({found.end() for found in border.finditer(text)} for border in _BORDERS)
    headings = {found.end() for found in _HEADING.finditer(text)}
    return sorted(paragraphs - headings), sorted((paragraphs | sentences) - headings), sorted(words)


def _stop(borders: Borders, start: int, window: int, length: int) -> int:
    """End a passage at the last of the strongest borders in the second half of its window."""
    limit = start + window
    if limit >= length:
        return length
    for border in borders:
        last = bisect_right(border, limit) - 1
        if last >= 0 and border[last] > start + window // 2:
            return border[last]
    return limit


def _start(borders: Borders, stop: int, overlap: int) -> int:
    """Begin the next passage at the first border of a sentence within the overlap, or at least of a word."""
    for border in borders[1:]:
        first = bisect_left(border, stop - overlap)
        if first < len(border) and border[first] < stop:
            return border[first]
    return stop
