"""An environment whose trail lies in Logs Insights on loopback, read at a time and a pace of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from console.trace.insights.calling import Pace
from console.trace.insights.estimate import Scans
from console.trace.insights.insights_trail import Ground, InsightsTrail
from console.trace.insights.opening import whole_line
from console.trace.insights.running import Runner
from console.trace.plan import Plan
from tests.console.trace import trails
from tests.loopback.insights import Insights, querying
from tests.loopback.table import client_at

GROUP = "/aws/bedrock-agentcore/runtimes/rastro_prod-AbCdEf1234-live"
SHARED = "aws/spans"
NOW = trails.BEGAN + timedelta(hours=1)


@dataclass
class Cloud:
    """Hold the environment, and what was said and waited for.

    Attributes:
        agrees: what is answered to a plan.
        waited: seconds, wait by wait.
        interrupts: the wait that a person breaks off, counted from 1.
    """

    insights: Insights
    now: datetime = NOW
    region: str = "us-east-1"
    retention: timedelta | None = timedelta(days=90)
    indexed: frozenset[str] = frozenset()
    agrees: bool = True
    interrupts: int = 0
    waited: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)

    @property
    def pace(self) -> Pace:
        """Give a pace that takes no time."""
        return Pace(self._wait, lambda: sum(self.waited), lambda: 1.0)

    def logs(self) -> Any:
        """Give a client of CloudWatch Logs."""
        return client_at(self.insights.url, "logs")

    def runner(self) -> Runner:
        """Give what runs queries."""
        return Runner(self.logs(), self.pace, self.told.append)

    def scans(self) -> Scans:
        """Give what estimates scans."""
        return Scans(client_at(self.insights.url, "cloudwatch"), self.pace, GROUP, self.region)

    def trail(self, since: datetime | None = None) -> InsightsTrail:
        """Open the trail."""
        logs = self.logs()
        return InsightsTrail(
            Ground(GROUP, self.retention, self.indexed),
            self.runner(),
            self.scans(),
            fetch=lambda pointer: whole_line(logs, self.pace, pointer),
            confirm=self._confirm,
            clock=lambda: self.now,
            since=since,
        )

    def store(self, documents: list[dict[str, Any]], *, group: str = GROUP, earlier: timedelta = timedelta()) -> None:
        """Store spans and events as if they had been so much earlier."""
        for document in documents:
            line = trails.lines([document])[0].decode()
            if "traceId" in document:
                at = trails.BEGAN + timedelta(microseconds=(document["endTimeUnixNano"] - trails.at(0)) / 1000)
                self.insights.put(group, line, at - earlier, "spans")
            else:
                self.insights.put(group, line, datetime.fromisoformat(document["ts"]) - earlier)

    def _wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        if len(self.waited) == self.interrupts:
            raise KeyboardInterrupt

    def _confirm(self, plan: Plan) -> bool:
        self.plans.append(plan)
        return self.agrees


@contextmanager
def standing() -> Iterator[Cloud]:
    """Serve an environment whose group is there and empty."""
    insights = Insights(now=lambda: NOW)
    insights.group(GROUP)
    with querying(insights):
        yield Cloud(insights)
