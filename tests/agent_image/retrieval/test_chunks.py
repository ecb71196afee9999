"""Documents are cut at their own borders, and every passage is found in its document again."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_image.retrieval.chunks import Cut, chunks
from agent_image.retrieval.fingerprint import normalised

# White space of every kind, combining marks that compose or reorder, headings, sentences, text without blanks.
PIECES = st.sampled_from(
    [
        "word",
        "devolução",
        "e\u0301",
        "\u0301\u0323",
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "\u2000",
        "\u00a0",
        "\x1c",
        "\u200b",
        ". ",
        "! ",
        '." ',
        "# ",
        "\n# ",
        "漢字",
        "가",
        "\u1100\u1161",
        "😀",
        "-",
    ]
)
DOCUMENTS = st.one_of(st.lists(PIECES, max_size=200).map("".join), st.text(st.characters(exclude_categories=["Cs"])))
CUTS = st.integers(40, 200).flatmap(lambda window: st.builds(Cut, st.just(window), st.integers(0, window // 2)))


@given(DOCUMENTS, CUTS)
@example("e\u0301" * 100, Cut(41, 20))
def test_every_passage_is_found_in_its_document(document: str, cut: Cut) -> None:
    """Its normalised text stands in the normalised document, wherever the cut fell."""
    data = normalised(document)

    for passage in chunks(document, cut):
        assert normalised(passage) in data


@given(DOCUMENTS, CUTS)
def test_no_passage_is_empty_or_longer_than_its_window(document: str, cut: Cut) -> None:
    """The window bounds what a model reads."""
    assert all(passage.strip() and len(passage) <= cut.window for passage in chunks(document, cut))


@given(DOCUMENTS, CUTS)
def test_no_word_is_left_out(document: str, cut: Cut) -> None:
    """Each passage begins at or before the end of the one before it, so together they hold all that is not blank."""
    data = normalised(document).decode().replace(" ", "")
    covered = 0
    for passage in chunks(document, cut):
        bare = "".join(passage.split())
        at = data.find(bare, max(0, covered - cut.overlap))
        assert 0 <= at <= covered
        covered = max(covered, at + len(bare))

    assert covered == len(data)


def test_a_text_that_fits_is_one_passage() -> None:
    """Nothing is cut that need not be."""
    assert list(chunks("  One. Two.\n\nThree.  ", Cut(40, 10))) == ["One. Two.\n\nThree."]
    assert list(chunks(" \n ", Cut())) == []


def test_paragraphs_come_before_sentences_and_sentences_before_words() -> None:
    """The strongest border in the second half of the window ends a passage."""
    paragraph = "aaaa aaaa. aaaa aaaa aaaa.\n\nbbbb bbbb. bbbb bbbb bbbb bbbb bbbb"
    sentence = "aaaa aaaa aaaa aaaa aaaa. bbbb bbbb bbbb bbbb bbbb bbbb"
    word = "aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa bbbb bbbb"

    assert next(chunks(paragraph, Cut(40, 0))) == "aaaa aaaa. aaaa aaaa aaaa."
    assert next(chunks(sentence, Cut(40, 0))) == "aaaa aaaa aaaa aaaa aaaa."
    assert next(chunks(word, Cut(40, 0))) == "aaaa aaaa aaaa aaaa aaaa aaaa aaaa aaaa"
    assert next(chunks("a" * 100, Cut(40, 0))) == "a" * 40


def test_the_next_passage_repeats_whole_sentences_where_it_can() -> None:
    """The overlap begins behind a border, not in the middle of a word."""
    text = "First sentence is long enough here. Short one. And then the text goes on and on until it ends."

    first, second, *_ = chunks(text, Cut(50, 20))

    assert first.endswith("Short one.")
    assert second.startswith("Short one. And then")


def test_the_overlap_is_no_longer_than_stated() -> None:
    """Without sentences it begins at a word, without words nowhere: then the next passage repeats nothing."""
    words = list(chunks("aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj", Cut(40, 10)))
    letters = list(chunks("a" * 40 + "b" * 10, Cut(40, 10)))

    assert words == ["aaaa bbbb cccc dddd eeee ffff gggg hhhh", "gggg hhhh iiii jjjj"]
    assert letters == ["a" * 40, "b" * 10]


def test_a_heading_stays_with_what_stands_under_it() -> None:
    """A passage that ends in a heading would lose it for the words that it belongs to."""
    plain = "# Returns\n\nThirty days, no questions asked.\n\n# Shipping\n\nFive days, in all of Europe."
    asking = "Thirty days.\n# How long does that take?\nFive days, in all of Europe. Longer elsewhere."

    assert list(chunks(plain, Cut(60, 0))) == [
        "# Returns\n\nThirty days, no questions asked.",
        "# Shipping\n\nFive days, in all of Europe.",
    ]
    assert next(chunks(asking, Cut(52, 0))) == "Thirty days.\n# How long does that take?\nFive days,"


@pytest.mark.parametrize(
    ("window", "overlap", "told"),
    [(39, 0, "window is 39"), (100_001, 0, "window is 100001"), (100, 51, "overlap is 51; allowed: 0 to 50")],
)
def test_sizes_that_lead_nowhere_are_refused(window: int, overlap: int, told: str) -> None:
    """An overlap of more than half a window would hardly move on."""
    with pytest.raises(ValueError, match=told):
        Cut(window, overlap)
