"""Quotes are sentences of the passages that share most with the question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.models.quoting import QUOTES, Quote, is_portuguese, quotes

RETURNS = """# Returns

Unused items can be returned within 30 days of delivery. Bring the receipt.

- Opened software is not taken back.
- Return labels cost 4.50 EUR.
"""
SHIPPING = "Standard shipping takes 3 to 5 working days. Orders above 60 EUR ship free of charge."
TROCAS = "A devolução é gratuita até 7 dias após a entrega. O reembolso sai em até 5 dias úteis."
PASSAGES = [(4, RETURNS), (5, SHIPPING), (6, TROCAS)]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How long does standard shipping take?", Quote(5, "Standard shipping takes 3 to 5 working days.")),
        ("Are opened software items taken back?", Quote(4, "Opened software is not taken back.")),
        ("Qual é o prazo do reembolso?", Quote(6, "O reembolso sai em até 5 dias úteis.")),
        ("DEVOLUCOES gratuitas?", Quote(6, "A devolução é gratuita até 7 dias após a entrega.")),
    ],
)
def test_the_best_sentence_is_quoted(question: str, found: Quote) -> None:
    """Plurals, case and accents do not matter; headings and list marks are not quoted."""
    assert quotes(question, PASSAGES)[0] == found


@pytest.mark.parametrize("question", ["What is the capital of Mongolia?", "", "What is it?", "Onde é isso?", "???"])
def test_nothing_is_quoted_where_nothing_matches(question: str) -> None:
    """Neither common words nor foreign ones make a match."""
    assert quotes(question, PASSAGES) == []


def test_one_shared_word_of_many_is_not_enough() -> None:
    """A sentence about days does not answer whatever asks for days."""
    assert quotes("How many days does a satellite need to circle Jupiter once?", PASSAGES) == []


def test_without_passages_there_is_nothing_to_quote() -> None:
    """No passage, no quote."""
    assert quotes("How long does shipping take?", []) == []


def test_a_rare_word_outweighs_a_common_one() -> None:
    """What every passage says tells little."""
    passages = [(1, "The shop ships parcels."), (2, "The shop sells parcels of tea."), (3, "The shop opens at nine.")]

    assert quotes("parcels of tea in the shop", passages) == [Quote(2, "The shop sells parcels of tea.")]


def test_overlapping_windows_are_quoted_once_and_whole() -> None:
    """Half a sentence at the edge of a window gives way to the whole one."""
    passages = [(1, "can be returned within 30 days of delivery. Bring it."), (2, RETURNS)]

    found = quotes("Returned within how many days of delivery?", passages)

    assert found == [Quote(2, "Unused items can be returned within 30 days of delivery.")]


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(1, 99), st.text(max_size=200)), max_size=5))
def test_quotes_are_words_of_their_passages(question: str, passages: list[tuple[int, str]]) -> None:
    """Whatever is asked and read, a quote stands in a passage of its number."""
    found = quotes(question, passages)

    assert len(found) <= QUOTES
    for quote in found:
        assert any(quote.sentence in " ".join(text.split()) for n, text in passages if n == quote.number)


@given(st.permutations(PASSAGES))
def test_the_order_of_passages_changes_no_best_quote(passages: list[tuple[int, str]]) -> None:
    """Numbers and words decide."""
    assert [quote.number for quote in quotes("standard shipping days", passages)] == [5]


@pytest.mark.parametrize(
    ("question", "portuguese"),
    [
        ("How long do I have to return an item?", False),
        ("Qual é o prazo para trocar um produto?", True),
        ("Qual o prazo para trocar um produto", True),
        ("Reembolso em quantos dias?", True),
        ("Do you ship to Portugal?", False),
        ("Vocês enviam para Portugal?", True),
        ("devolução", True),
        ("refund", False),
        ("", False),
    ],
)
def test_the_language_of_a_question_is_told(question: str, portuguese: bool) -> None:  # noqa: FBT001 - a column
    """English where nothing speaks for Portuguese."""
    assert is_portuguese(question) is portuguese
