"""Hold the plain form of the search: one pass in pure Python, as rsync rolls its checksum."""

from __future__ import annotations

import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator

from agent_image.retrieval.fingerprint import STRONG_BYTES, WEAK_BYTES, Fingerprint, fingerprint_of

_ADLER_MODULUS = 65_521


def offsets(wanted: Fingerprint, document: bytes) -> Iterator[int]:
    """Give every offset at which a document holds the fingerprinted text."""
    length = wanted.length
    if length > len(document):
        return
    if length == 0:
        yield from [0] if wanted == fingerprint_of(b"") else []
        return
    weak = int.from_bytes(urlsafe_b64decode(wanted.text)[:WEAK_BYTES], "big")
    for offset in _weak_matches(weak, length, document):
        if fingerprint_of(document[offset : offset + length]) == wanted:
            yield offset


def _weak_matches(weak: int, length: int, document: bytes) -> Iterator[int]:
    checksum = zlib.adler32(document[:length])
    low, high = checksum & 0xFFFF, checksum >> 16
    wanted_low, wanted_high = weak & 0xFFFF, weak >> 16
    if low == wanted_low and high & 0xFF == wanted_high:
        yield 0
    for offset, (leaving, entering) in enumerate(zip(document, document[length:], strict=False), start=1):
        low = (low - leaving + entering) % _ADLER_MODULUS
        high = (high - length * leaving + low - 1) % _ADLER_MODULUS
        if low == wanted_low and high & 0xFF == wanted_high:
            yield offset


def lookalike(window: bytes) -> Fingerprint:
    """Forge a fingerprint with a window's weak checksum, and the strong hash of nothing that anybody knows."""
    weak = (zlib.adler32(window) & 0xFF_FFFF).to_bytes(WEAK_BYTES, "big")
    return Fingerprint(urlsafe_b64encode(weak + b"\xff" * STRONG_BYTES).decode(), len(window))
