"""A Bedrock knowledge base's results become passages, and its failures become codes."""

from __future__ import annotations

import socket
import traceback
from typing import Any

import pytest
from botocore.config import Config

from agent_image.errors import KnowledgeBaseError
from agent_image.retrieval.bedrock import BedrockKnowledgeBase, bedrock_clients
from agent_image.retrieval.index_version import GivenIndexVersion
from agent_image.retrieval.knowledge_base import Retrieval
from tests.agent_image.retrieval.bedrock_service import KNOWLEDGE_BASE, BedrockService, Failure


def knowledge_base(service: BedrockService, **options: Any) -> BedrockKnowledgeBase:
    return BedrockKnowledgeBase(
        KNOWLEDGE_BASE, service.client("bedrock-agent-runtime", **options), GivenIndexVersion("v1")
    )


def retrieve(service: BedrockService, query: str = "returns?", top_k: int = 5) -> Retrieval:
    return knowledge_base(service).retrieve(query, top_k)


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": {"type": "TEXT", "text": words}, **more}


def s3(uri: str) -> dict[str, Any]:
    return {"type": "S3", "s3Location": {"uri": uri}}


def test_a_result_keeps_uri_score_metadata_and_text(bedrock: BedrockService) -> None:
    """Nothing that the trail needs is dropped, and the order is the service's."""
    bedrock.results = [
        text(
            "Devolução em 30 dias.", location=s3("s3://kb/returns.md"), score=0.25, metadata={"page": 3, "tags": ["a"]}
        ),
        text("Shipping.", location=s3("s3://kb/shipping.md"), score=0.75),
    ]

    found = retrieve(bedrock, "Posso devolver?", top_k=7)

    first, second = found.passages
    assert (first.uri, first.score, first.text) == ("s3://kb/returns.md", 0.25, "Devolução em 30 dias.")
    assert first.metadata == {"page": 3, "tags": ["a"]}
    assert (second.uri, second.metadata) == ("s3://kb/shipping.md", {})
    assert (found.index_version, found.without_text) == ("v1", 0)
    ((path, body),) = bedrock.asked
    assert path == f"/knowledgebases/{KNOWLEDGE_BASE}/retrieve"
    assert body["retrievalQuery"] == {"text": "Posso devolver?"}
    assert bedrock.top_k(body) == 7


@pytest.mark.parametrize(
    ("result", "uri"),
    [
        ({"location": s3("s3://kb/a.md")}, "s3://kb/a.md"),
        ({"location": {"type": "WEB", "webLocation": {"url": "https://shop/a"}}}, "https://shop/a"),
        ({"location": {"type": "CONFLUENCE", "confluenceLocation": {"url": "https://c/a"}}}, "https://c/a"),
        ({"location": {"type": "SALESFORCE", "salesforceLocation": {"url": "https://s/a"}}}, "https://s/a"),
        ({"location": {"type": "SHAREPOINT", "sharePointLocation": {"url": "https://p/a"}}}, "https://p/a"),
        ({"location": {"type": "ONEDRIVE", "oneDriveLocation": {"url": "https://o/a"}}}, "https://o/a"),
        ({"location": {"type": "GOOGLEDRIVE", "googleDriveLocation": {"url": "https://g/a"}}}, "https://g/a"),
        ({"location": {"type": "KENDRA", "kendraDocumentLocation": {"uri": "s3://k/a"}}}, "s3://k/a"),
        (
            {"location": {"type": "CUSTOM", "customDocumentLocation": {"id": "order/ä #1"}}},
            f"bedrock://{KNOWLEDGE_BASE}/documents/order%2F%C3%A4%20%231",
        ),
        (
            {
                "location": {"type": "CUSTOM", "customDocumentLocation": {"id": "1"}},
                "metadata": {"x-amz-bedrock-kb-source-uri": "s3://kb/custom.md"},
            },
            "s3://kb/custom.md",
        ),
        ({"metadata": {"x-amz-bedrock-kb-source-uri": "s3://kb/b.md"}}, "s3://kb/b.md"),
        ({"documentId": "d1"}, f"bedrock://{KNOWLEDGE_BASE}/documents/d1"),
        ({"location": {"type": "S3"}}, f"bedrock://{KNOWLEDGE_BASE}/unknown"),
        ({}, f"bedrock://{KNOWLEDGE_BASE}/unknown"),
    ],
)
def test_every_kind_of_place_gives_a_uri(bedrock: BedrockService, result: dict[str, Any], uri: str) -> None:
    """What names no source says so, rather than pass for one."""
    bedrock.results = [text("words", **result)]

    assert [passage.uri for passage in retrieve(bedrock).passages] == [uri]


def test_a_generated_query_leaves_no_words_in_a_uri(bedrock: BedrockService) -> None:
    """A query may repeat the question, and a URI goes into every trail that holds addresses."""
    query = "SELECT total FROM orders WHERE customer = 'Ana'"
    bedrock.results = [text("words", location={"type": "SQL", "sqlLocation": {"query": query}})]

    (passage,) = retrieve(bedrock).passages

    assert passage.uri.startswith(f"bedrock://{KNOWLEDGE_BASE}/sql/")
    assert "Ana" not in passage.uri


def test_rows_and_transcripts_are_text_and_images_are_counted(bedrock: BedrockService) -> None:
    """A model reads words; what has none is not passed off as a passage."""
    row = [
        {"columnName": "total", "columnValue": "12", "type": "LONG"},
        {"columnName": "customer", "columnValue": "Ana", "type": "STRING"},
    ]
    bedrock.results = [
        {"content": {"type": "ROW", "row": row}},
        {"content": {"type": "AUDIO", "audio": {"s3Uri": "s3://kb/call.mp3", "transcription": "I said so."}}},
        {"content": {"type": "VIDEO", "video": {"s3Uri": "s3://kb/v.mp4", "summary": "A box is opened."}}},
        {"content": {"type": "IMAGE", "byteContent": "AAAA"}},
        {"content": {"type": "VIDEO", "video": {"s3Uri": "s3://kb/v.mp4"}}},
        text(" \n "),
        {"score": 0.5},
    ]

    found = retrieve(bedrock, top_k=10)

    assert [passage.text for passage in found.passages] == [
        "total: 12\ncustomer: Ana",
        "I said so.",
        "A box is opened.",
    ]
    assert found.without_text == 4


def test_a_missing_score_stays_missing(bedrock: BedrockService) -> None:
    """Unknown is not zero, and zero is not unknown."""
    bedrock.results = [text("a"), text("b", score=0.0)]

    assert [passage.score for passage in retrieve(bedrock).passages] == [None, 0.0]


def test_nothing_found_is_an_answer(bedrock: BedrockService) -> None:
    """No results are no failure."""
    assert retrieve(bedrock) == Retrieval((), "v1")


FAILURES = [
    (Failure(429, "ThrottlingException"), "throttled"),
    (Failure(400, "ServiceQuotaExceededException"), "throttled"),
    (Failure(429, "SomethingNew"), "throttled"),
    (Failure(403, "AccessDeniedException"), "access_denied"),
    (Failure(403, "UnrecognizedClientException"), "access_denied"),
    (Failure(401, "SomethingNew"), "access_denied"),
    (Failure(404, "ResourceNotFoundException"), "not_found"),
    (Failure(400, "ValidationException"), "invalid"),
    (Failure(409, "ConflictException"), "unavailable"),
    (Failure(424, "DependencyFailedException"), "unavailable"),
    (Failure(500, "InternalServerException"), "unavailable"),
    (Failure(502, "BadGatewayException"), "unavailable"),
]


@pytest.mark.parametrize(("failure", "code"), FAILURES)
def test_a_failure_is_a_code_in_our_own_words(bedrock: BedrockService, failure: Failure, code: str) -> None:
    """The service's message may hold the query; nothing of it is in the error, nor in its traceback."""
    bedrock.retrieve_failure = failure

    with pytest.raises(KnowledgeBaseError) as raised:
        retrieve(bedrock)

    assert raised.value.code == code
    shown = "".join(traceback.format_exception(raised.value)) + raised.value.message
    assert failure.message not in shown


def test_a_service_that_is_not_there_is_unavailable() -> None:
    """A refused connection is no stack trace."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and never listening
        service = BedrockService(url=f"http://127.0.0.1:{taken.getsockname()[1]}")

        with pytest.raises(KnowledgeBaseError) as raised:
            retrieve(service)

    assert raised.value.code == "unavailable"


def test_a_service_that_does_not_answer_is_unavailable() -> None:
    """A read that times out ends like a refused connection."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        service = BedrockService(url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        impatient = Config(read_timeout=0.05, retries={"total_max_attempts": 1})

        with pytest.raises(KnowledgeBaseError) as raised:
            knowledge_base(service, config=impatient).retrieve("q", 1)

    assert raised.value.code == "unavailable"


def test_what_boto3_itself_refuses_is_invalid(bedrock: BedrockService) -> None:
    """A request that breaks the service's model is not sent; its message would repeat the query."""
    with pytest.raises(KnowledgeBaseError) as raised:
        retrieve(bedrock, query=b"bytes")  # type: ignore[arg-type]

    assert (raised.value.code, bedrock.asked) == ("invalid", [])


def test_an_agent_without_credentials_is_denied(bedrock: BedrockService, monkeypatch: pytest.MonkeyPatch) -> None:
    """A laptop without AWS gets a code, not a stack trace."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")

    with pytest.raises(KnowledgeBaseError) as raised:
        knowledge_base(bedrock, aws_access_key_id=None, aws_secret_access_key=None).retrieve("q", 1)

    assert raised.value.code == "access_denied"


def test_the_clients_at_the_edge_reach_the_service(bedrock: BedrockService, monkeypatch: pytest.MonkeyPatch) -> None:
    """The factory's clients obey boto3's own variables, and give up before a caller does."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", bedrock.url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT", bedrock.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    bedrock.results = [text("words")]

    clients = bedrock_clients("eu-central-1")
    found = BedrockKnowledgeBase(KNOWLEDGE_BASE, clients.retrieve, GivenIndexVersion("v1")).retrieve("q", 1)

    assert [passage.text for passage in found.passages] == ["words"]
    assert clients.index_version.list_data_sources(knowledgeBaseId=KNOWLEDGE_BASE)["dataSourceSummaries"] == []
    assert clients.index_version.meta.config.read_timeout < clients.retrieve.meta.config.read_timeout <= 20
