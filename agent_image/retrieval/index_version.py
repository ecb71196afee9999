"""Tell in which state of its index a knowledge base answered, read while the agent runs.

A value fixed when the agent was deployed would lie after the next sync.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Lock, Thread
from typing import Any, Final, Protocol

from opentelemetry.instrumentation.utils import suppress_instrumentation

from agent_image.notice import notice
from agent_image.retrieval.failure import AWS_ERRORS, aws_failure

CACHED_SECONDS: Final = 300.0
"""How long a version that was read holds."""
RETRY_SECONDS: Final = 30.0
"""How long a failure holds, before the next reading."""
PATIENCE_SECONDS: Final = 2.0
"""How long retrievals wait for one reading, counted from its start."""

_STATE: Final = "COMPLETE"


class IndexVersion(Protocol):
    """Know the version of one index."""

    def refresh(self) -> None:
        """Begin to read it if it is due; come back at once."""
        ...

    def current(self) -> str | None:
        """Give the version; None where it is not known."""
        ...


@dataclass(frozen=True, slots=True)
class GivenIndexVersion:
    """Give the version that a setting states."""

    version: str

    def refresh(self) -> None:
        """Do nothing: it is known."""

    def current(self) -> str:
        """Give it."""
        return self.version


class CachedIndexVersion:
    """Read a version in the background, one reader at a time, and hold it for minutes."""

    def __init__(
        self, read: Callable[[], str | None], clock: Callable[[], float], patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        """Take what reads the version and a monotonic clock in seconds."""
        self._read = read
        self._clock = clock
        self._patience_seconds = patience_seconds
        self._lock = Lock()
        self._reading: _Reading | None = None
        self._version: str | None = None
        self._due = clock()

    def refresh(self) -> None:
        """Begin to read the version if it is due and nobody reads it."""
        with self._lock:
            if self._reading is None and self._clock() >= self._due:
                self._reading = _Reading(self._clock())
                Thread(target=self._run, args=(self._reading,), name="index-version", daemon=True).start()

    def current(self) -> str | None:
        """Give the version; None where it could not be read, or is still being read after a short wait."""
        self.refresh()
        with self._lock:
            reading = self._reading
        if reading is not None:
            left = reading.started + self._patience_seconds - self._clock()
            reading.done.wait(max(0.0, left))
        with self._lock:
            return self._version if self._reading is None else None

    def _run(self, reading: _Reading) -> None:
        # The trail holds what the agent did for an answer; this is housekeeping, and belongs to no session.
        with suppress_instrumentation():
            version, holds = self._outcome()
        with self._lock:
            self._version, self._due, self._reading = version, self._clock() + holds, None
        reading.done.set()

    def _outcome(self) -> tuple[str | None, float]:
        try:
            return self._read(), CACHED_SECONDS
        except AWS_ERRORS as error:
            notice("index_version_unknown", reason=aws_failure(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, retrievals go on, and the next reading tries again
            notice("index_version_unknown", reason=type(error).__name__)
        return None, RETRY_SECONDS


class _Reading:
    """Hold one reading under way."""

    def __init__(self, started: float) -> None:
        self.started = started
        self.done = Event()


def last_ingestion(client: Any, knowledge_base_id: str) -> str | None:  # noqa: ANN401 - boto3 makes its clients at run time
    """Read the last completed ingestion job over all data sources: `<job id>@<time of its end>`.

    None where no job has completed yet: documents may have been put in directly, which leaves no job.

    Args:
        client: a boto3 client of `bedrock-agent`.
        knowledge_base_id: the knowledge base.
    """
    jobs = [job for source in _data_sources(client, knowledge_base_id) for job in _last_job(client, source)]
    last = max(jobs, default=None)
    return None if last is None else str(last)


@dataclass(frozen=True, slots=True, order=True)
class _Job:
    """Hold a job's end and id, ordered by the end."""

    ended: datetime
    id: str

    def __str__(self) -> str:
        return f"{self.id}@{self.ended.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _data_sources(client: Any, knowledge_base_id: str) -> Iterator[dict[str, str]]:  # noqa: ANN401
    for page in client.get_paginator("list_data_sources").paginate(knowledgeBaseId=knowledge_base_id):
        for source in page["dataSourceSummaries"]:
            yield {"knowledgeBaseId": knowledge_base_id, "dataSourceId": source["dataSourceId"]}


def _last_job(client: Any, source: dict[str, str]) -> Iterator[_Job]:  # noqa: ANN401
    # A data source runs one job at a time, so the last to start is the last to end. A filtered page may come back
    # empty with more behind it: the paginator goes on until it meets the first.
    pages = client.get_paginator("list_ingestion_jobs").paginate(
        **source,
        filters=[{"attribute": "STATUS", "operator": "EQ", "values": [_STATE]}],
        sortBy={"attribute": "STARTED_AT", "order": "DESCENDING"},
        PaginationConfig={"PageSize": 1},
    )
    for page in pages:
        for job in page["ingestionJobSummaries"]:
            yield _Job(job["updatedAt"], job["ingestionJobId"])
            return
