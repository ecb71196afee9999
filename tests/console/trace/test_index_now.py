"""The index is the same, another, or nobody knows: then it is said why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from agent_image.retrieval.chunks import Cut
from agent_image.retrieval.folder import Folder, FolderKnowledgeBase
from console.trace.facts import Index, IndexFact
from console.trace.index_now import NoIndex, OneIndex, Unknown, of_folder, of_knowledge_base

KB = "KB12345678"
THEN = "JOB1@2026-01-02T03:04:05Z"


class Pages:
    """A paginator that gives one page."""

    def __init__(self, page: Mapping[str, Any] | Exception) -> None:
        self.page = page

    def paginate(self, **_: Any) -> Iterator[Mapping[str, Any]]:
        if isinstance(self.page, Exception):
            raise self.page
        yield self.page


class Client:
    """A client of `bedrock-agent` that knows one data source and its jobs, and counts how often it is asked."""

    def __init__(self, jobs: list[tuple[str, datetime]] | Exception) -> None:
        self.jobs = jobs
        self.asked = 0

    def get_paginator(self, name: str) -> Pages:
        if isinstance(self.jobs, Exception):
            return Pages(self.jobs)
        if name == "list_data_sources":
            self.asked += 1
            return Pages({"dataSourceSummaries": [{"dataSourceId": "DS"}]})
        return Pages({"ingestionJobSummaries": [{"ingestionJobId": id_, "updatedAt": at} for id_, at in self.jobs]})


def refused(code: str, status: int = 400) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "List")


def of_jobs(jobs: list[tuple[str, datetime]] | Exception) -> OneIndex:
    client = Client(jobs)
    return of_knowledge_base(KB, lambda: client)


FIRST = [("JOB1", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))]
SECOND = [("JOB2", datetime(2026, 2, 2, tzinfo=UTC))]


def test_the_last_ingestion_job_is_the_index_version() -> None:
    """The same job is the same index; a later one has indexed again, and both are named."""
    assert of_jobs(FIRST).fact(THEN, KB) == IndexFact(Index.SAME, THEN, THEN)
    assert of_jobs(SECOND).fact(THEN, KB) == IndexFact(Index.REINDEXED, THEN, "JOB2@2026-02-02T00:00:00Z")


@pytest.mark.parametrize(
    ("jobs", "then", "data_source", "expected"),
    [
        (FIRST, "", KB, IndexFact(Index.UNKNOWN, "", THEN, Unknown.NOT_RECORDED)),
        (FIRST, "release-7", KB, IndexFact(Index.UNKNOWN, "release-7", THEN, Unknown.GIVEN)),
        (FIRST, THEN, "KB87654321", IndexFact(Index.UNKNOWN, THEN, "", Unknown.OTHER_DATA_SOURCE)),
        (FIRST, THEN, "", IndexFact(Index.UNKNOWN, THEN, "", Unknown.OTHER_DATA_SOURCE)),
        ([], THEN, KB, IndexFact(Index.UNKNOWN, THEN, "", Unknown.NO_JOB)),
        (refused("AccessDeniedException", 403), THEN, KB, IndexFact(Index.UNKNOWN, THEN, "", Unknown.ACCESS_DENIED)),
        (NoCredentialsError(), THEN, KB, IndexFact(Index.UNKNOWN, THEN, "", Unknown.ACCESS_DENIED)),
        (refused("ResourceNotFoundException", 404), THEN, KB, IndexFact(Index.UNKNOWN, THEN, "", Unknown.NOT_FOUND)),
        (refused("ThrottlingException", 429), THEN, KB, IndexFact(Index.UNKNOWN, THEN, "", Unknown.UNREACHABLE)),
        (refused("InternalServerException", 500), THEN, KB, IndexFact(Index.UNKNOWN, THEN, "", Unknown.UNREACHABLE)),
    ],
)
def test_what_nobody_knows_is_unknown_and_said_why(
    jobs: list[tuple[str, datetime]] | Exception, then: str, data_source: str, expected: IndexFact
) -> None:
    """Never: the same."""
    assert of_jobs(jobs).fact(then, data_source) == expected


def test_an_index_is_asked_at_most_once() -> None:
    """However many passages came of it, and not at all where none did."""
    client = Client(FIRST)
    index = of_knowledge_base(KB, lambda: client)

    index.fact(THEN, "another")
    assert client.asked == 0
    for _ in range(3):
        index.fact(THEN, KB)
    assert client.asked == 1


def test_a_folder_s_version_is_that_which_its_knowledge_base_has(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever text or size changes it, and nothing is said of files that hold no text."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "returns.md").write_text("# Returns\n\nThirty days.")
    (folder / "broken.md").write_bytes(b"\xff\xfe\xff")
    base = FolderKnowledgeBase(Folder(folder, Cut(300, 60)))
    try:
        then = base.retrieve("returns", 1).index_version
    finally:
        base.close()
    assert then is not None
    capfd.readouterr()

    def fact(cut: Cut) -> IndexFact:
        return of_folder(Folder(folder, cut)).fact(then, "folder:shop")

    assert fact(Cut(300, 60)) == IndexFact(Index.SAME, then, then)
    assert fact(Cut(300, 50)).state is Index.REINDEXED
    (folder / "returns.md").write_text("# Returns\n\nTen days.")
    assert fact(Cut(300, 60)).state is Index.REINDEXED
    assert of_folder(Folder(folder, Cut(300, 60))).fact("release-7", "folder:shop").why == Unknown.GIVEN
    assert capfd.readouterr().err == ""


def test_a_folder_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    """Its documents say the rest."""
    fact = of_folder(Folder(tmp_path / "none", Cut(300, 60))).fact("0" * 20, "folder:none")

    assert fact == IndexFact(Index.UNKNOWN, "0" * 20, why=Unknown.NOT_FOUND)


def test_nothing_known_of_the_agent_is_said() -> None:
    """A state folder of an older version, or an agent without a knowledge base."""
    assert NoIndex().fact(THEN, KB) == IndexFact(Index.UNKNOWN, THEN, why=Unknown.NO_DATA_SOURCE)
