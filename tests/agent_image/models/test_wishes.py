"""A plain sentence is a wish; a question about the same is none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_image.models.wishes import refund, ticket


@pytest.mark.parametrize(
    ("question", "order", "amount"),
    [
        ("refund order 5501 by 150", "5501", 150),
        ("Please refund the order #BR-77 by R$ 150.50.", "BR-77", 150.5),
        ("estorne o pedido 5501 em 150", "5501", 150),
        ("Por favor, estornar pedido 5501 em R$150,50!", "5501", 150.5),
        ("reembolse o pedido 5501 em 0,01 BRL", "5501", 0.01),
        ("  REFUND\n order  5501   by 150.00 ", "5501", 150),
    ],
)
def test_a_refund_is_read_with_its_order_and_amount(question: str, order: str, amount: float) -> None:
    """In both languages, with a point or a comma before the cents."""
    assert refund(question) == {"order_id": order, "amount": amount}


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("open a ticket about a parcel that never came", "a parcel that never came"),
        ("Please, open a ticket about two\nlines", "two lines"),
        ("abra um chamado sobre a entrega atrasada", "a entrega atrasada"),
        ("Abrir um chamado sobre o pedido 5501.", "o pedido 5501."),
    ],
)
def test_a_ticket_is_read_with_its_subject(question: str, subject: str) -> None:
    """In one line."""
    assert ticket(question) == {"subject": subject}


@pytest.mark.parametrize(
    "question",
    [
        "How do I refund order 5501 by 150?",
        "refund order 5501",
        "refund order 5501 by 1.500,00",
        "refund order 5501 by -150",
        "refund order 5501 by 150 and order 5502 by 90",
        "refund order ../x by 150",
        "How do I open a ticket about a parcel?",
        "open a ticket about ",
        "",
    ],
)
def test_anything_else_is_a_question(question: str) -> None:
    """Nothing is guessed: money least of all."""
    assert refund(question) is None
    assert ticket(question) is None


@settings(deadline=None)
@given(st.integers(1, 99_999_999))
def test_cents_are_those_that_were_written(cents: int) -> None:
    """The number in JSON has the same shortest text."""
    found = refund(f"refund order 1 by {cents // 100}.{cents % 100:02}")

    assert found is not None
    assert round(float(str(found["amount"])) * 100) == cents


def test_a_long_text_is_read_in_linear_time() -> None:
    """A hundred thousand blanks end no differently than ten: this would take hours where patterns multiply."""
    for text in (
        " " * 100_000,
        "please" + " ," * 50_000,
        "open a ticket" + " " * 100_000,
        "refund order 1 by 1" * 5_000,
    ):
        assert refund(f"{text}?x") is None
        assert ticket(f"{text}x") is None
