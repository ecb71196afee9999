"""The index ranks by BM25, folds accents, and answers from one version at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.retrieval.full_text_index import IN_MEMORY, FullTextIndex, Row
from agent_image.retrieval.full_text_query import full_text_query

WORDS = st.text("abcdefghijlmnopqrstuvxzáàâãéêíóôõúüçñ0123", min_size=1, max_size=12)


@pytest.fixture
def index() -> Iterator[FullTextIndex]:
    index = FullTextIndex(IN_MEMORY)
    yield index
    index.close()


def found(index: FullTextIndex, query: str) -> list[str]:
    hits = index.search("1", full_text_query(query), 10)
    assert hits is not None
    return [hit.row.text for hit in hits]


@given(st.lists(WORDS, min_size=1, max_size=20), st.data())
def test_every_word_of_a_passage_finds_it(words: list[str], data: st.DataObject) -> None:
    """In any case, with or without its accents: a query is folded and cut just as the index allows."""
    word = data.draw(st.sampled_from(words))
    index = FullTextIndex(IN_MEMORY)
    try:
        index.fill("1", [Row("a.md", 0, " ".join(words))])
        assert found(index, word.upper()) == [" ".join(words)]
    finally:
        index.close()


def test_accents_do_not_matter_however_many(index: FullTextIndex) -> None:
    """A letter with two of them is folded like a letter with one; letters of other alphabets stay."""
    index.fill("1", [Row("a.md", n, text) for n, text in enumerate(["ẤM trà", "Straße", "não é"])])

    assert found(index, "am") == ["ẤM trà"]
    assert found(index, "straße") == ["Straße"]
    assert found(index, "ê") == ["não é"]


def test_equal_passages_are_in_order_of_place(index: FullTextIndex) -> None:
    """Whatever order they came in."""
    rows = [Row("b.md", 1, "words"), Row("b.md", 0, "words"), Row("a.md", 10, "words"), Row("a.md", 9, "words")]
    index.fill("1", rows)

    hits = index.search("1", '"words"', 10)

    assert [hit.row for hit in hits or []] == sorted(rows, key=lambda row: (row.path, row.position))


def test_another_version_is_no_answer(index: FullTextIndex) -> None:
    """Neither before the first filling nor after the next."""
    assert index.search("1", None, 1) is None
    index.fill("1", [Row("a.md", 0, "one")])
    assert found(index, "one") == ["one"]
    index.fill("2", [Row("a.md", 0, "two")])
    assert index.search("1", None, 1) is None
    assert index.search("2", '"one"', 1) == []


def test_a_filling_that_fails_leaves_the_old_passages(index: FullTextIndex) -> None:
    """All or none."""
    index.fill("1", [Row("a.md", 0, "one")])

    def rows() -> Iterator[Row]:
        yield Row("a.md", 0, "two")
        raise LookupError

    with pytest.raises(LookupError):
        index.fill("2", rows())

    assert found(index, "one") == ["one"]
