"""Hold the reference session, the one that is measured."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.loopback.bedrock import Answer, Bedrock, ToolCall

PASSAGES: Final = 5
PASSAGE_BYTES: Final = 3_500
SESSION: Final = (
    f"one question, three model calls, two retrievals of {PASSAGES} passages of {PASSAGE_BYTES:,} bytes each"
)
DOCUMENTS: Final = 50
QUESTION: Final = "Qual é o prazo para devolver um produto que chegou com defeito, e quando recebo o dinheiro de volta?"
_WORDS: Final = """
    devolução produto prazo entrega reembolso garantia defeito conteúdo atenção código informação solicitação
    pagamento loja cliente pedido número página dias úteis após recebimento análise área crédito cartão também
    não são até você será possível através da de do que em para com por
"""
_SENTENCE_WORDS: Final = 12
_BASE: Final = "s3://conhecimento-producao-111122223333-us-east-1/politicas/atendimento-ao-cliente/2026"


def passage(seed: int) -> str:
    """Write a passage of Portuguese words of the reference size; one seed, one text."""
    chance = random.Random(seed)  # noqa: S311 - words of a made-up text
    text = ""
    while len(text.encode()) < PASSAGE_BYTES:
        text += " ".join(chance.choices(_WORDS.split(), k=_SENTENCE_WORDS)) + ". "
    return text.encode()[:PASSAGE_BYTES].decode("utf-8", "ignore")


def results(query: str) -> Sequence[Mapping[str, Any]]:
    """Give the results of one query: which, depends on its words."""
    chance = random.Random(query)  # noqa: S311
    return [
        {
            "content": {"text": passage(seed), "type": "TEXT"},
            "location": {
                "type": "S3",
                "s3Location": {"uri": f"{_BASE}/{seed:03}-politica-de-trocas-e-devolucoes-de-produtos.md"},
            },
            "score": round(0.9 - 0.07 * position, 7),
            "metadata": {},
        }
        for position, seed in enumerate(chance.sample(range(DOCUMENTS), PASSAGES))
    ]


def bedrock() -> Bedrock:
    """Script the model of the reference session."""
    answer = "\n".join(f"{sentence.strip()} [{n}]." for n, sentence in enumerate(passage(1).split(".")[:6], start=1))
    return Bedrock(
        steps=[
            ToolCall("search_knowledge", {"query": "prazo de devolução de produto com defeito"}),
            ToolCall("search_knowledge", {"query": "quando o reembolso é creditado"}),
            Answer(answer),
        ],
        retrieve=results,
        jobs=[
            {
                "knowledgeBaseId": "KB12345678",
                "dataSourceId": "DS1",
                "ingestionJobId": "9QKZ4XJ2TB",
                "status": "COMPLETE",
                "startedAt": "2026-11-28T03:00:00Z",
                "updatedAt": "2026-11-28T03:12:44Z",
            }
        ],
    )
