"""A passage is found wherever it stands in a document, and nowhere else, in bounded time."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_image.retrieval.fingerprint import Fingerprint, fingerprint, fingerprint_of, normalised
from console.trace.search import BLOCK_BYTES, TooCostlyError, find
from tests.console.trace.reference import lookalike, offsets

WORDS = st.lists(st.text("abcdefghij áçã", min_size=1, max_size=12), min_size=1, max_size=60)
# Few letters, so that windows with equal sums, and equal windows, are many.
DULL = st.text("ab", max_size=400).map(str.encode)


@given(WORDS, st.data())
def test_a_passage_is_found_wherever_its_document_was_cut(words: list[str], data: st.DataObject) -> None:
    """Any run of words of a document is found again in it, at the first offset where it stands."""
    document = normalised(" ".join(words))
    start = data.draw(st.integers(0, len(document)))
    stop = data.draw(st.integers(start, len(document)))
    piece = document[start:stop]

    assert find(fingerprint_of(piece), document) == document.find(piece)


@given(st.one_of(st.binary(min_size=1, max_size=60), DULL), st.one_of(st.binary(max_size=200), DULL))
@example(b"a", b"")
def test_what_is_not_there_is_not_found(piece: bytes, document: bytes) -> None:
    """Nothing is found that the plain search does not find, and nothing that a search byte by byte does not."""
    wanted = fingerprint_of(piece)

    found = find(wanted, document)

    assert found == next(offsets(wanted, document), None)
    assert (-1 if found is None else found) == document.find(piece)


@given(DULL, st.integers(0, 400), st.integers(0, 400))
def test_a_lookalike_is_not_found(document: bytes, start: int, length: int) -> None:
    """An equal weak checksum is not enough, however many windows have it."""
    assert find(lookalike(document[start : start + length]), document) is None


def test_an_equal_weak_checksum_is_not_enough() -> None:
    """Two texts of one length with one Adler-32 are told apart by the strong hash."""
    # Swapping around a symmetric centre keeps both sums of Adler-32.
    one, other = b"\x01\x00\x00\x01", b"\x00\x01\x01\x00"
    assert zlib.adler32(one) == zlib.adler32(other)

    assert find(fingerprint_of(one), other) is None


@pytest.mark.parametrize("length", [1, 2, 255, 1_200, 70_000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1])
@pytest.mark.parametrize("place", [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES])
def test_a_passage_is_found_at_every_border_of_blocks(length: int, place: int) -> None:
    """Where a block ends means nothing to what is found, however long the passage."""
    chance = random.Random(length * 31 + place)  # noqa: S311 - a document that is the same each time
    document = bytearray(chance.randbytes(3 * BLOCK_BYTES + 5))
    # The byte appears nowhere else: the passage stands at one place alone.
    document = bytearray(document.replace(b"\xfe", b"\xfd"))
    document[place] = 0xFE
    data = bytes(document)

    assert find(fingerprint_of(data[place : place + length]), data) == place


@pytest.mark.parametrize("spare", [0, 1, 2, BLOCK_BYTES + 1])
def test_a_passage_may_be_nearly_all_of_its_document(spare: int) -> None:
    """A window longer than any block rolls like another; a longer one than the document is nowhere."""
    data = random.Random(spare).randbytes(3 * BLOCK_BYTES)  # noqa: S311 - as above
    wanted = fingerprint_of(data[spare:])

    assert find(wanted, data) == spare
    assert find(wanted, data[spare + 1 :]) is None
    assert find(Fingerprint(wanted.text, 10**30), data) is None


def test_long_runs_of_high_bytes_roll_over_the_modulus() -> None:
    """The sums wrap around at 65,521 and still agree with zlib."""
    document = b"\xff" * 1_200_000 + b"needle" + b"\xff" * 150_000

    assert find(fingerprint_of(b"needle" + b"\xff" * 100_000), document) == 1_200_000


def test_nothing_is_found_anywhere_and_a_false_nothing_is_not() -> None:
    """The empty passage stands at the beginning; a fingerprint of words that claims to be empty is refused."""
    assert find(fingerprint(""), b"words") == 0
    assert find(fingerprint(""), b"") == 0
    assert find(Fingerprint(fingerprint("words").text, 0), b"words") is None


@pytest.mark.parametrize("period", [1, 2, 60])
def test_a_document_of_repeats_is_not_hashed_again_and_again(period: int) -> None:
    """A million windows look like the passage and are as good as a few; hashed each, they would be given up."""
    document = bytes(range(65, 65 + period)) * (1_000_000 // period)

    assert find(lookalike(document[:4_800]), document) is None


def test_a_passage_behind_a_million_lookalikes_is_found() -> None:
    """What repeats is passed over, and what stands behind it is not."""
    passage = b"a" * 2_000 + b"\x01\x00\x00\x01"
    other = b"a" * 2_000 + b"\x00\x01\x01\x00"
    document = other * 600 + passage + other

    assert find(fingerprint_of(passage), document) == 600 * len(other)


def ring_of(size: int) -> bytes:
    """Make bytes that, repeated, hold many windows of their length that differ, and all look alike."""
    # One byte leaves and the same enters, so the first sum stays; length and sum are multiples of 256, so does a byte
    # of the second, until it wraps.
    ring = bytearray(random.Random(7).randbytes(size))  # noqa: S311 - as above
    ring[0] = (ring[0] - sum(ring)) % 256
    return bytes(ring)


def test_what_was_refused_in_one_block_is_not_hashed_again_in_the_next() -> None:
    """Hundreds of windows look like the passage, again and again; hashed each time, they would be given up."""
    ring = ring_of(1 << 16)

    assert find(lookalike(ring), ring * (10 * BLOCK_BYTES // len(ring))) is None


def test_a_document_that_was_made_to_take_for_ever_is_given_up() -> None:
    """Its windows all differ and all look like the passage: what is hashed of them has an end, and it is said."""
    ring = ring_of(1 << 18)

    with pytest.raises(TooCostlyError):
        find(lookalike(ring), ring * 3)
