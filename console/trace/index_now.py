"""Tell whether the index is still the one that was read; what cannot be known is said, with why."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from agent_image.retrieval.failure import AWS_ERRORS, Failure, aws_failure
from agent_image.retrieval.folder import Folder, id_of, version_now
from agent_image.retrieval.index_version import last_ingestion
from console.trace.facts import Index, IndexFact

_OF_FOLDER: Final = re.compile(r"[0-9a-f]{20}")
_OF_JOB: Final = re.compile(r"[^@\s]+@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Unknown(StrEnum):
    """Name why nobody knows."""

    NOT_RECORDED = "not_recorded"
    """The trail does not say which version was read."""
    GIVEN = "given_by_a_setting"
    """A setting stated the version that was read: what it stands for is known to nobody outside."""
    OTHER_DATA_SOURCE = "other_data_source"
    """The passage came from another data source than the agent has now."""
    NO_DATA_SOURCE = "no_data_source"
    NO_JOB = "no_ingestion_job"
    """No job has completed; documents that are put in directly leave none."""
    ACCESS_DENIED = "access_denied"
    NOT_FOUND = "not_found"
    UNREACHABLE = "unreachable"


class IndexNow(Protocol):
    """Know the index versions that there are now."""

    def fact(self, then: str, data_source: str) -> IndexFact:
        """Compare the version that a retrieval read, which may be empty, with the one that its data source has now."""
        ...


class NoIndex:
    """Stand for an agent of which nobody knows what it answers from."""

    def fact(self, then: str, data_source: str) -> IndexFact:  # noqa: ARG002 - whatever it was
        """Say so."""
        return IndexFact(Index.UNKNOWN, then, why=Unknown.NO_DATA_SOURCE)


@dataclass(frozen=True, slots=True)
class Now:
    """Hold the version that there is, or why nobody knows."""

    version: str = ""
    why: str = ""


class OneIndex:
    """Know one index; it is asked at most once."""

    def __init__(self, data_source: str, form: re.Pattern[str], ask: Callable[[], Now]) -> None:
        """Take the name under which retrievals know it, the form of its versions, and what reads the version."""
        self._data_source = data_source
        self._form = form
        self._ask = ask
        self._now: Now | None = None

    def fact(self, then: str, data_source: str) -> IndexFact:
        """Compare."""
        if data_source != self._data_source:
            return IndexFact(Index.UNKNOWN, then, why=Unknown.OTHER_DATA_SOURCE)
        if self._now is None:
            self._now = self._ask()
        now = self._now
        if not then:
            return IndexFact(Index.UNKNOWN, then, now.version, Unknown.NOT_RECORDED)
        if not self._form.fullmatch(then):
            return IndexFact(Index.UNKNOWN, then, now.version, Unknown.GIVEN)
        if not now.version:
            return IndexFact(Index.UNKNOWN, then, why=now.why)
        return IndexFact(Index.SAME if then == now.version else Index.REINDEXED, then, now.version)


def of_folder(folder: Folder) -> OneIndex:
    """Know the index of a folder on this machine, as its documents are now."""

    def now() -> Now:
        try:
            return Now(version_now(folder))
        except FileNotFoundError:
            return Now(why=Unknown.NOT_FOUND)
        except OSError:
            return Now(why=Unknown.ACCESS_DENIED)

    return OneIndex(id_of(folder), _OF_FOLDER, now)


def of_knowledge_base(knowledge_base_id: str, client: Callable[[], Any]) -> OneIndex:
    """Know the index of a Bedrock knowledge base; the client is one of `bedrock-agent`, made when it is needed."""

    def now() -> Now:
        try:
            version = last_ingestion(client(), knowledge_base_id)
        except AWS_ERRORS as error:
            return Now(why=_why(aws_failure(error)))
        return Now(why=Unknown.NO_JOB) if version is None else Now(version)

    return OneIndex(knowledge_base_id, _OF_JOB, now)


def _why(failure: Failure) -> Unknown:
    codes = {Failure.ACCESS_DENIED: Unknown.ACCESS_DENIED, Failure.NOT_FOUND: Unknown.NOT_FOUND}
    return codes.get(failure, Unknown.UNREACHABLE)
