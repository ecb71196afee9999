"""The words go, wherever and however they stand, and nothing else does."""

from __future__ import annotations

import ast
import json
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.retrieval.fingerprint import fingerprint, normalised
from agent_image.retrieval.passage import Passage
from agent_image.tools.reading import parse, render
from console.erase.words import LEAST_BYTES, mark, replaced, without, words_in

WORDS = "Goods may be returned within 30 days of delivery."
FORM = fingerprint(WORDS)
MARK = mark(FORM.text)
OTHER = Passage("s3://kb/other.md", "A refund is paid within 5 days.")
GAPS = st.text(alphabet=" \t\n\r\u2003\u00a0", min_size=1, max_size=4)


def test_a_passage_gives_way_to_its_mark() -> None:
    """Its number, its source and its neighbours stay."""
    text = render(3, [OTHER, Passage("s3://kb/returns.md", f"\n  {WORDS}\n"), OTHER])

    written = without(FORM.text, None)(text)

    assert parse(written) == [(3, OTHER.text), (4, MARK), (5, OTHER.text)]
    assert "[4] s3://kb/returns.md\n" in written
    assert without(FORM.text, normalised(WORDS))(text) == written


@given(st.text(max_size=30), st.text(max_size=30), st.lists(GAPS, min_size=9, max_size=9))
def test_words_go_out_of_the_middle_of_a_text(before: str, after: str, gaps: list[str]) -> None:
    """Whatever stands around them, and whatever white space is between them."""
    first, *rest = WORDS.split()
    spread = first + "".join(gap + word for gap, word in zip(gaps, rest, strict=False))
    text = f"{before} {spread} {after}"

    written = replaced(text, normalised(WORDS), MARK)

    assert written == f"{before} {MARK} {after}"
    assert normalised(WORDS) not in normalised(written)


@given(st.text(alphabet="abcé e\u0301\u00a0\n\ud800", max_size=60))
def test_a_text_that_does_not_hold_them_stays_as_it_is(text: str) -> None:
    """To the byte, whatever it is made of."""
    assert replaced(text, normalised(WORDS), MARK) == text


@pytest.mark.parametrize("composed", [True, False])
def test_words_are_the_same_however_their_letters_are_composed(composed: bool) -> None:  # noqa: FBT001 - a column
    """A document, a knowledge base and a model need not agree on it."""
    words = "a devolução é aceita até o décimo dia útil"
    spelt = words if composed else "a devoluc\u0327a\u0303o e\u0301 aceita ate\u0301 o de\u0301cimo dia u\u0301til"

    assert replaced(f"Pois {spelt}, disse.", normalised(words), "-") == (
        "Pois -, disse." if composed else "Pois - disse."
    )


QUOTED = 'Refunds: "in full",\nwithin 30 days \\ to a café\'s card \U0001f4b3 <b>or</b> voucher.'


@given(
    st.text(alphabet='ab"\\\n é\ud83d', max_size=8),
    st.text(alphabet='ab"\\\n é\u2028', max_size=8),
    st.lists(st.booleans(), min_size=1, max_size=3),
    st.sampled_from(["NFC", "NFD"]),
)
def test_words_go_out_of_json_within_a_text_however_deep(
    before: str, after: str, levels: list[bool], form: Literal["NFC", "NFD"]
) -> None:
    """A tool may answer in JSON, and hand on what another answered in it: it stays JSON, and all else in it stays."""

    def nested(text: str) -> str:
        for ascii_alone in levels:
            text = json.dumps({"body": text}, ensure_ascii=ascii_alone)
        return text

    held = nested(f"{before} {unicodedata.normalize(form, QUOTED)} {after}")

    written = replaced(f"Here it is: {held}", normalised(QUOTED), MARK)

    assert written == f"Here it is: {nested(f'{before} {MARK} {after}')}"


def test_words_go_out_of_what_a_program_calls_its_own_notation() -> None:
    """A tool that answers with an object of Python is quoted so."""
    for told in (QUOTED, f"it's {QUOTED}", QUOTED.replace(" ", "\u00a0")):
        written = replaced(repr({"body": told, "rest": [1]}), normalised(QUOTED), MARK)

        assert ast.literal_eval(written) == {"body": told.replace(told[-len(QUOTED) :], MARK), "rest": [1]}


def test_words_within_longer_words_go_and_each_time() -> None:
    """A passage may be cut in the middle of a word."""
    words = normalised(WORDS.removesuffix("."))

    assert replaced(f"x{WORDS}x{WORDS}é", words, "|") == "x|.x|.é"


def test_few_words_go_only_where_they_stand_as_a_passage() -> None:
    """They stand in many a text by chance."""
    short = "30 days"
    rewrite = without(fingerprint(short).text, normalised(short))

    assert len(short) < LEAST_BYTES
    assert rewrite(f"Within {short}.") == f"Within {short}."
    assert rewrite(render(1, [Passage("a", short)])) == f"[1] a\n{mark(fingerprint(short).text)}"


def test_words_are_learned_from_a_passage_or_from_any_text_by_their_length() -> None:
    """Once the archive has forgotten them, the session itself still knows."""
    as_passage, anywhere = render(1, [OTHER, Passage("a", f" {WORDS}")]), f"She said:\n{WORDS} So be it."

    assert words_in(["", as_passage], FORM.text, ()) == normalised(WORDS)
    assert words_in(["", anywhere], FORM.text, {9_999, FORM.length}) == normalised(WORDS)
    assert words_in([anywhere], FORM.text, ()) is None
    assert words_in([OTHER.text], FORM.text, {FORM.length}) is None


@given(st.lists(st.text(alphabet="ab \n[1]", max_size=12), max_size=6), st.integers(0, 5))
def test_what_was_written_again_holds_nothing_to_write_again(texts: list[str], at: int) -> None:
    """To erase twice is to erase once."""
    text = render(1, [Passage("u", one) for one in [*texts[:at], WORDS, *texts[at:]]])
    rewrite = without(FORM.text, normalised(WORDS))

    assert rewrite(rewrite(text)) == rewrite(text) != text
