"""Find a passage's words in the texts that a session keeps, and write these again without them. Pure.

A passage is found where it stands as one, by its fingerprint; and anywhere else by its words, whatever white space and
composition they have there, and however often they are escaped. Words that are too few to be anybody's are looked for
in passages alone.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from agent_image.guard.wording import Rewrite
from agent_image.retrieval.fingerprint import Fingerprint, fingerprint, normalised
from agent_image.tools.reading import parse, rewritten
from console.erase.escaped import Unescaped
from console.trace.search import TooCostlyError, find

LEAST_BYTES: Final = 24
"""Normalised bytes that words have at least to be looked for outside of passages: fewer stand anywhere by chance."""
_WORD: Final = re.compile(r"\S+")


def mark(fingerprint_text: str) -> str:
    """Write what stands in the place of an erased passage."""
    return f"[erased: {fingerprint_text}]"


def without(fingerprint_text: str, words: bytes | None) -> Rewrite:
    """Give what writes a text again without a passage; `words` are normalised, None where nobody knows them."""
    put = mark(fingerprint_text)

    def rewrite(text: str) -> str:
        found = rewritten(text, lambda passage: put if fingerprint(passage).text == fingerprint_text else None)
        return found if words is None else replaced(found, words, put)

    return rewrite


def words_in(texts: Iterable[str], fingerprint_text: str, lengths: Collection[int]) -> bytes | None:
    """Learn a passage's words from texts that may hold them; `lengths` are those that its addresses name."""
    held = list(texts)
    for text in held:
        for _, passage in parse(text):
            if fingerprint(passage).text == fingerprint_text:
                return normalised(passage)
    wanted = [Fingerprint(fingerprint_text, length) for length in sorted(lengths) if length >= LEAST_BYTES]
    return next((words for text in held for one in wanted if (words := _window(one, normalised(text)))), None)


def replaced(text: str, words: bytes, put: str) -> str:
    """Write a text again with something else in the place of words, wherever they stand."""
    if len(words) < LEAST_BYTES:
        return text
    plain = text
    if words in normalised(text):
        plain = _put(put, text, _Mapped.of(text).spans(words))
    # Nothing is escaped without one.
    return _unescaped_replaced(plain, words, put) if "\\" in plain else plain


def _unescaped_replaced(text: str, words: bytes, put: str) -> str:
    # Words may hold backslashes of their own: both are read in the same way.
    read, wanted = Unescaped.of(text), normalised(Unescaped.of(words.decode()).text)
    if len(wanted) < LEAST_BYTES or wanted not in normalised(read.text):
        return text
    spans = ((read.starts[start], read.starts[end]) for start, end in _Mapped.of(read.text).spans(wanted))
    return _put(put, text, spans)


def _put(put: str, text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], put]
        done = max(done, end)
    return "".join((*parts, text[done:]))


def _window(wanted: Fingerprint, document: bytes) -> bytes | None:
    try:
        start = find(wanted, document)
    except TooCostlyError:
        # Somebody made it so; as a passage it would have been found.
        return None
    return None if start is None else document[start : start + wanted.length]


@dataclass(frozen=True, slots=True)
class _Mapped:
    """Hold a text's words as they are normalised, and where each stands: in the text, and in the normalised one."""

    document: bytes
    found: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    text: str

    @classmethod
    def of(cls, text: str) -> _Mapped:
        # Between white space and a word nothing composes: words may be normalised one by one.
        found = [match.span() for match in _WORD.finditer(text)]
        words = [normalised(text[start:end]) for start, end in found]
        starts, at = [], 0
        for word in words:
            starts.append(at)
            at += len(word) + 1
        return cls(b" ".join(words), tuple(found), tuple(starts), tuple(map(len, words)), text)

    def spans(self, words: bytes) -> Iterator[tuple[int, int]]:
        """Give where words stand in the text, as offsets of characters."""
        at = self.document.find(words)
        while at >= 0:
            end = at + len(words)
            yield self._start(at), self._end(end)
            at = self.document.find(words, end)

    def _start(self, at: int) -> int:
        number = bisect_right(self.starts, at) - 1
        return self._inside(number, at - self.starts[number], whole=self.found[number][0])

    def _end(self, end: int) -> int:
        number = bisect_left(self.starts, end) - 1
        return self._inside(number, end - self.starts[number], whole=self.found[number][1])

    def _inside(self, number: int, offset: int, *, whole: int) -> int:
        """Map an offset within a word; of one that is written otherwise than normalised, the whole word counts."""
        start, end = self.found[number]
        word = self.text[start:end]
        if offset in {0, self.sizes[number]} or not unicodedata.is_normalized("NFC", word):
            return whole
        return start + len(word.encode("utf-8", "replace")[:offset].decode())
