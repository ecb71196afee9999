"""Stand in for CloudWatch Logs Insights, and for the metric that says how much a log group took in.

    with querying(Insights()) as insights:
        insights.put_spans(GROUP, spans)            # lines of spans.jsonl, stored when they ended
        insights.put_events(GROUP, printed)         # lines of the agent's standard output, stored when they were
        run(["rastro", "trace", …], env={**VARIABLES, **insights.variables()})
        insights.asked                              # (operation, request) of each call
        insights.plant.throttle = 3                 # StartQuery is throttled so many times

Queries are evaluated, see `insights_language`; what the console should not write is answered as malformed. What Logs
Insights is known for holds here too: a `filterIndex` skips what no index covers, is refused in the class
INFREQUENT_ACCESS, and finds nothing older than 30 days; a window that ends before the group was made is malformed.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, Final

from agent_image.contract import DEFAULT_INDEXED_FIELDS, SPAN_DATA_FORMAT
from tests.loopback.insights_counting import Fields
from tests.loopback.insights_language import MalformedQueryError, Parsed, flat, parse
from tests.loopback.server import QuietHandler, serving

SPANS_STREAM: Final = "spans"
PRINTED_STREAM: Final = "2026/11/30/[runtime-logs]0a1b2c3d"
INDEXED_FOR: Final = timedelta(days=30)
STATISTICS: Final = ("recordsMatched", "recordsScanned", "bytesScanned")


@dataclass(frozen=True)
class Stored:
    """Hold one line of a group; `at` is in milliseconds since 1970."""

    stream: str
    at: int
    message: str

    def fields(self, pointer: str) -> Fields:
        """Give the fields that a query sees."""
        known: dict[str, Any] = {"@timestamp": self.at, "@message": self.message, "@logStream": self.stream}
        if self.stream == SPANS_STREAM:
            known["@data_format"] = SPAN_DATA_FORMAT
        return {**flat(self.message), **known, "@ptr": pointer}


@dataclass
class Group:
    """Hold a log group.

    Attributes:
        storage: its class: STANDARD or INFREQUENT_ACCESS.
        indexed: the fields of its index policy.
        created: a window that ends before is malformed.
        incoming: sums of IncomingBytes by their moments; None adds up what is stored.
    """

    storage: str = "STANDARD"
    indexed: frozenset[str] = frozenset()
    created: datetime = datetime(2020, 1, 1, tzinfo=UTC)
    incoming: Mapping[datetime, float] | None = None
    lines: list[Stored] = field(default_factory=list)


@dataclass
class Plant:
    """Plant faults.

    Attributes:
        throttle: StartQuery calls that are throttled yet.
        throttled_as: by which code.
        runs_for: GetQueryResults calls that find each query running, before the one that finds its end.
        ends: how the next queries end, one each; Complete when it is empty.
        denied: operations, or names of groups, that are denied.
        refused: queries whose text holds one of these are malformed.
        cut: characters after which @message is cut off in results; None leaves it whole.
        no_message: results lack @message.
        masked: texts that come as asterisks.
        throttle_results: GetQueryResults calls that are throttled yet.
        knows_no_pages: results are the first page, and no token.
        hang_up: calls that are not answered yet.
        failing: how a query ends that this says it of, by its request; it comes before `ends`.
    """

    throttle: int = 0
    throttled_as: str = "LimitExceededException"
    runs_for: int = 0
    ends: deque[str] = field(default_factory=deque)
    denied: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    cut: int | None = None
    no_message: bool = False
    masked: tuple[str, ...] = ()
    throttle_results: int = 0
    knows_no_pages: bool = False
    hang_up: int = 0
    failing: Callable[[Mapping[str, Any]], str | None] = lambda _: None


@dataclass
class _Running:
    group: Group
    query: Parsed
    rows: list[Fields]
    statistics: dict[str, float]
    end: str
    polls: int


@dataclass
class Insights:
    """Hold groups, what was asked, and what goes wrong.

    Attributes:
        page_rows: rows of one page of results.
        most_rows: what StartQuery takes for a limit.
        now: tells the time, for the age of indexed lines.
        stopped: ids of queries that StopQuery ended.
        most_at_once: queries that were open at the same time.
    """

    groups: dict[str, Group] = field(default_factory=dict)
    page_rows: int = 10_000
    most_rows: int = 100_000
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    plant: Plant = field(default_factory=Plant)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    most_at_once: int = 0
    url: str = ""
    _queries: dict[str, _Running] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def variables(self) -> dict[str, str]:
        """Give what a process needs, beside credentials and a Region, to take this for CloudWatch."""
        return {"AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": self.url, "AWS_ENDPOINT_URL_CLOUDWATCH": self.url}

    def group(self, name: str) -> Group:
        """Give a group; one that is not there is made."""
        return self.groups.setdefault(name, Group())

    def put(self, group: str, message: str, at: datetime, stream: str = PRINTED_STREAM) -> None:
        """Store a line."""
        self.group(group).lines.append(Stored(stream, round(at.timestamp() * 1000), message))

    def put_spans(self, group: str, lines: Iterable[str]) -> None:
        """Store spans, each when it ended."""
        for line in lines:
            at = datetime.fromtimestamp(int(json.loads(line)["endTimeUnixNano"]) / 1e9, UTC)
            self.put(group, line, at, SPANS_STREAM)

    def put_events(self, group: str, lines: Iterable[str]) -> None:
        """Store events, each when it was; what else was printed counts as printed with the event before it."""
        at = self.now()
        for line in lines:
            if "ts" in (fields := flat(line)):
                at = datetime.fromisoformat(fields["ts"])
            self.put(group, line, at)

    @property
    def queries(self) -> list[dict[str, Any]]:
        """List the requests of StartQuery."""
        return [request for operation, request in self.asked if operation == "StartQuery"]

    def do(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Do an operation of CloudWatch Logs, or of CloudWatch.

        Raises:
            RefusalError: it does not.
        """
        with self._lock:
            self.asked.append((operation, request))
            operations = {
                "StartQuery": self._start,
                "GetQueryResults": self._results,
                "StopQuery": self._stop,
                "GetLogRecord": self._record,
                "DescribeLogGroups": self._describe,
                "GetMetricData": self._metrics,
            }
            if operation not in operations:
                raise RefusalError("UnknownOperationException", operation)
            if operation in self.plant.denied:
                raise RefusalError("AccessDeniedException", f"secret words: {operation}")
            return operations[operation](request)

    def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.plant.throttle:
            self.plant.throttle -= 1
            raise RefusalError(self.plant.throttled_as, "secret words: too many queries")
        name = request.get("logGroupName") or "".join(request["logGroupNames"])
        if name in self.plant.denied:
            raise RefusalError("AccessDeniedException", f"secret words: {name}")
        if name not in self.groups:
            raise RefusalError("ResourceNotFoundException", f"Log group {name} does not exist")
        limit = request.get("limit", 10_000)
        if not 1 <= limit <= self.most_rows:
            raise RefusalError("InvalidParameterException", f"limit is {limit}")
        query_id = f"query-{len(self._queries) + 1}"
        self._queries[query_id] = self._running(self.groups[name], request, limit)
        self.most_at_once = max(self.most_at_once, sum(query.polls >= 0 for query in self._queries.values()))
        return {"queryId": query_id}

    def _running(self, group: Group, request: dict[str, Any], limit: int) -> _Running:
        text = request["queryString"]
        if any(part in text for part in self.plant.refused):
            raise RefusalError("MalformedQueryException", "secret words: refused")
        try:
            query = parse(text)
        except MalformedQueryError as error:
            raise RefusalError("MalformedQueryException", str(error)) from None
        if query.indexed and group.storage != "STANDARD":
            raise RefusalError("MalformedQueryException", "filterIndex is not supported in this log class")
        start, end = request["startTime"] * 1000, request["endTime"] * 1000
        if start > end or end < group.created.timestamp() * 1000:
            message = (
                "end date and time is either before the log groups creation time or exceeds the log groups log "
                "retention settings"
            )
            raise RefusalError("MalformedQueryException", message)
        rows, statistics = self._found(group, query, start, end)
        ending = self.plant.failing(request) or (self.plant.ends.popleft() if self.plant.ends else "Complete")
        return _Running(group, query, rows[: query.limit or limit], statistics, ending, self.plant.runs_for)

    def _found(self, group: Group, query: Parsed, start: int, end: int) -> tuple[list[Fields], dict[str, float]]:
        window = [
            line.fields(f"{id(group)}:{number}") for number, line in enumerate(group.lines) if start <= line.at <= end
        ]
        covered = DEFAULT_INDEXED_FIELDS | group.indexed
        oldest = (self.now() - INDEXED_FOR).timestamp() * 1000
        for name, values in query.indexed:
            window = [
                line for line in window if name in covered and line["@timestamp"] >= oldest and line.get(name) in values
            ]
        found = [query.computed(line) for line in window]
        found = [line for line in found if all(holds(line) for holds in query.conditions)]
        scanned = sum(len(line["@message"].encode()) for line in window)
        statistics = dict(zip(STATISTICS, map(float, (len(found), len(window), scanned)), strict=True))
        return query.sorted(found if query.counting is None else query.counting.rows(found)), statistics

    def _results(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.plant.throttle_results:
            self.plant.throttle_results -= 1
            raise RefusalError("ThrottlingException", "secret words: rate exceeded")
        running = self._queries[request["queryId"]]
        if running.polls > 0:
            running.polls -= 1
            return {"status": "Running", "results": [], "statistics": running.statistics}
        running.polls = -1
        if running.end != "Complete":
            return {"status": running.end, "results": [], "statistics": running.statistics}
        start = int(request.get("nextToken", 0))
        page = running.rows[start : start + self.page_rows]
        answer: dict[str, Any] = {"status": "Complete", "statistics": running.statistics}
        answer["results"] = [self._row(running.query, row) for row in page]
        if start + self.page_rows < len(running.rows) and not self.plant.knows_no_pages:
            answer["nextToken"] = str(start + self.page_rows)
        return answer

    def _row(self, query: Parsed, row: Fields) -> list[dict[str, str]]:
        fields = {name: _written(name, value) for name, value in row.items() if name in query.shown}
        if "@message" in fields:
            fields["@message"] = self._masked(fields["@message"])[: self.plant.cut]
        if self.plant.no_message:
            fields.pop("@message", None)
        shown = [{"field": name, "value": fields[name]} for name in query.shown if name in fields]
        return shown if query.counting else [*shown, {"field": "@ptr", "value": row["@ptr"]}]

    def _masked(self, message: str) -> str:
        for text in self.plant.masked:
            message = message.replace(text, "*" * len(text))
        return message

    def _stop(self, request: dict[str, Any]) -> dict[str, Any]:
        self.stopped.append(request["queryId"])
        self._queries[request["queryId"]].polls = -1
        return {"success": True}

    def _record(self, request: dict[str, Any]) -> dict[str, Any]:
        owner, _, number = request["logRecordPointer"].partition(":")
        group = next(group for group in self.groups.values() if str(id(group)) == owner)
        return {"logRecord": {"@message": self._masked(group.lines[int(number)].message)}}

    def _describe(self, request: dict[str, Any]) -> dict[str, Any]:
        prefix = request.get("logGroupNamePrefix", "")
        return {
            "logGroups": [
                {"logGroupName": name, "logGroupClass": group.storage}
                for name, group in sorted(self.groups.items())
                if name.startswith(prefix)
            ]
        }

    def _metrics(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"MetricDataResults": [self._metric(query, request) for query in request["MetricDataQueries"]]}

    def _metric(self, query: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
        metric = query["MetricStat"]["Metric"]
        asked = (metric["Namespace"], metric["MetricName"], query["MetricStat"]["Stat"])
        if asked != ("AWS/Logs", "IncomingBytes", "Sum"):
            raise RefusalError("ValidationError", f"{asked}")
        (dimension,) = metric["Dimensions"]
        group = self.groups.get(dimension["Value"]) if dimension["Name"] == "LogGroupName" else None
        sums = {} if group is None else _sums(group, query["MetricStat"]["Period"])
        start, end = request["StartTime"], request["EndTime"]
        inside = {at: value for at, value in sums.items() if start <= at.timestamp() < end}
        return {
            "Id": query["Id"],
            "StatusCode": "Complete",
            "Timestamps": [at.timestamp() for at in inside],
            "Values": [*inside.values()],
        }


def _written(name: str, value: Any) -> str:
    if name == "@timestamp":
        return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M:%S}.{value % 1000:03}"
    return value if isinstance(value, str) else json.dumps(value)


def _sums(group: Group, period: int) -> Mapping[datetime, float]:
    if group.incoming is not None:
        return group.incoming
    sums: dict[datetime, float] = {}
    for line in group.lines:
        at = datetime.fromtimestamp(line.at // 1000 // period * period, UTC)
        sums[at] = sums.get(at, 0.0) + len(line.message.encode())
    return sums


class RefusalError(Exception):
    """Refuse a request as AWS does."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code = code
        self.message = message


@contextmanager
def querying(insights: Insights) -> Iterator[Insights]:
    """Serve on loopback until the block ends."""

    class Handler(QuietHandler):
        # Head and body leave together: a client that acknowledges late holds up nothing.
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.body()
            if insights.plant.hang_up:
                insights.plant.hang_up -= 1
                self.close_connection = True
                return
            status = 200
            try:
                # boto3 speaks JSON to both services, and names the operation in a header.
                answer = insights.do(self.headers["X-Amz-Target"].rpartition(".")[2], json.loads(body))
            except RefusalError as refusal:
                status, answer = 400, {"__type": refusal.code, "message": refusal.message}
            content_type = "application/x-amz-json-1.1"
            self.answer(json.dumps(answer).encode(), status=status, content_type=content_type)

    with serving(Handler) as url:
        insights.url = url
        yield insights
