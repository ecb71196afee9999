"""A document is unpacked as it comes, and never to more than is allowed."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.trace.sources.source import Why, unreadable
from console.trace.sources.unpacking import collected

LIMIT = 1_000


@given(st.binary(max_size=300), st.sampled_from(["", "identity", "gzip", "x-gzip", "deflate"]), st.integers(1, 50))
def test_what_was_packed_comes_out_whole(data: bytes, encoding: str, step: int) -> None:
    """However it is packed, and in whatever pieces it comes."""
    packed = zlib.compress(data) if encoding == "deflate" else gzip.compress(data) if "gzip" in encoding else data
    pieces = [packed[start : start + step] for start in range(0, len(packed), step)]

    assert collected(iter(pieces), encoding, LIMIT) == data


@pytest.mark.parametrize("cut", [0, 1, 9])
def test_what_breaks_off_is_broken(cut: int) -> None:
    """A part of a document is not the document."""
    packed = gzip.compress(b"words " * 50)

    assert collected(iter([packed[:-1] if not cut else packed[:cut]]), "gzip", LIMIT) == unreadable(Why.BROKEN)
    assert collected(iter([b"no gzip at all"]), "gzip", LIMIT) == unreadable(Why.BROKEN)


def test_what_was_packed_in_parts_is_one_document() -> None:
    """As `cat one.gz two.gz` makes it: the first part alone would be less than the document."""
    packed = gzip.compress(b"Thirty ") + gzip.compress(b"days.")

    assert collected(iter([packed]), "gzip", LIMIT) == b"Thirty days."
    assert collected(iter([packed[:10], packed[10:30], packed[30:]]), "gzip", LIMIT) == b"Thirty days."
    assert collected(iter([packed + b"rest"]), "gzip", LIMIT) == unreadable(Why.BROKEN)


def test_a_bomb_is_not_unpacked_to_see_how_large_it_is() -> None:
    """Some kilobytes that would be many megabytes take no more memory than is allowed."""
    bomb = gzip.compress(bytes(64 << 20))
    tracemalloc.start()
    try:
        assert collected(iter([bomb]), "gzip", LIMIT) == unreadable(Why.TOO_LARGE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1 << 20


def test_what_nobody_can_unpack_within_bounds_is_refused() -> None:
    """Not: taken for text."""
    assert collected(iter([b"x"]), "br", LIMIT) == unreadable(Why.UNSUPPORTED)
