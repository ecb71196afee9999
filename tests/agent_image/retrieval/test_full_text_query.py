"""Whatever a user writes becomes a query that SQLite understands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.retrieval.full_text_index import IN_MEMORY, FullTextIndex, Row
from agent_image.retrieval.full_text_query import TERMS_LIMIT, full_text_query

SYNTAX = st.lists(
    st.sampled_from(
        [
            "AND",
            "OR",
            "NOT",
            "NEAR(",
            ")",
            '"',
            "'",
            "*",
            "^",
            ":",
            "-",
            "+",
            "{",
            "}",
            "text",
            "\0",
            "a",
            "é",
            " ",
            ";",
            "--",
        ]
    )
).map("".join)


@given(st.one_of(SYNTAX, st.text()))
def test_any_text_is_a_valid_query(query: str) -> None:
    """No syntax of FTS5 gets through: nothing a user writes is an error."""
    index = FullTextIndex(IN_MEMORY)
    try:
        index.fill("1", [Row("a.md", 0, "text a é")])
        assert index.search("1", full_text_query(query), 5) is not None
    finally:
        index.close()


def test_words_that_tell_nothing_count_only_alone() -> None:
    """In a small folder a rare little word would outweigh the ones that matter."""
    assert full_text_query("What is the warranty?") == '"warrant"*'
    assert full_text_query("Qual é o prazo da troca?") == '"prazo"* OR "troca"*'
    assert full_text_query("to be or not") == '"to"* OR "be"* OR "or"* OR "not"*'
    assert full_text_query("?! _") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("returns", "return"),
        ("policies", "policy"),
        ("devoluções", "devolução"),
        ("DEVOLUCAO", "devoluções"),
        ("mês", "MES"),
    ],
)
def test_number_accents_and_case_do_not_matter(one: str, other: str) -> None:
    """Both forms of a word ask for the same."""
    assert full_text_query(one) == full_text_query(other)


def test_a_long_question_is_bounded_and_each_word_counts_once() -> None:
    """FTS5 refuses a query that is too deep."""
    words = [f"w{n}" for n in range(10_000)]

    query = full_text_query(" ".join(["first", *words, "first"]))

    assert query is not None
    assert query.count(" OR ") == TERMS_LIMIT - 1
    assert query.startswith('"first"* OR "w0"*')
