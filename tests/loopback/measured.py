"""Stand in for the parts of an account that measuring asks: metrics by day, the history of queries, counts.

    with answering(Trail(days={…}, queries=[…]).account()) as account:
        run(["rastro", "cost", "measure", …], env={**VARIABLES, **variables(account)})

What AWS is known for holds here too: a day without data has no sum, pages are short, statistics of a query are gone
after some days, and a client that asks too fast is throttled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from itertools import count
from typing import Any

from tests.loopback.account import Answer, CloudAccount, Refused

STEM = "/aws/bedrock-agentcore/runtimes/agent-0a1b"
GROUP = f"{STEM}-live"
DEFAULT = f"{STEM}-DEFAULT"


@dataclass
class Query:
    """Hold a query of the history; its statistics are there where `skipped` is."""

    text: str
    on: date
    scanned: float | None = None
    skipped: float | None = None
    groups: int = 1
    status: str = "Complete"


@dataclass
class Trail:
    """Hold what comes in, by group and day, and what else is asked.

    Attributes:
        page: items of one page.
        throttle: calls of each kind that are throttled yet.
        discovery: the environment's discovery document; None is not there.
        rows: what a query that is started now finds.
        ends: how it ends.
        metric_status: what GetMetricData says of each metric.
    """

    bytes_by_day: dict[str, dict[date, Any]] = field(default_factory=dict)
    event_bytes: float = 1024
    queries: list[Query] = field(default_factory=list)
    metrics: dict[str, int] = field(default_factory=dict)
    alarms: int = 0
    dashboards: int = 0
    page: int = 500
    throttle: int = 0
    discovery: dict[str, Any] | None = None
    rows: list[dict[str, str]] = field(default_factory=list)
    ends: str = "Complete"
    polls: int = 0
    metric_status: str = "Complete"
    denied: set[str] = field(default_factory=set)

    def account(self) -> CloudAccount:
        """Script an account."""
        scripts = {
            "ssm:GetParameter": self._parameter,
            "cloudwatch:GetMetricData": self._metric_data,
            "cloudwatch:ListMetrics": self._list_metrics,
            "cloudwatch:DescribeAlarms": lambda asked: self._paged(asked, "MetricAlarms", [{}] * self.alarms),
            "cloudwatch:ListDashboards": lambda asked: self._paged(asked, "DashboardEntries", [{}] * self.dashboards),
            "logs:DescribeQueries": self._history,
            "logs:StartQuery": lambda _: {"queryId": "own"},
            "logs:StopQuery": lambda _: {"success": True},
            "logs:GetQueryResults": self._results,
        }
        account = CloudAccount()
        for action, script in scripts.items():
            account.answers[action] = self._guarded(action, script)
        return account

    def _guarded(self, action: str, script: Any) -> Any:
        throttled = count()

        def answer(asked: Mapping[str, Any]) -> Answer:
            if action in self.denied:
                return Refused()
            if next(throttled) < self.throttle:
                return Refused("ThrottlingException")
            found: Answer = script(asked)
            return found

        return answer

    def _parameter(self, asked: Mapping[str, Any]) -> Answer:
        if self.discovery is None:
            return Refused("ParameterNotFound")
        return {"Parameter": {"Name": asked["Name"], "Value": json.dumps(self.discovery)}}

    def _metric_data(self, asked: Mapping[str, Any]) -> Answer:
        assert len(asked["MetricDataQueries"]) <= 500
        results: list[tuple[str, float | None, Any]] = []
        groups = {
            query["Id"]: query["MetricStat"]["Metric"]["Dimensions"][0]["Value"]
            for query in asked["MetricDataQueries"]
            if "MetricStat" in query
        }
        for query in asked["MetricDataQueries"]:
            kind = query["Id"].rstrip("0123456789")
            group = groups.get(query["Id"]) or groups[query["Expression"].split()[0]]
            days = self.bytes_by_day.get(group, {})
            moments = [(datetime.combine(day, time(), UTC).timestamp(), amount) for day, amount in days.items()]
            inside = [(at, amount) for at, amount in moments if asked["StartTime"] <= at < asked["EndTime"]]
            results += [(query["Id"], at, self._value(kind, amount)) for at, amount in sorted(inside, reverse=True)]
            results += [] if inside else [(query["Id"], None, 0)]
        start = int(asked.get("NextToken", 0))
        found = [
            {
                "Id": name,
                "StatusCode": self.metric_status,
                "Timestamps": [] if at is None else [at],
                "Values": [] if at is None else [value],
            }
            for name, at, value in results[start : start + self.page]
        ]
        answer: dict[str, Any] = {"MetricDataResults": found}
        if start + self.page < len(results):
            answer["NextToken"] = str(start + self.page)
        return answer

    def _value(self, kind: str, amount: Any) -> Any:
        return {"bytes": amount, "events": amount / self.event_bytes, "each": self.event_bytes}[kind]

    def _list_metrics(self, asked: Mapping[str, Any]) -> Answer:
        metrics = [{"Namespace": asked["Namespace"]}] * self.metrics.get(asked["Namespace"], 0)
        return self._paged(asked, "Metrics", metrics)

    def _paged(self, asked: Mapping[str, Any], key: str, items: list[Any]) -> dict[str, Any]:
        token = "nextToken" if key == "queries" else "NextToken"
        start = int(asked.get(token, 0))
        more = {token: str(start + self.page)} if start + self.page < len(items) else {}
        return {key: items[start : start + self.page], **more}

    def _history(self, asked: Mapping[str, Any]) -> Answer:
        assert asked["logGroupName"] == GROUP
        listed = []
        for position, query in enumerate(self.queries):
            at = datetime.combine(query.on, time(12), UTC)
            info = {
                "queryId": f"query-{position}",
                "queryString": query.text,
                "status": query.status,
                "createTime": round(at.timestamp() * 1000),
                "logGroupName": GROUP,
            }
            listed.append(info if query.scanned is None else {**info, "bytesScanned": query.scanned})
        return self._paged(asked, "queries", listed)

    def _results(self, asked: Mapping[str, Any]) -> Answer:
        if asked["queryId"] == "own":
            if self.polls:
                self.polls -= 1
                return {"status": "Running", "results": []}
            rows = [[{"field": key, "value": value} for key, value in row.items()] for row in self.rows]
            return {"status": self.ends, "results": rows if self.ends == "Complete" else []}
        query = self.queries[int(asked["queryId"].removeprefix("query-"))]
        if query.skipped is None:
            return Refused("ResourceNotFoundException")
        statistics = {"estimatedBytesSkipped": query.skipped, "logGroupsScanned": query.groups}
        return {"status": "Complete", "results": [], "statistics": {"bytesScanned": query.scanned, **statistics}}


def variables(account: CloudAccount) -> dict[str, str]:
    """Give what a process needs, beside credentials, to take this for the account."""
    services = ("SSM", "CLOUDWATCH", "CLOUDWATCH_LOGS")
    return {f"AWS_ENDPOINT_URL_{service}": account.url for service in services}
