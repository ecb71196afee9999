"""The index version is what the last sync left, read while the agent runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_image.retrieval.bedrock import BedrockKnowledgeBase
from agent_image.retrieval.index_version import (
    CACHED_SECONDS,
    RETRY_SECONDS,
    CachedIndexVersion,
    GivenIndexVersion,
    last_ingestion,
)
from tests.agent_image.retrieval.bedrock_service import KNOWLEDGE_BASE, BedrockService, Failure, job

LONG = 60.0


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


def read(service: BedrockService) -> Callable[[], str | None]:
    client = service.client("bedrock-agent")
    return lambda: last_ingestion(client, KNOWLEDGE_BASE)


def version_of(service: BedrockService, clock: Clock, patience: float = LONG) -> CachedIndexVersion:
    return CachedIndexVersion(read(service), clock, patience)


def synced(service: BedrockService, job_id: str, day: int) -> None:
    service.jobs.setdefault("DS12345678", []).append(
        job(job_id, "COMPLETE", f"2026-11-{day:02}T09:00:00Z", f"2026-11-{day:02}T10:00:00.123Z")
    )


def test_the_version_is_the_last_completed_job_of_all_sources(bedrock: BedrockService) -> None:
    """Jobs that run, fail or ended before do not count, on whatever page and in whatever data source they are."""
    bedrock.jobs = {
        "DSAAAAAAAA": [
            job("JOBAAAAAA1", "COMPLETE", "2026-11-01T09:00:00Z", "2026-11-01T10:00:00Z"),
            job("JOBAAAAAA2", "FAILED", "2026-11-30T09:00:00Z", "2026-11-30T10:00:00Z"),
        ],
        "DSBBBBBBBB": [
            job("JOBBBBBBB1", "COMPLETE", "2026-11-28T09:00:00Z", "2026-11-28T10:00:00Z"),
            job("JOBBBBBBB2", "COMPLETE", "2026-11-29T09:00:00Z", "2026-11-29T11:00:00+01:00"),
            job("JOBBBBBBB3", "IN_PROGRESS", "2026-11-30T09:00:00Z", "2026-11-30T10:00:00Z"),
        ],
        "DSCCCCCCCC": [],
    }

    assert read(bedrock)() == "JOBBBBBBB2@2026-11-29T10:00:00Z"


def test_a_base_without_a_completed_job_has_no_version(bedrock: BedrockService) -> None:
    """Nothing is made up."""
    bedrock.jobs = {"DSAAAAAAAA": [job("JOBAAAAAA1", "STARTING", "2026-11-01T09:00:00Z", "2026-11-01T09:00:00Z")]}

    assert read(bedrock)() is None


def test_a_sync_changes_the_version_without_a_restart(bedrock: BedrockService) -> None:
    """One knowledge base in one process says another version once its cache has run out, and not before."""
    clock = Clock()
    index_version = version_of(bedrock, clock)
    knowledge_base = BedrockKnowledgeBase(KNOWLEDGE_BASE, bedrock.client("bedrock-agent-runtime"), index_version)
    synced(bedrock, "JOB0000001", 1)
    before = knowledge_base.retrieve("q", 1).index_version

    synced(bedrock, "JOB0000002", 2)
    clock.now += CACHED_SECONDS - 1
    cached = knowledge_base.retrieve("q", 1).index_version
    clock.now += 1
    after = knowledge_base.retrieve("q", 1).index_version

    assert before == cached == "JOB0000001@2026-11-01T10:00:00Z"
    assert after == "JOB0000002@2026-11-02T10:00:00Z"
    assert bedrock.listings() == 2


@pytest.mark.parametrize("failure", [Failure(403, "AccessDeniedException"), Failure(500, "InternalServerException")])
def test_a_failure_is_unknown_and_tried_again_soon(
    bedrock: BedrockService, failure: Failure, capfd: pytest.CaptureFixture[str]
) -> None:
    """A retrieval goes on without a version, an operator is told why, and the old version is not passed off as new."""
    clock = Clock()
    index_version = version_of(bedrock, clock)
    knowledge_base = BedrockKnowledgeBase(KNOWLEDGE_BASE, bedrock.client("bedrock-agent-runtime"), index_version)
    synced(bedrock, "JOB0000001", 1)
    assert index_version.current() is not None

    bedrock.listing_failure = failure
    clock.now += CACHED_SECONDS
    assert knowledge_base.retrieve("q", 1).index_version is None
    (line,) = capfd.readouterr().err.splitlines()
    assert json.loads(line)["notice"] == "index_version_unknown"
    assert json.loads(line)["reason"] in {"access_denied", "unavailable"}

    bedrock.listing_failure = None
    clock.now += RETRY_SECONDS - 1
    assert index_version.current() is None
    clock.now += 1
    assert index_version.current() == "JOB0000001@2026-11-01T10:00:00Z"


def test_a_reading_that_hangs_holds_up_nobody(bedrock: BedrockService) -> None:
    """Once its patience has run out, retrievals come back at once; when the reading ends, its value counts."""
    bedrock.listing_may_go_on.clear()
    synced(bedrock, "JOB0000001", 1)
    ended = Event()
    reader = read(bedrock)

    def reading() -> str | None:
        try:
            return reader()
        finally:
            ended.set()

    index_version = CachedIndexVersion(reading, Clock(), patience_seconds=0.01)
    knowledge_base = BedrockKnowledgeBase(KNOWLEDGE_BASE, bedrock.client("bedrock-agent-runtime"), index_version)

    assert [knowledge_base.retrieve("q", 1).index_version for _ in range(3)] == [None, None, None]
    assert not ended.is_set()
    bedrock.listing_may_go_on.set()
    ended.wait()
    while index_version.current() is None:  # the value is there a moment after it was read
        pass
    assert index_version.current() == "JOB0000001@2026-11-01T10:00:00Z"
    assert bedrock.listings() == 1


def test_many_threads_make_one_reading(bedrock: BedrockService) -> None:
    """Fifty sessions that start together ask the service once."""
    synced(bedrock, "JOB0000001", 1)
    index_version = version_of(bedrock, Clock())

    with ThreadPoolExecutor(50) as threads:
        found = set(threads.map(lambda _: index_version.current(), range(200)))

    assert found == {"JOB0000001@2026-11-01T10:00:00Z"}
    assert bedrock.listings() == 1


def test_whatever_a_reading_raises_stays_in_it(capfd: pytest.CaptureFixture[str]) -> None:
    """An error of our own is no reason to fail a retrieval; its text is not shown."""

    def broken() -> str:
        nothing: dict[str, str] = {}
        return nothing["the words of a document"]

    assert CachedIndexVersion(broken, Clock(), LONG).current() is None
    shown = capfd.readouterr().err
    assert json.loads(shown)["reason"] == "KeyError"
    assert "words" not in shown


def test_a_setting_overrides_what_the_base_says() -> None:
    """The stated version needs no reading."""
    given = GivenIndexVersion("2026-11")
    given.refresh()

    assert given.current() == "2026-11"


def test_reading_the_version_leaves_no_spans(bedrock: BedrockService, spans: InMemorySpanExporter) -> None:
    """Housekeeping in the background would otherwise stand in the trail under no session."""
    synced(bedrock, "JOB0000001", 1)
    knowledge_base = BedrockKnowledgeBase(
        KNOWLEDGE_BASE, bedrock.client("bedrock-agent-runtime"), version_of(bedrock, Clock())
    )

    assert knowledge_base.retrieve("q", 1).index_version is not None
    assert [span.name for span in spans.get_finished_spans()] == ["Bedrock Agent Runtime.Retrieve"]
