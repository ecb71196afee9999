"""What the tool writes, the model can tell apart again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_image.retrieval.passage import Passage
from agent_image.tools.reading import parse, render, rewritten

# Texts made of what the form itself is made of, so that a passage tries to look like two.
HOSTILE = st.lists(
    st.sampled_from(["[3] x", "[12]", "\n", "\n\n", " ", "\t", "\r", "\u2028", "words", "[", "]", "7", "ção"])
).map("".join)
TEXTS = st.one_of(HOSTILE, st.text())
PASSAGES = st.lists(st.builds(Passage, uri=TEXTS, text=TEXTS), max_size=6)


def test_the_form_is_the_declared_one() -> None:
    """Number and URI, the text, a blank line, the next."""
    passages = [Passage("folder:a.md", "30 days.\nNo more."), Passage("folder:b.md", "Em 5 dias.")]

    assert render(4, passages) == "[4] folder:a.md\n30 days.\nNo more.\n\n[5] folder:b.md\nEm 5 dias."


@given(st.integers(1, 999), PASSAGES)
def test_numbers_and_texts_read_back(first: int, passages: list[Passage]) -> None:
    """Whatever a text or a URI holds, each passage keeps its number and its words, and none is added."""
    assert parse(render(first, passages)) == [(first + n, passage.text) for n, passage in enumerate(passages)]


@given(TEXTS)
def test_no_line_of_a_text_begins_as_a_passage_does(text: str) -> None:
    """A reader who takes any line end for one sees a single beginning."""
    lines = render(1, [Passage("a", text)]).splitlines()

    assert [line[:3] for line in lines if line.startswith("[") and line[1:2].isdigit() and "]" in line] == ["[1]"]


def test_what_stands_before_the_first_passage_is_none() -> None:
    """A sentence of the tool's own is no passage."""
    assert parse("Nothing was found.") == []
    assert parse("Two found.\n\n[1] a\nx") == [(1, "x")]


def test_a_number_beyond_reason_begins_no_passage() -> None:
    """Thousands of digits are no reason to fail."""
    assert parse(f"[{'9' * 5_000}] a\nx") == []


@given(st.integers(1, 999), PASSAGES, st.integers(0, 5))
def test_one_passage_is_written_again_and_no_other(first: int, passages: list[Passage], at: int) -> None:
    """Whatever the others look like."""
    text = render(first, passages)
    seen: list[str] = []

    def change(words: str) -> str | None:
        seen.append(words)
        return "gone" if len(seen) == at + 1 else None

    changed = [Passage(one.uri, "gone") if n == at else one for n, one in enumerate(passages)]
    assert rewritten(text, change) == render(first, changed)
    assert seen == [passage.text for passage in passages]
