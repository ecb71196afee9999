"""Read what log groups took in, day by day: metrics of CloudWatch, by GetMetricData."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from cost_model.aws import told
from cost_model.errors import AwsError

DAY: Final = timedelta(days=1)
MOST_QUERIES: Final = 500
"""Metrics of one question at most (GetMetricData)."""
_PAGES: Final = 1000
_COMPLETE: Final = "Complete"
_GOES_ON: Final = "PartialData"


@dataclass(frozen=True, slots=True)
class Window:
    """Hold whole days in UTC: from the first, up to the last, which is in it."""

    first: date
    last: date

    @property
    def days(self) -> int:
        """Count the days."""
        return (self.last - self.first).days + 1

    @property
    def moments(self) -> tuple[datetime, datetime]:
        """Give the moments between which the days lie."""
        return _midnight(self.first), _midnight(self.last + DAY)


def window_before(today: date, days: int) -> Window:
    """Give the last whole days: today is not over, and its sum would be a part of a day's."""
    return Window(today - days * DAY, today - DAY)


@dataclass(frozen=True, slots=True)
class Incoming:
    """Hold what a group took in.

    Attributes:
        bytes_by_day: uncompressed bytes of the days for which CloudWatch has a sum; it has none of other days, and
            these are unknown.
        events_by_day: log events of those days.
        bytes_an_event: the day's bytes by its events, as metric maths gives it.
    """

    bytes_by_day: Mapping[date, Decimal]
    events_by_day: Mapping[date, Decimal]
    bytes_an_event: Mapping[date, Decimal]

    @property
    def bytes(self) -> Decimal:
        """Add up the days that are known."""
        return sum(self.bytes_by_day.values(), Decimal(0))

    @property
    def events(self) -> Decimal:
        """Add up the days that are known."""
        return sum(self.events_by_day.values(), Decimal(0))

    @property
    def bytes_a_day(self) -> Decimal | None:
        """Average the days that are known; None where none is."""
        return self.bytes / len(self.bytes_by_day) if self.bytes_by_day else None


def read_incoming(client: Any, groups: Sequence[str], window: Window) -> Mapping[str, Incoming]:  # noqa: ANN401 - a boto3 client has no type
    """Read the sums of some groups.

    Raises:
        AwsError: CloudWatch does not answer, or what it says cannot be.
    """
    asked = [query for position, group in enumerate(groups) for query in _queries(position, group)]
    sums: dict[str, dict[date, Decimal]] = {}
    # A group's three queries stay together: the maths of one question sees no other.
    most = MOST_QUERIES - MOST_QUERIES % 3
    for start in range(0, len(asked), most):
        _add(sums, _results(client, asked[start : start + most], window), window)
    return MappingProxyType(
        {
            group: _whole_days([sums.get(f"{kind}{position}", {}) for kind in ("bytes", "events", "each")], window)
            for position, group in enumerate(groups)
        }
    )


def _queries(position: int, group: str) -> Iterator[dict[str, Any]]:
    for kind, metric in (("bytes", "IncomingBytes"), ("events", "IncomingLogEvents")):
        named = {
            "Namespace": "AWS/Logs",
            "MetricName": metric,
            "Dimensions": [{"Name": "LogGroupName", "Value": group}],
        }
        yield {
            "Id": f"{kind}{position}",
            "MetricStat": {"Metric": named, "Period": int(DAY.total_seconds()), "Stat": "Sum"},
        }
    yield {
        "Id": f"each{position}",
        "Expression": f"bytes{position} / events{position}",
        "Period": int(DAY.total_seconds()),
    }


def _results(client: Any, queries: list[dict[str, Any]], window: Window) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401
    start, end = window.moments
    request: dict[str, Any] = {"MetricDataQueries": queries, "StartTime": start, "EndTime": end}
    for _ in range(_PAGES):
        with told("reading what came in failed", "cloudwatch:GetMetricData"):
            answer = client.get_metric_data(**request)
        yield from answer.get("MetricDataResults", ())
        token = answer.get("NextToken")
        if not token or token == request.get("NextToken"):
            return
        request["NextToken"] = token
    message = "reading what came in failed: GetMetricData's pages have no end"
    raise AwsError(message)


def _add(sums: dict[str, dict[date, Decimal]], results: Iterator[Mapping[str, Any]], window: Window) -> None:
    status: dict[str, str] = {}
    for result in results:
        name = str(result.get("Id"))
        status[name] = str(result.get("StatusCode", _COMPLETE))
        days = sums.setdefault(name, {})
        moments, values = result.get("Timestamps", ()), result.get("Values", ())
        if len(moments) != len(values):
            message = f"GetMetricData answered {len(moments)} moments and {len(values)} values of {name}"
            raise AwsError(message)
        for moment, value in zip(moments, values, strict=True):
            day, amount = moment.astimezone(UTC).date(), Decimal(repr(value))
            if not amount.is_finite() or amount < 0 or day in days:
                message = f"GetMetricData answered {value} for {name} on {day}: that cannot be a day's sum"
                raise AwsError(message)
            if window.first <= day <= window.last:
                days[day] = amount
    failed = sorted(name for name, code in status.items() if code not in {_COMPLETE, _GOES_ON})
    if failed:
        message = f"GetMetricData answered {status[failed[0]]} for {', '.join(failed)}: try again in a minute"
        raise AwsError(message)


def _whole_days(sums: Sequence[Mapping[date, Decimal]], window: Window) -> Incoming:
    """Leave out the first day where nothing is known of one before it: the group was made, or first used, within it."""
    days = sorted(sums[0])
    if len(days) > 1 and days[0] > window.first:
        days = days[1:]
    kept = [MappingProxyType({day: by[day] for day in days if day in by}) for by in sums]
    return Incoming(*kept)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
