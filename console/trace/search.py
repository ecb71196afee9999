"""Find a fingerprinted passage anywhere in a normalised document, in time linear in the document and little memory.

The weak checksum rolls: how both of Adler's sums change from one offset to the next is known from the byte that leaves
and the byte that enters, so cumulative sums over a block give the checksum of every window in it, whatever its length.
The strong hash is asked only where the weak checksum agrees, and once for each distinct window.
"""

from __future__ import annotations

import secrets
import zlib
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agent_image.retrieval.fingerprint import WEAK_BYTES, Fingerprint

BLOCK_BYTES: Final = 1 << 19
"""Offsets that are looked at in one go; what they take stays in a processor's cache, or near it."""
HASHED_TIMES: Final = 16
"""How many times a document's own length may be hashed in the search for one passage; text needs less than twice."""
HASHED_BYTES: Final = 1 << 26
"""How many bytes may be hashed beside, so that a short document is not given up for a few windows nearly as long."""
_ADLER_MODULUS: Final = 65_521
_MANY: Final = 64
"""Candidates of one block from which on it pays to look for windows that repeat."""
# A multiple of the modulus that keeps a block's sums above zero; below 2**32 with a block's sums on top.
_LIFT: Final = _ADLER_MODULUS * (255 * BLOCK_BYTES // _ADLER_MODULUS + 1)
# Windows that repeat are told by polynomials at points that nobody can know before: two that differ get one name with
# a chance of (length / 2**31) squared, and only where both already look like the passage.
_PRIME: Final = (1 << 31) - 1


class TooCostlyError(Exception):
    """Say that a document holds too many windows that look like the passage: it was made to."""


def find(wanted: Fingerprint, document: bytes) -> int | None:
    """Find the first offset, in bytes, at which a normalised document holds the fingerprinted text.

    Raises:
        TooCostlyError: the document was made to take for ever.
    """
    raw = urlsafe_b64decode(wanted.text)
    passage = _Passage(int.from_bytes(raw[:WEAK_BYTES], "big"), raw[WEAK_BYTES:], wanted.length)
    if wanted.length > len(document):
        return None
    if wanted.length == 0:
        return 0 if passage.is_at(document, 0) and zlib.adler32(b"") == passage.weak else None
    return _first(passage, document)


@dataclass(frozen=True, slots=True)
class _Passage:
    """Hold a fingerprint taken apart."""

    weak: int
    strong: bytes
    length: int

    def is_at(self, document: bytes, offset: int) -> bool:
        window = memoryview(document)[offset : offset + self.length]
        return sha256(window).digest()[: len(self.strong)] == self.strong


def _first(passage: _Passage, document: bytes) -> int | None:
    left, refused = HASHED_TIMES * len(document) + HASHED_BYTES, set[int]()
    repeats = _Repeats(document, passage.length)
    for candidates in _candidates(passage, document):
        for offset, name in repeats.distinct(candidates):
            if name in refused:
                continue
            if left < 0:
                raise TooCostlyError
            if passage.is_at(document, offset):
                return offset
            left -= passage.length
            if name is not None:
                refused.add(name)
    return None


def _candidates(passage: _Passage, document: bytes) -> Iterator[NDArray[np.int64]]:
    """Give, block by block, the offsets at which the weak checksum agrees."""
    offsets = len(document) - passage.length + 1
    for start in range(0, offsets, BLOCK_BYTES):
        found = _in_block(passage, document, start, min(BLOCK_BYTES, offsets - start))
        if found.size:
            yield found + start


def _in_block(passage: _Passage, document: bytes, start: int, count: int) -> NDArray[np.int64]:
    """Roll both sums over `count` offsets from one on."""
    length = passage.length
    checksum = zlib.adler32(memoryview(document)[start : start + length])
    leaving = np.frombuffer(document, np.uint8, count - 1, start)
    entering = np.frombuffer(document, np.uint8, count - 1, start + length)
    # All of the one sum is known: most offsets end here.
    steps = np.empty(count, np.int32)
    steps[0] = (checksum & 0xFFFF) + _LIFT
    np.subtract(entering, leaving, out=steps[1:], dtype=np.int32)
    low = np.cumsum(steps, dtype=np.int32, out=steps).view(np.uint32) % np.uint32(_ADLER_MODULUS)
    found = np.flatnonzero(low == (passage.weak & 0xFFFF))
    if not found.size:
        return found
    # Of the other, a byte is: it changes by the first sum, less what the byte that leaves had put in.
    steps64 = np.empty(count, np.int64)
    steps64[0] = checksum >> 16
    np.multiply(leaving, -(length % _ADLER_MODULUS), out=steps64[1:], dtype=np.int64)
    steps64[1:] += low[1:]
    steps64[1:] -= 1
    high = np.cumsum(steps64, out=steps64)[found] % _ADLER_MODULUS
    agreeing: NDArray[np.int64] = found[(high & 0xFF) == passage.weak >> 16]
    return agreeing


class _Repeats:
    """Tell which of many windows are the same, so that a document that repeats itself is not hashed again and again."""

    def __init__(self, document: bytes, length: int) -> None:
        self._document = document
        self._length = length
        self._bases = tuple(secrets.randbelow(_PRIME - 2) + 2 for _ in range(2))

    def distinct(self, candidates: NDArray[np.int64]) -> Iterator[tuple[int, int | None]]:
        """Give the first offset of each distinct window, in order, with a name for its bytes where they are many."""
        if candidates.size < _MANY:
            yield from ((int(offset), None) for offset in candidates)
            return
        one, other = (self._names(candidates, base) for base in self._bases)
        names = (one << np.uint64(32)) | other
        _, firsts = np.unique(names, return_index=True)
        yield from ((int(candidates[first]), int(names[first])) for first in np.sort(firsts))

    def _names(self, candidates: NDArray[np.int64], base: int) -> NDArray[np.uint64]:
        """Evaluate each window as a polynomial, rolled over all offsets between the first candidate and the last."""
        start, count = int(candidates[0]), int(candidates[-1] - candidates[0])
        powers = _powers(base, count + 1)
        leaving = np.frombuffer(self._document, np.uint8, count, start).astype(np.uint64)
        entering = np.frombuffer(self._document, np.uint8, count, start + self._length).astype(np.uint64)
        # Prefix sums of d[j] * base**j, at both ends of the window; divided by base**offset as base**(count - offset).
        gone = np.cumsum(leaving * powers[:-1] % _PRIME)
        come = np.cumsum(entering * powers[:-1] % _PRIME) % _PRIME * np.uint64(pow(base, self._length, _PRIME))
        first = np.uint64(_polynomial(self._document, start, self._length, base))
        sums = np.empty(count + 1, np.uint64)
        sums[0] = first
        sums[1:] = (come % _PRIME + (first + np.uint64(_PRIME)) - gone % _PRIME) % _PRIME
        return (sums * powers[::-1] % _PRIME)[candidates - start]


def _polynomial(document: bytes, start: int, length: int, base: int) -> int:
    total, factor = 0, 1
    powers = _powers(base, min(BLOCK_BYTES, length))
    for at in range(start, start + length, BLOCK_BYTES):
        block = np.frombuffer(document, np.uint8, min(BLOCK_BYTES, start + length - at), at)
        total += factor * int((block * powers[: block.size] % _PRIME).sum())
        factor = factor * pow(base, BLOCK_BYTES, _PRIME) % _PRIME
    return total % _PRIME


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    """Give the powers of a base from 0 on, each block of them from the one before."""
    powers = np.ones(count, np.uint64)
    done = 1
    while done < count:
        more = min(done, count - done)
        powers[done : done + more] = powers[:more] * np.uint64(pow(base, done, _PRIME)) % _PRIME
        done += more
    return powers
