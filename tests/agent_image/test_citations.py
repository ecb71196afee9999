"""An answer's marks lead to passages that were read, or are said to lead nowhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.citations import RANGE_LIMIT, Citations, check

FIVE = [f"folder:{n}.md#{'A' * 24}.9" for n in range(1, 6)]
NUMBERS = st.integers(0, 30)
WORDS = st.text("abc çã.,:!?()*-\n", max_size=20)


@pytest.mark.parametrize(
    ("answer", "cited", "unsupported"),
    [
        ("In 30 days [2], free of charge [1].", (2, 1), ()),
        ("Both [1, 3] and [1,2;5].", (1, 3, 2, 5), ()),
        ("Both [1][2] and again [1].", (1, 2), ()),
        ("All of [2-4], or [2 – 4].", (2, 3, 4), ()),  # noqa: RUF001 - an en dash, as models write it
        ("Backwards [4-2].", (2, 3, 4), ()),
        ("Nowhere [9], [0] and [5-7].", (5,), (9, 0, 6, 7)),
        ("With blanks [ 3 ] and zeros [003].", (3,), ()),
        ("Right behind a word[1](and a remark).", (1,), ()),
        ("A [2] (so they say).", (2,), ()),
        ("", (), ()),
    ],
)
def test_marks_are_read_in_their_order(answer: str, cited: tuple[int, ...], unsupported: tuple[int, ...]) -> None:
    """Each number counts once, where it first stands."""
    assert check(answer, FIVE) == Citations(cited, unsupported)


@pytest.mark.parametrize(
    "answer",
    [
        "See [1](https://example.com/a), [2](b.md 'title') and [3](<c d>).",
        "A footnote[^1] and a task [x] and [a1].",
        "Take `list[1]`, ``a ` [2]`` or `a\nb [3]`.",
        "```python\nrow[1]\n```",
        "~~~\n[2]\n```\n[3]\n~~~",
        "````\n```\n[4]\n````",
        "An open fence:\n```\n[5] to the end",
        "[1]: https://example.com/a",
        f"[{'9' * 5_000}]",
    ],
)
def test_what_only_looks_like_a_mark_is_none(answer: str) -> None:
    """Links, footnotes, code, definitions and numbers beyond reason name no passage."""
    assert check(answer, FIVE) == Citations()


@pytest.mark.parametrize(
    "answer",
    [
        "A lone ` before [1].",
        "One ` here.\n\nAnother ` after [1].",
        "Escaped \\` and [1] and `.",
        "```\ncode\n```\n[1]",
        "Three ``` [1] and two ``.",
    ],
)
def test_a_back_tick_that_closes_nothing_hides_nothing(answer: str) -> None:
    """A stray back-tick must not swallow the answer's marks."""
    assert check(answer, FIVE).cited == (1,)


def test_a_range_without_measure_is_cut() -> None:
    """A mark of eight characters does not fill the memory."""
    found = check("[3-999999999]", FIVE)

    assert found.cited == (3, 4, 5)
    assert found.unsupported == tuple(range(6, 3 + RANGE_LIMIT))


@given(st.lists(st.tuples(WORDS, NUMBERS)), st.integers(0, 20))
def test_every_mark_in_prose_is_found(pieces: list[tuple[str, int]], read: int) -> None:
    """Whatever stands between them, marks are found in order and split by what was read."""
    found = check("".join(f"{words} [{number}] " for words, number in pieces), ["address"] * read)

    named = list(dict.fromkeys(number for _, number in pieces))
    assert found.cited == tuple(number for number in named if 1 <= number <= read)
    assert found.unsupported == tuple(number for number in named if not 1 <= number <= read)


@given(st.text("[]0123456789-,; `~\\\n()^:"), st.integers(0, 20))
def test_any_answer_is_checked(answer: str, read: int) -> None:
    """Nothing that a model writes fails; every number stands in the answer, or between two that do."""
    found = check(answer, ["address"] * read)

    written = [int(number) for number in re.findall("[0-9]+", answer)]
    assert all(min(written) <= number <= max(written) for number in found.cited + found.unsupported)
    assert not set(found.cited) & set(found.unsupported)


@given(st.lists(st.sampled_from(["[1]", "`", "``", "\n", "\n\n", "```", "x", "[2](u)"]), max_size=40).map("".join))
def test_code_hides_what_it_holds(text: str) -> None:
    """Within one fence that nothing closes early, no mark counts."""
    assert check(f"~~~\n{text}\n~~~", FIVE) == Citations()
