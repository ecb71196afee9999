"""Collect a document that comes in pieces, perhaps packed, and never more of it than is allowed."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

from console.trace.sources.source import Refused, Why, unreadable

_PLAIN: Final = frozenset({"", "identity", "aws-chunked"})
_WINDOWS: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


def collected(pieces: Iterable[bytes], encoding: str, limit_bytes: int) -> bytes | Refused:
    """Put pieces together and unpack them.

    Args:
        pieces: as they came.
        encoding: the content encoding, in small letters; one that is not known is refused.
        limit_bytes: the longest document, unpacked.
    """
    if encoding in _PLAIN:
        return _plain(pieces, limit_bytes)
    if encoding not in _WINDOWS:
        return unreadable(Why.UNSUPPORTED)
    return _unpacked(pieces, _WINDOWS[encoding], limit_bytes)


def _plain(pieces: Iterable[bytes], limit_bytes: int) -> bytes | Refused:
    found = bytearray()
    for piece in pieces:
        found += piece
        if len(found) > limit_bytes:
            return unreadable(Why.TOO_LARGE)
    return bytes(found)


def _unpacked(pieces: Iterable[bytes], window: int, limit_bytes: int) -> bytes | Refused:
    found, unpacker = bytearray(), zlib.decompressobj(window)
    try:
        for piece in pieces:
            rest = piece
            while rest:
                if unpacker.eof:
                    # What was packed in several parts is unpacked as one.
                    unpacker = zlib.decompressobj(window)
                # A few bytes may unpack to all the memory there is: it is told how much to give.
                found += unpacker.decompress(rest, limit_bytes + 1 - len(found))
                if len(found) > limit_bytes:
                    return unreadable(Why.TOO_LARGE)
                rest = unpacker.unused_data
    except zlib.error:
        return unreadable(Why.BROKEN)
    return bytes(found) if unpacker.eof else unreadable(Why.BROKEN)
