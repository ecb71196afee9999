"""Prepare a document once, and find in it as many passages as stand there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agent_image.retrieval.fingerprint import Fingerprint
from console.trace.normalising import normalised_pieces
from console.trace.search import find
from console.trace.sources.decoding import decoded, encodings
from console.trace.sources.extraction import Extraction
from console.trace.sources.media import Kind, kind_of, media_type_of
from console.trace.sources.source import Content, Refused, Why, unreadable

_LONGEST_CHARACTER: Final = 4
"""Bytes of UTF-8."""


@dataclass(frozen=True, slots=True)
class Text:
    """Hold one text of a document, normalised, and whether it had to be extracted."""

    data: bytes
    extracted: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Hold a passage that was found: its normalised words, and up to so many characters around them."""

    words: str
    before: str
    after: str
    extracted: bool


@dataclass(frozen=True, slots=True)
class Document:
    """Hold a document ready to be searched.

    Attributes:
        media_type: what it is.
        texts: what can be read of it, each in its own way; an extractor may have read it in any of them.
    """

    media_type: str
    texts: tuple[Text, ...]

    @property
    def extracted(self) -> bool:
        """Tell whether its text is one of several that could be taken out of it."""
        return any(text.extracted for text in self.texts)

    def find(self, wanted: Fingerprint, words: bytes | None, surroundings: int) -> Found | None:
        """Find a passage.

        Args:
            wanted: its fingerprint.
            words: its normalised words where they are known already, which is quicker.
            surroundings: characters to give before and after it.

        Raises:
            TooCostlyError: the document was made to take for ever.
        """
        for text in self.texts:
            offset = find(wanted, text.data) if words is None else text.data.find(words)
            if offset is not None and offset >= 0:
                return _found(text, offset, wanted.length, surroundings)
        return None


def prepared(content: Content, extraction: Extraction) -> Document | Refused:
    """Make a document ready, or say why nothing of it can be read."""
    media_type = media_type_of(content)
    kind = kind_of(media_type)
    if kind is Kind.UNSUPPORTED:
        return unreadable(Why.UNSUPPORTED)
    if kind is Kind.TEXT:
        raw = _decoded(content)
        return unreadable(Why.NOT_TEXT) if raw is None else Document(media_type, (Text(raw),))
    taken = extraction.texts(kind, content)
    if isinstance(taken, Refused):
        return taken
    texts = tuple(Text(text, extracted=True) for text in taken)
    if kind is Kind.HTML and (raw := _decoded(content)) is not None:
        # Some knowledge bases index a page as it was written.
        texts = (*texts, Text(raw))
    return Document(media_type, texts)


def _decoded(content: Content) -> bytes | None:
    for encoding in encodings(content.data, content.charset):
        try:
            data = normalised_pieces(decoded(content.data, encoding))
        except UnicodeError:
            continue
        # A character that no text has: it is something else, which happens to decode.
        if b"\0" not in data:
            return data
    return None


def _found(text: Text, offset: int, length: int, surroundings: int) -> Found:
    end, reach = offset + length, surroundings * _LONGEST_CHARACTER
    before = text.data[max(0, offset - reach) : offset].decode("utf-8", "ignore")
    after = text.data[end : end + reach].decode("utf-8", "ignore")
    return Found(
        words=text.data[offset:end].decode("utf-8", "replace"),
        before=before[len(before) - min(surroundings, len(before)) :],
        after=after[:surroundings],
        extracted=text.extracted,
    )
