"""Decode a text whose encoding is not known for sure, piece by piece: a long one never lies there twice."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

PIECE_BYTES: Final = 1 << 20
_UTF_8: Final = "utf-8"
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as the mark of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings of text; Python knows others by names like these that are none.
_KNOWN: Final = re.compile(
    r"(utf-?(8|16|32)|iso-?8859|iso-?2022|cp\d|windows-|latin|us-ascii|ascii|koi8|mac|gb|big5|euc|shift|sjis|tis|hz)[a-z0-9:.-]*"
)
# Their bytes look like ASCII, and so like UTF-8, and mean something else.
_UNLIKE_ASCII: Final = ("utf-16", "utf16", "utf-32", "utf32", "iso-2022", "iso2022", "hz")


def encodings(data: bytes, charset: str) -> tuple[str, ...]:
    """List the encodings in which a text may be, the likeliest first.

    What a document says by its mark holds. What is UTF-8 by its bytes is UTF-8, whatever its server says.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return (encoding,)
    stated = charset.strip().strip("\"'").lower().replace("_", "-")
    if not _KNOWN.fullmatch(stated) or not _exists(stated):
        return (_UTF_8,)
    return (stated, _UTF_8) if stated.startswith(_UNLIKE_ASCII) else (_UTF_8, stated)


def decoded(data: bytes, encoding: str) -> Iterator[str]:
    """Decode in pieces.

    Raises:
        UnicodeError: it is no text in this encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    view = memoryview(data)
    for start in range(0, len(data), PIECE_BYTES):
        yield decoder.decode(view[start : start + PIECE_BYTES])
    yield decoder.decode(b"", final=True)


def _exists(encoding: str) -> bool:
    try:
        codecs.lookup(encoding)
    except LookupError:
        return False
    return True
