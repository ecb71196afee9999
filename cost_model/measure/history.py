"""Read the history of queries of a log group, and what each read and skipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from botocore import exceptions as aws

from cost_model.aws import code_of, told
from cost_model.errors import AwsError
from cost_model.measure.incoming import Window
from cost_model.measure.query_shape import OWN_MARK

PAGE: Final = 1000
"""Queries of one page at most (DescribeQueries)."""
MOST_STATISTICS: Final = 200
"""Queries, the newest first, of which the statistics are asked: their results are kept for days, not for months."""
_PAGES: Final = 100
_GONE: Final = frozenset({"ResourceNotFoundException", "InvalidParameterException"})
_DENIED: Final = frozenset({"AccessDeniedException", "AccessDenied"})
_OPEN: Final = frozenset({"Scheduled", "Running"})


@dataclass(frozen=True, slots=True)
class Ran:
    """Hold one query of the history; bytes are uncompressed ones, and None where AWS does not tell them.

    Attributes:
        groups: log groups that it read; its bytes are those of all of them.
    """

    query_id: str
    text: str
    at: datetime
    scanned: Decimal | None = None
    skipped: Decimal | None = None
    groups: int | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Hold the queries of a window; `oldest` is the first of all that AWS still lists, or None."""

    ran: tuple[Ran, ...]
    oldest: date | None = None
    statistics_denied: bool = False

    def covers(self, window: Window) -> bool:
        """Tell whether AWS still lists queries from before the window, so that none of it was forgotten."""
        return self.oldest is not None and self.oldest < window.first


def read_history(client: Any, group: str, window: Window) -> History:  # noqa: ANN401 - a boto3 client has no type
    """Read the ended queries of a window, with the statistics that are still there.

    Raises:
        AwsError: CloudWatch Logs does not answer, or what it says is malformed.
    """
    listed = sorted(_listed(client, group), key=lambda ran: ran.at, reverse=True)
    start, end = window.moments
    inside = [ran for ran in listed if start <= ran.at < end and OWN_MARK not in ran.text]
    told_of, denied = _with_statistics(client, inside)
    return History(tuple(told_of), listed[-1].at.date() if listed else None, denied)


def _listed(client: Any, group: str) -> Iterator[Ran]:  # noqa: ANN401
    request: dict[str, Any] = {"logGroupName": group, "maxResults": PAGE}
    for _ in range(_PAGES):
        with told("reading the history of queries failed", "logs:DescribeQueries"):
            answer = client.describe_queries(**request)
        yield from (_ran(info) for info in answer.get("queries", ()) if info.get("status") not in _OPEN)
        token = answer.get("nextToken")
        if not token or token == request.get("nextToken"):
            return
        request["nextToken"] = token
    message = "reading the history of queries failed: DescribeQueries' pages have no end"
    raise AwsError(message)


def _ran(info: Mapping[str, Any]) -> Ran:
    query_id, created = info.get("queryId"), info.get("createTime")
    if not isinstance(query_id, str) or not isinstance(created, int):
        message = f"DescribeQueries answered a query without id or time: {str(dict(info))[:80]!r}"
        raise AwsError(message)
    try:
        at = datetime.fromtimestamp(created / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        message = f"DescribeQueries answered a query of the time {created}, which is none"
        raise AwsError(message) from None
    return Ran(query_id, str(info.get("queryString", "")), at, amount(info.get("bytesScanned")))


def _with_statistics(client: Any, ran: Iterable[Ran]) -> tuple[list[Ran], bool]:  # noqa: ANN401
    """Ask for statistics until the right is missing; without it, or when they are gone, a query is left as it is."""
    found: list[Ran] = []
    denied = False
    for position, query in enumerate(ran):
        statistics: Mapping[str, Any] | None = None
        if not denied and position < MOST_STATISTICS:
            with told("reading what queries skipped failed", "logs:GetQueryResults"):
                statistics = _statistics(client, query)
            denied = statistics is None
        found.append(_told_of(query, statistics or {}))
    return found, denied


def _statistics(client: Any, query: Ran) -> Mapping[str, Any] | None:  # noqa: ANN401
    """Give what is left of a query's statistics; None where the right is missing."""
    try:
        answer: Mapping[str, Any] = client.get_query_results(queryId=query.query_id, maxItems=1)
    except aws.ClientError as error:
        if code_of(error) in _GONE:
            return {}
        if code_of(error) in _DENIED:
            return None
        raise
    return answer.get("statistics") or {}


def _told_of(query: Ran, statistics: Mapping[str, Any]) -> Ran:
    scanned, groups = amount(statistics.get("bytesScanned")), amount(statistics.get("logGroupsScanned"))
    return replace(
        query,
        scanned=query.scanned if scanned is None else scanned,
        skipped=amount(statistics.get("estimatedBytesSkipped")),
        groups=None if groups is None else int(groups),
    )


def amount(value: object) -> Decimal | None:
    """Read a number of bytes or lines that AWS tells; None where it is none.

    Raises:
        AwsError: it cannot be one.
    """
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = Decimal(repr(value))
    if not number.is_finite() or number < 0:
        message = f"CloudWatch Logs answered {value} for bytes of a query: that cannot be"
        raise AwsError(message)
    return number
