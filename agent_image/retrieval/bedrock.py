"""Retrieve from a Bedrock knowledge base: its results become passages, its failures become codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import boto3
from botocore.config import Config

from agent_image.retrieval.failure import AWS_ERRORS, aws_failure
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.index_version import IndexVersion
from agent_image.retrieval.knowledge_base import Retrieval, refusal
from agent_image.retrieval.passage import Passage

SOURCE_URI: Final = "x-amz-bedrock-kb-source-uri"
"""The metadata key under which a knowledge base keeps where a passage came from."""

_RETRIEVE: Final = Config(connect_timeout=2, read_timeout=15, retries={"mode": "standard", "total_max_attempts": 3})
_INDEX_VERSION: Final = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2})

_LOCATIONS: Final = (
    ("s3Location", "uri"),
    ("webLocation", "url"),
    ("confluenceLocation", "url"),
    ("salesforceLocation", "url"),
    ("sharePointLocation", "url"),
    ("oneDriveLocation", "url"),
    ("googleDriveLocation", "url"),
    ("kendraDocumentLocation", "uri"),
)


@dataclass(frozen=True, slots=True)
class BedrockClients:
    """Hold the two boto3 clients that a knowledge base needs."""

    retrieve: Any
    index_version: Any


def bedrock_clients(region: str) -> BedrockClients:
    """Make the clients, with timeouts that a person who waits for an answer can bear."""
    return BedrockClients(
        retrieve=boto3.client("bedrock-agent-runtime", region_name=region, config=_RETRIEVE),
        index_version=boto3.client("bedrock-agent", region_name=region, config=_INDEX_VERSION),
    )


class BedrockKnowledgeBase:
    """Ask one knowledge base."""

    def __init__(self, knowledge_base_id: str, client: Any, index_version: IndexVersion) -> None:  # noqa: ANN401
        """Take its id, a boto3 client of `bedrock-agent-runtime`, and what knows its index version."""
        self._id = knowledge_base_id
        self._client = client
        self._index_version = index_version

    @property
    def id(self) -> str:
        """Name the knowledge base."""
        return self._id

    def retrieve(self, query: str, top_k: int) -> Retrieval:
        """Retrieve at most `top_k` passages, in the service's order.

        Raises:
            KnowledgeBaseError: the code is any `Failure`.
        """
        self._index_version.refresh()  # read while the knowledge base searches
        results = self._results(query, top_k)
        passages = tuple(passage for result in results if (passage := _passage(self._id, result)) is not None)
        return Retrieval(passages, self._index_version.current(), without_text=len(results) - len(passages))

    def _results(self, query: str, top_k: int) -> list[Mapping[str, Any]]:
        try:
            answer = self._client.retrieve(
                knowledgeBaseId=self._id,
                retrievalQuery={"text": query},
                retrievalConfiguration={"vectorSearchConfiguration": {"numberOfResults": top_k}},
            )
        except AWS_ERRORS as error:
            # Without the cause: a service's message may hold the query.
            raise refusal(aws_failure(error)) from None
        return list(answer["retrievalResults"])


def _passage(knowledge_base_id: str, result: Mapping[str, Any]) -> Passage | None:
    text = _text(result.get("content", {}))
    if not text.strip():
        return None
    metadata = MappingProxyType(dict(result.get("metadata", {})))
    return Passage(_uri(knowledge_base_id, result, metadata), text, result.get("score"), metadata)


def _text(content: Mapping[str, Any]) -> str:
    """Take what a model can read of a result: text, rows, or what was heard or seen; an image holds nothing."""
    rows = content.get("row", ())
    return (
        content.get("text")
        or "\n".join(f"{cell.get('columnName', '')}: {cell.get('columnValue', '')}" for cell in rows)
        or content.get("audio", {}).get("transcription")
        or content.get("video", {}).get("summary")
        or ""
    )


def _uri(knowledge_base_id: str, result: Mapping[str, Any], metadata: Mapping[str, object]) -> str:
    """Say where a result came from; what names no source gets a URI of the knowledge base that says so."""
    location = result.get("location", {})
    for kind, key in _LOCATIONS:
        if uri := location.get(kind, {}).get(key):
            return str(uri)
    if query := location.get("sqlLocation", {}).get("query"):
        # A query may repeat words of the question: an address holds none of them.
        return f"bedrock://{knowledge_base_id}/sql/{fingerprint(query).text}"
    if source := metadata.get(SOURCE_URI):
        return str(source)
    if document := location.get("customDocumentLocation", {}).get("id") or result.get("documentId"):
        return f"bedrock://{knowledge_base_id}/documents/{quote(document, safe='')}"
    return f"bedrock://{knowledge_base_id}/unknown"
