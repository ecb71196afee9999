"""A long text is normalised piece by piece, and comes out as if it had been there whole."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_image.retrieval.fingerprint import normalised
from console.trace.normalising import normalised_pieces
from console.trace.sources.decoding import PIECE_BYTES, decoded, encodings

# White space of every kind, marks that compose with what stands before them or change places, Hangul that composes.
PARTS = st.sampled_from(
    [
        *("a", "word", " ", "\n", "\u2000", "\u2001", "\u00a0", "\x1c", "\x85", "e", "\u0301", "\u0323", "\u1100"),
        *("\u1161", "\u11a8", "가", "😀", "\u200b", "\u0344", "\u1e9b", "\u212b", "\u3000", "\u00b4", "\u1fc1"),
    ]
)
PIECES = st.lists(st.lists(PARTS, max_size=8).map("".join), max_size=12)


@given(PIECES)
@example(["e", "\u0301"])
@example(["a ", "\u0301\u0323 b"])
def test_where_its_pieces_end_means_nothing(pieces: list[str]) -> None:
    """Whatever composes across a border of pieces composes."""
    assert normalised_pieces(pieces) == normalised("".join(pieces))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=6))
def test_any_text_in_any_pieces(pieces: list[str]) -> None:
    """Of all of Unicode."""
    assert normalised_pieces(pieces) == normalised("".join(pieces))


def test_a_character_may_lie_across_two_pieces() -> None:
    """Bytes are cut anywhere; characters are not."""
    text = "a" * (PIECE_BYTES - 1) + "é" + " ü" * 10

    assert "".join(decoded(text.encode(), "utf-8")) == text


@pytest.mark.parametrize(
    ("data", "charset", "expected"),
    [
        (b"plain", "", ("utf-8",)),
        (b"plain", "UTF-8", ("utf-8", "utf-8")),
        (b"plain", '"ISO-8859-1"', ("utf-8", "iso-8859-1")),
        (b"plain", "shift_jis", ("utf-8", "shift-jis")),
        (b"plain", "utf-16le", ("utf-16le", "utf-8")),
        (b"plain", "rot13", ("utf-8",)),
        (b"plain", "unicode_escape", ("utf-8",)),
        (b"plain", "cp99999", ("utf-8",)),
        (b"plain", "iso-8859-1\x00", ("utf-8",)),
        (codecs.BOM_UTF8 + b"marked", "iso-8859-1", ("utf-8-sig",)),
        (codecs.BOM_UTF16_LE + "marked".encode("utf-16-le"), "", ("utf-16",)),
        (codecs.BOM_UTF32_LE + "marked".encode("utf-32-le"), "", ("utf-32",)),
    ],
)
def test_an_encoding_is_chosen_by_mark_then_bytes_then_what_is_said(
    data: bytes, charset: str, expected: tuple[str, ...]
) -> None:
    """Codecs that are none of text are never used, whatever a server says."""
    assert encodings(data, charset) == expected


@pytest.mark.parametrize("charset", ["windows-1252", "latin1", "big5", "gb18030", "koi8-r", "utf-16-be", "euc-jp"])
def test_what_is_chosen_decodes(charset: str) -> None:
    """Each name that is taken is one that a decoder knows."""
    for encoding in encodings(b"ab", charset):
        assert "".join(decoded("ab".encode(encoding), encoding)) == "ab"
