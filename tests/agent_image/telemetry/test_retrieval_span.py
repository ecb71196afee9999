"""A retrieval span holds what its regime promises, and no more."""

from __future__ import annotations

import json

import pytest

from agent_image.contract import Regime
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.knowledge_base import Retrieval
from agent_image.retrieval.passage import Passage, parse_address
from agent_image.telemetry.retrieval_span import answered, asked

RETURNS = Passage("s3://kb/policies/returns.md", "Você pode devolver em 30 dias.", 0.87341)
REFUNDS = Passage("s3://kb/policies/pt/reembolso.md", "Refunds take 5 days.", 0.5)
TWO = Retrieval((RETURNS, REFUNDS), "JOB1@2026-11-29T10:00:00Z")


def test_the_question_to_the_knowledge_base_is_told_by_where_and_how_many() -> None:
    """Its words stay out in every regime."""
    assert asked("KB1", 5) == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "KB1",
        "gen_ai.retrieval.top_k": 5,
        "openinference.span.kind": "RETRIEVER",
    }


def test_metadata_holds_counts_and_the_index_version() -> None:
    """Nothing in it says what was read."""
    assert answered(Regime.METADATA, TWO, 1) == {"rag.passages": 2, "rag.index_version": "JOB1@2026-11-29T10:00:00Z"}


@pytest.mark.parametrize("regime", [Regime.ADDRESS, Regime.ARCHIVE])
def test_address_and_archive_hold_the_same_addresses_in_reading_order(regime: Regime) -> None:
    """The archive's span costs what the address's costs."""
    first, second = fingerprint(RETURNS.text), fingerprint(REFUNDS.text)

    assert answered(regime, TWO, 4) == {
        "rag.passages": 2,
        "rag.index_version": "JOB1@2026-11-29T10:00:00Z",
        "rag.first": 4,
        "rag.base": "s3://kb/policies/",
        "gen_ai.retrieval.documents": f'[{{"id":"returns.md#{first}","score":0.8734}},'
        f'{{"id":"pt/reembolso.md#{second}","score":0.5}}]',
    }


def test_content_holds_each_text_once_beside_its_address() -> None:
    """Accents stay as they are: escaped they would take three times the bytes."""
    attributes = answered(Regime.CONTENT, TWO, 1)
    documents = json.loads(str(attributes["gen_ai.retrieval.documents"]))

    assert [document["content"] for document in documents] == [RETURNS.text, REFUNDS.text]
    assert "Você" in str(attributes["gen_ai.retrieval.documents"])
    assert attributes["rag.content_bytes"] == len(RETURNS.text.encode()) + len(REFUNDS.text)


def test_an_address_leads_back_to_uri_and_words() -> None:
    """Base and relative address make the whole URI again."""
    attributes = answered(Regime.ADDRESS, TWO, 1)
    documents = json.loads(str(attributes["gen_ai.retrieval.documents"]))
    address = parse_address(documents[1]["id"])

    assert address.uri(str(attributes["rag.base"])) == REFUNDS.uri
    assert address.fingerprint == REFUNDS.fingerprint


def test_what_a_result_lacks_is_counted_not_invented() -> None:
    """A missing score is sent as zero, for readers that drop the list without one, and said to be missing."""
    attributes = answered(Regime.ADDRESS, Retrieval((Passage("s3://a/b", "words"),), None, without_text=2), 1)

    assert attributes["rag.without_score"] == 1
    assert attributes["rag.without_text"] == 2
    assert '"score":0}' in str(attributes["gen_ai.retrieval.documents"])
    assert "rag.index_version" not in attributes


@pytest.mark.parametrize("regime", Regime)
def test_nothing_found_is_a_count_of_zero(regime: Regime) -> None:
    """No empty list, no base."""
    assert answered(regime, Retrieval(()), 1) == {"rag.passages": 0}
