"""Text from elsewhere is shown, and steers nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.terminal import shown, shown_json

TEXTS = st.text(st.characters())
WORDS = "Devolução: 30 dias\n\t“não”, 日本 👩\u200d🌾\u00a0✓"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WORDS, WORDS),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("a\rb\x08c\x7fd", "a\\rb\\x08c\\x7fd"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\u2028\ud800", "\\u2028\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)  # fmt: skip
def test_what_steers_a_terminal_is_spelt_out(text: str, expected: str) -> None:
    """Words of any language pass; escapes, overwriting, hidden tags and reversals do not."""
    assert shown(text) == expected


@given(TEXTS, TEXTS)
def test_pieces_are_shown_like_the_whole(one: str, other: str) -> None:
    """A text that comes in pieces hides nothing at the seam; every terminal can write it."""
    together = shown(one + other)

    assert shown(one) + shown(other) == together
    assert "\x1b" not in together.encode().decode()


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, lambda v: st.lists(v) | st.dictionaries(TEXTS, v))
)
def test_json_stays_the_same_document(document: object) -> None:
    """Spelt out or not, a reader of JSON reads the same."""
    text = shown_json(json.dumps(document, ensure_ascii=False, indent=1).replace("\n", "\r\n"))

    assert json.loads(text) == document
    assert "\x1b" not in text
    assert "\r" not in text
