"""The documents that come with the image: questions about them have answers that can be checked."""

from __future__ import annotations

from pathlib import Path

import pytest

import agent_image
from agent_image.models.quoting import is_portuguese, quotes

FOLDER = Path(agent_image.__file__).parent / "knowledge"
DOCUMENTS = sorted(FOLDER.glob("*.md"))


def test_half_of_the_twelve_documents_are_in_each_language() -> None:
    """Short texts, so that a demonstration reads in a moment."""
    texts = [document.read_text() for document in DOCUMENTS]

    assert [len(texts), sum(map(is_portuguese, texts))] == [12, 6]
    assert all(150 <= len(text.split()) <= 500 for text in texts)


@pytest.mark.parametrize(
    ("question", "document", "fact"),
    [
        ("Within how many days can unused items be returned?", "returns", "30 days"),
        ("How much is the return label?", "returns", "4.50 EUR"),
        ("How much does express shipping cost?", "shipping", "12.90 EUR"),
        ("When does a parcel count as lost?", "shipping", "10 working days"),
        ("How long is the warranty of refurbished products?", "warranty", "12 months"),
        ("How long is a gift card valid?", "gift-cards", "36 months"),
        ("Which limit does a single price match refund have?", "price-match", "150 EUR"),
        ("When do I have to report visible damage?", "damaged-items", "48 hours"),
        ("Em quantos dias úteis é feito o reembolso?", "trocas-e-reembolsos", "5 dias úteis"),
        ("Quanto valem cem pontos?", "pontos-de-fidelidade", "2 EUR"),
        ("Quantas prestações sem juros posso pagar?", "formas-de-pagamento", "3 prestações"),
        ("Durante quantos dias guardam a encomenda na loja?", "levantamento-na-loja", "7 dias"),
        ("Quando são apagadas as imagens das câmaras?", "privacidade", "14 dias"),
        ("Em que horário funciona o chat?", "atendimento", "8h00 às 20h00"),
    ],
)
def test_a_question_finds_its_fact(question: str, document: str, fact: str) -> None:
    """The sentence with the fact is among the quotes, and comes from its own document."""
    found = quotes(question, [(n, path.read_text()) for n, path in enumerate(DOCUMENTS, start=1)])

    assert any(DOCUMENTS[quote.number - 1].stem == document and fact in quote.sentence for quote in found), found
