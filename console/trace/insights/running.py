"""Run queries side by side, a few at a time, and leave none behind."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from botocore import exceptions as aws

from console.aws import told
from console.errors import ConsoleError
from console.moments import lasting_seconds
from console.progress import Progress
from console.trace.insights.calling import THROTTLED, Pace, code_of
from console.trace.insights.query import Query, seconds
from console.trace.insights.results import Row, row_of
from console.trace.insights.window import Window

AT_ONCE: Final = 4
"""Queries that are open at the same time at most: the account's people and dashboards share one limit."""
ROWS_LIMIT: Final = 100_000
"""Rows that a query gives at most (StartQuery)."""
PAGE_ROWS: Final = 10_000
"""Rows of one page at most (GetQueryResults), and of a query where the limit above is refused."""
_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 5.0
_GROWTH: Final = 1.5
_MEGABYTE: Final = 1 << 20
_TOO_OLD: Final = ("creation time", "retention settings")
"""What AWS's message holds where a window ends before the group's first line: it is no fault of the query."""


class End(StrEnum):
    """Say how a query ended: in AWS's words, or why it was not begun."""

    COMPLETE = "Complete"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    TIMEOUT = "Timeout"
    UNKNOWN = "Unknown"
    MISSING = "missing"
    DENIED = "denied"
    TOO_OLD = "too_old"
    MALFORMED = "malformed"


_NOT_BEGUN: Final[Mapping[str, End]] = {
    "AccessDeniedException": End.DENIED,
    "ResourceNotFoundException": End.MISSING,
}
_OPEN: Final = frozenset({"Scheduled", "Running"})


@dataclass(frozen=True, slots=True)
class Asked:
    """Hold a query with what it is asked of.

    Attributes:
        again: it is part of one that failed: it is not tried once more.
    """

    group: str
    query: Query
    window: Window
    again: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """Hold how a query ended.

    Attributes:
        full: there may be more rows than it gives.
        scanned: bytes that it read; None where AWS does not say.
    """

    asked: Asked
    end: End
    rows: tuple[Row, ...] = ()
    full: bool = False
    scanned: int | None = 0


@dataclass(slots=True)
class _Open:
    position: int
    asked: Asked
    began: float
    scanned: int | None = None


class Runner:
    """Run queries through a boto3 client of CloudWatch Logs."""

    def __init__(self, client: Any, pace: Pace, progress: Progress) -> None:  # noqa: ANN401 - a boto3 client has no type
        """Take the client, how to wait, and what is told while queries run."""
        self._client = client
        self._pace = pace
        self.progress = progress
        self._rows_limit = ROWS_LIMIT
        self._open: dict[str, _Open] = {}
        self.begun = 0
        self.scanned: int | None = 0

    def run(self, asked: Sequence[Asked]) -> list[Ended]:
        """Run queries to their ends; give these in the same order. Whatever breaks in, no query goes on behind it.

        Raises:
            ConsoleError: CloudWatch Logs does not answer, or refuses for another reason than those of `End`.
        """
        waiting, ended = deque(enumerate(asked)), dict[int, Ended]()
        pause = _FIRST_PAUSE
        try:
            while waiting or self._open:
                while waiting and len(self._open) < AT_ONCE:
                    self._begin(*waiting.popleft(), ended)
                    pause = _FIRST_PAUSE
                done = [query_id for query_id in self._open if self._is_done(query_id, ended)]
                for query_id in done:
                    del self._open[query_id]
                if self._open and not done:
                    self._pace.wait(pause)
                    pause = min(_LONGEST_PAUSE, pause * _GROWTH)
        finally:
            self._stop()
        return [ended[position] for position in range(len(asked))]

    def _begin(self, position: int, asked: Asked, ended: dict[int, Ended]) -> None:
        self.progress(asked.query.what)
        start, end = seconds(asked.window)
        text = asked.query.text(asked.window)
        with told(f"asking CloudWatch Logs for {asked.query.what} failed"):
            try:
                query_id = self._started(asked.group, text, start, end)
            except aws.ClientError as error:
                ending = _not_begun(error)
                if ending is None:
                    _refuse_throttled(error)
                    raise
                ended[position] = Ended(asked, ending)
                return
        self.begun += 1
        self._open[query_id] = _Open(position, asked, self._pace.clock())

    def _started(self, group: str, text: str, start: int, end: int) -> str:
        def start_query() -> str:
            answer = self._client.start_query(
                logGroupName=group, startTime=start, endTime=end, queryString=text, limit=self._rows_limit
            )
            return str(answer["queryId"])

        try:
            return str(self._pace.patiently(start_query))
        except aws.ClientError as error:
            if code_of(error) != "InvalidParameterException" or self._rows_limit == PAGE_ROWS:
                raise
        self._rows_limit = PAGE_ROWS
        return str(self._pace.patiently(start_query))

    def _is_done(self, query_id: str, ended: dict[int, Ended]) -> bool:
        running = self._open[query_id]
        answer = self._results(query_id, running.asked)
        running.scanned = _scanned(answer)
        status = answer.get("status")
        if status in _OPEN:
            self._tell(running)
            return False
        end = End(status) if status in set(End) else End.UNKNOWN
        rows = self._rows(query_id, running, answer) if end is End.COMPLETE else []
        self._add(running.scanned)
        # An endpoint that knows no pages gives the first one alone, and no token.
        full = bool(rows) and len(rows) % PAGE_ROWS == 0
        ended[running.position] = Ended(running.asked, end, tuple(rows), full, running.scanned)
        return True

    def _rows(self, query_id: str, running: _Open, answer: Mapping[str, Any]) -> list[Row]:
        rows = [row_of(fields) for fields in answer.get("results", ())]
        while token := answer.get("nextToken"):
            answer = self._results(query_id, running.asked, nextToken=token)
            rows += (row_of(fields) for fields in answer.get("results", ()))
        return rows

    def _results(self, query_id: str, asked: Asked, **page: str) -> Mapping[str, Any]:
        needed = "access denied: this needs logs:GetQueryResults"
        with told(f"reading what was found of {asked.query.what} failed", {"AccessDeniedException": needed}):
            found: Mapping[str, Any] = self._pace.patiently(
                lambda: self._client.get_query_results(queryId=query_id, **page)
            )
            return found

    def _tell(self, running: _Open) -> None:
        read = "" if running.scanned is None else f", {running.scanned // _MEGABYTE:,} MB read"
        time = lasting_seconds(int(self._pace.clock() - running.began))
        self.progress(f"{running.asked.query.what}: {time}{read}")

    def _add(self, scanned: int | None) -> None:
        self.scanned = None if scanned is None or self.scanned is None else self.scanned + scanned

    def _stop(self) -> None:
        """Stop what is still open: nobody waits for it, and it holds a place that others need."""
        while self._open:
            query_id, running = self._open.popitem()
            self._add(running.scanned)
            with suppress(aws.ClientError, aws.BotoCoreError):
                self._client.stop_query(queryId=query_id)


def _not_begun(error: aws.ClientError) -> End | None:
    code = code_of(error)
    if code != "MalformedQueryException":
        return _NOT_BEGUN.get(code)
    message = str(error.response.get("Error", {}).get("Message", "")).lower()
    return End.TOO_OLD if any(part in message for part in _TOO_OLD) else End.MALFORMED


def _refuse_throttled(error: aws.ClientError) -> None:
    if code_of(error) in THROTTLED:
        message = (
            "CloudWatch Logs runs no more queries now: others use what the account may run at once; try again later"
        )
        raise ConsoleError(message) from None


def _scanned(answer: Mapping[str, Any]) -> int | None:
    found = (answer.get("statistics") or {}).get("bytesScanned")
    return int(found) if isinstance(found, int | float) else None
