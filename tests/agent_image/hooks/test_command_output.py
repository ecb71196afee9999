"""What a hook writes is kept to a limit, and read as a text in which nothing is hidden."""

from __future__ import annotations

import os
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.hooks.output import Output, readable


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b" \n a\tb \r\n", "a\tb"),
        (b"a\r\nb\rc", "a\nbc"),
        ("não 日本 \N{WHITE HEAVY CHECK MARK}".encode(), "não 日本 \N{WHITE HEAVY CHECK MARK}"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07a\x1b]8;;http://b\x1b\\c", "ac"),
        (b"a\x00\x07\x08\x7f\xc2\x9bb", "ab"),
        ("a\u202eb\u200bc\ufeff".encode(), "abc"),
        (b"a\xff\xfeb", "a\ufffd\ufffdb"),
        (b"\x1b", ""),
        (b"\x1b[", "["),
    ],
)
def test_what_can_be_read(data: bytes, text: str) -> None:
    """Letters stay; what moves a cursor, colours, hides or turns text goes."""
    assert readable(data) == text


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode(errors="replace")))
def test_no_control_character_is_left(data: bytes) -> None:
    """Of anything."""
    text = readable(data)

    assert not [sign for sign in text if sign not in "\n\t" and unicodedata.category(sign) in {"Cc", "Cf", "Cs"}]
    assert text == text.strip()


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=10), st.integers(0, 200))
def test_the_first_bytes_are_kept(parts: list[bytes], limit: int) -> None:
    """Up to the limit, and whether there were more is known."""
    output = Output(limit)
    source, sink = os.pipe()
    os.set_blocking(source, False)

    for part in parts:
        os.write(sink, part)
        assert output.read(source)
    assert output.read(source), "nothing is there yet"
    os.write(sink, b"end")
    output.drain(source)
    os.close(sink)
    assert not output.read(source), "it has ended"
    os.close(source)

    written = b"".join([*parts, b"end"])
    assert bytes(output.kept) == written[:limit]
    assert output.over == (len(written) > limit)
