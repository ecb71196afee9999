"""State the alarms that watch an environment: one row each, pure data, with the runbook that says what to do.

A row reads metrics of the environment's own filters, or metrics that AWS's services publish anyway. Where it reads
several, metric math makes one number of them. Rates speak only from a least number of cases on: one failure of two
is no rate. Each row says what missing data means, for CloudWatch's own default would leave an idle environment in
a state that is neither well nor ill.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, Literal

from agent_image.contract import GuardSetting

RUNBOOKS: Final = "docs/runbooks.md"
"""The page of the runbooks; each row has a section of its key."""
LEAST_RUNS: Final = 20
"""Runs in a period before anything is said of their rates: one of them is the 5 % of the loop rate, and no more."""
LEAST_CALLS: Final = 20
"""Calls of tools in a period before anything is said of their rate."""
_MINUTES: Final = 60
_HOUR: Final = 60 * _MINUTES


class Source(StrEnum):
    """Name who publishes a metric, and of what."""

    OWN = "own"
    """A metric filter of the environment: a row of `metrics.METRICS`."""
    RUNTIME = "runtime"
    """AgentCore, of the live endpoint."""
    LIVE_GROUP = "live_group"
    """CloudWatch Logs, of the live endpoint's log group."""
    LIVE_MASKING = "live_masking"
    """CloudWatch Logs, of what masking found in the live endpoint's log group."""
    DEFAULT_GROUP = "default_group"
    """CloudWatch Logs, of the log group of the service's own endpoint, which nobody should call."""


class Needs(StrEnum):
    """Name what an environment must have for a row to watch anything."""

    MASKING = "masking"
    ARCHIVE = "archive"
    SWEEP = "sweep"
    SPANS_HERE = "spans_here"
    SPANS_ELSEWHERE = "spans_elsewhere"


class Comparison(StrEnum):
    """Name when a number alarms, as CloudWatch does."""

    OVER = "GreaterThanThreshold"
    UNDER = "LessThanThreshold"


Missing = Literal["notBreaching", "breaching", "ignore"]


@dataclass(frozen=True, slots=True)
class Watched:
    """Hold one metric of an alarm: its id in the expression, its name, how it is summed up and who publishes it."""

    id: str
    metric: str
    statistic: str = "Sum"
    source: Source = Source.OWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """State the threshold of a row: its unit and range, and what holds where no setting says otherwise.

    Attributes:
        default: a number, or the key of the guard's settings whose number is taken.
    """

    unit: str
    default: Decimal | GuardSetting = Decimal(0)
    maximum: Decimal = Decimal(10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmRow:
    """Hold one alarm.

    Attributes:
        key: its name in settings, in the alarm's name and in the runbooks.
        title: what is wrong, in a few words.
        watches: the metrics it reads.
        expression: metric math over their ids; None where there is one metric and it is the number.
        limit: what the number is compared with.
        why: why that limit.
        period_seconds: over which each metric is summed up.
        sweeps: the period lasts as many sweeps at least.
        periods: how many periods must be over the limit, one after the other.
        missing: what missing data means; `why_missing` says why.
        on: whether an environment has it unless its settings say otherwise.
        tells_ok: whether people are told that it is over: of a state, not of what has happened.
        needs: what the environment must have.
    """

    key: str
    title: str
    watches: tuple[Watched, ...]
    expression: str | None = None
    comparison: Comparison = Comparison.OVER
    limit: Limit
    why: str
    period_seconds: int = 5 * _MINUTES
    sweeps: int = 0
    periods: int = 1
    missing: Missing = "notBreaching"
    why_missing: str
    on: bool = True
    tells_ok: bool = False
    needs: Needs | None = None

    @property
    def runbook(self) -> str:
        """Give the section of the runbooks that says what to do."""
        return f"{RUNBOOKS}#{self.key}"


_NOTHING_HAPPENED: Final = "The line is written when it happens: no data means that it did not."
_IDLE: Final = "No data means that nobody called, and an idle environment is well."
_ANY: Final = Limit(unit="in a period")
_PER_CENT: Final = Decimal(100)

ALARMS: Final = (
    AlarmRow(
        key="cost_over_budget",
        title="A run spent more than a session's budget",
        watches=(Watched("cost", "RunCostUsd", "Maximum"),),
        limit=Limit(unit="USD of one run", default=GuardSetting.BUDGET_USD),
        why="A session asks before it passes its budget: a run above it had an approval, or prices that are wrong.",
        why_missing=_IDLE,
    ),
    AlarmRow(
        key="daily_cost",
        title="Runs of one day cost more than expected",
        watches=(Watched("cost", "RunCostUsd"),),
        limit=Limit(unit="USD a day", default=Decimal(10)),
        why="What a day may cost is for each environment to say; off until it does.",
        period_seconds=24 * _HOUR,
        why_missing=_IDLE,
        on=False,
    ),
    AlarmRow(
        key="loop_rate",
        title="Too many runs go round in circles",
        watches=(Watched("looped", "RunsLooped"), Watched("ended", "RunsEnded")),
        expression=f"IF(ended >= {LEAST_RUNS}, 100 * looped / ended, 0)",
        limit=Limit(unit="% of runs", default=Decimal(5), maximum=_PER_CENT),
        why="A model that loses its way now and then is stopped by the guard; above 5 % a prompt or a tool is wrong.",
        period_seconds=_HOUR,
        why_missing=_IDLE,
        tells_ok=True,
    ),
    AlarmRow(
        key="tool_error_rate",
        title="Too many calls of tools fail",
        watches=(Watched("failed", "ToolErrors"), Watched("called", "ToolCalls")),
        expression=f"IF(called >= {LEAST_CALLS}, 100 * failed / called, 0)",
        limit=Limit(unit="% of calls", default=Decimal(20), maximum=_PER_CENT),
        why="Some calls fail on bad arguments that the model then mends; one in five, twice in a row, is an outage.",
        period_seconds=15 * _MINUTES,
        periods=2,
        why_missing=_IDLE,
        tells_ok=True,
    ),
    AlarmRow(
        key="blocked_streak",
        title="An agent keeps asking for what it may not do",
        watches=(Watched("streaks", "BlockedStreaks"),),
        limit=_ANY,
        why="The guard counts a streak from guard.blocked_streak refusals on: each may be an attempt to misuse it.",
        why_missing=_NOTHING_HAPPENED,
    ),
    AlarmRow(
        key="approvals_waiting",
        title="Approvals are past half their life",
        watches=(Watched("late", "ApprovalsPastHalf", "Maximum"),),
        limit=Limit(unit="checkpoints"),
        why="Half of the time that guard.approval_minutes gave is over, and as much is left to answer in.",
        period_seconds=15 * _MINUTES,
        sweeps=1,
        missing="ignore",
        why_missing="Only a sweep counts what waits: between two of them the last count holds.",
        tells_ok=True,
        needs=Needs.SWEEP,
    ),
    AlarmRow(
        key="approvals_expired",
        title="Approvals expired without an answer",
        watches=(Watched("expired", "ApprovalsExpired"),),
        limit=_ANY,
        why="Each is a call that somebody waited for and nobody decided on.",
        why_missing=_NOTHING_HAPPENED,
    ),
    AlarmRow(
        key="completion_rate",
        title="Too few runs end with an answer",
        watches=(Watched("completed", "RunsCompleted"), Watched("ended", "RunsEnded")),
        expression=f"IF(ended >= {LEAST_RUNS}, 100 * completed / ended, 100)",
        comparison=Comparison.UNDER,
        limit=Limit(unit="% of runs", default=Decimal(80), maximum=_PER_CENT),
        why="Refusals, budgets and errors end a run too; below four in five, users notice before anybody else does.",
        period_seconds=_HOUR,
        why_missing=_IDLE,
        tells_ok=True,
    ),
    AlarmRow(
        key="latency_p99",
        title="The slowest answers take too long",
        watches=(Watched("latency", "Latency", "p99", Source.RUNTIME),),
        limit=Limit(unit="milliseconds", default=Decimal(60_000)),
        why="An agent with several steps takes tens of seconds; callers and proxies give up after a minute.",
        period_seconds=15 * _MINUTES,
        periods=2,
        why_missing=_IDLE,
        tells_ok=True,
    ),
    AlarmRow(
        key="masking_findings",
        title="Masking found personal data in the trail",
        watches=(Watched("findings", "LogEventsWithFindings", source=Source.LIVE_MASKING),),
        limit=Limit(unit="log events in a period"),
        why="Outside the regime content no text should get there: each finding is a leak. In content, state a limit.",
        why_missing="CloudWatch publishes the number when there is a finding.",
        needs=Needs.MASKING,
    ),
    AlarmRow(
        key="dead_trail",
        title="The agent is called and leaves no spans",
        watches=(
            Watched("invocations", "Invocations", source=Source.RUNTIME),
            Watched("spans", "Spans"),
        ),
        expression="IF(FILL(invocations, 0) >= {least} AND FILL(spans, 0) == 0, 1, 0)",
        limit=Limit(unit="periods without spans", maximum=Decimal(1)),
        why="Every invocation leaves a span, sweeps too; two periods, since spans may come in the one after the call.",
        period_seconds=15 * _MINUTES,
        periods=2,
        why_missing="No data means no invocations: an idle environment stays quiet.",
        tells_ok=True,
        needs=Needs.SPANS_HERE,
    ),
    AlarmRow(
        key="dead_lines",
        title="The agent is called and writes no lines",
        watches=(
            Watched("invocations", "Invocations", source=Source.RUNTIME),
            Watched("lines", "IncomingLogEvents", source=Source.LIVE_GROUP),
        ),
        expression="IF(FILL(invocations, 0) >= 1 AND FILL(lines, 0) == 0, 1, 0)",
        limit=Limit(unit="periods without lines", maximum=Decimal(1)),
        why="Spans go elsewhere, but every run writes its events here, and every sweep says what it did.",
        period_seconds=15 * _MINUTES,
        periods=2,
        why_missing="No data means no invocations: an idle environment stays quiet.",
        tells_ok=True,
        needs=Needs.SPANS_ELSEWHERE,
    ),
    AlarmRow(
        key="default_endpoint",
        title="Somebody calls the endpoint that is neither masked nor kept as declared",
        watches=(Watched("bytes", "IncomingBytes", source=Source.DEFAULT_GROUP),),
        limit=Limit(unit="bytes in a period"),
        why="Callers may use the live endpoint alone: one byte there says that a policy or a caller is wrong.",
        why_missing="The group may not even exist: no data means no bytes.",
    ),
    AlarmRow(
        key="archive_losses",
        title="The archive lost passages",
        watches=(Watched("lost", "PassagesLost"),),
        limit=Limit(unit="passages in a period"),
        why="An answer was built on each of them, and its text may be gone once the source changes.",
        why_missing=_NOTHING_HAPPENED,
        needs=Needs.ARCHIVE,
    ),
    AlarmRow(
        key="span_losses",
        title="Spans were lost or refused",
        watches=(Watched("lost", "SpansLost"),),
        limit=Limit(unit="spans in a period"),
        why="The kit keeps spans within the backend's limits: a refusal is an outage, or a right that is missing.",
        why_missing=_NOTHING_HAPPENED,
    ),
    AlarmRow(
        key="audit_losses",
        title="The audit could not be written",
        watches=(Watched("lost", "AuditsLost"),),
        limit=Limit(unit="runs and sweeps in a period"),
        why="What an agent did must be on record; what is lost here is in the slim lines alone.",
        why_missing=_NOTHING_HAPPENED,
    ),
    AlarmRow(
        key="alert_losses",
        title="Alerts of the guard reached nobody",
        watches=(Watched("lost", "AlertsLost"),),
        limit=Limit(unit="alerts in a period"),
        why="Somebody should have heard of a checkpoint or an anomaly, and did not.",
        why_missing=_NOTHING_HAPPENED,
    ),
    AlarmRow(
        key="sweep_silent",
        title="The scheduled sweep does not run",
        watches=(Watched("sweeps", "Sweeps"),),
        comparison=Comparison.UNDER,
        limit=Limit(unit="sweeps in four intervals", default=Decimal(1)),
        why="Without sweeps nothing expires and no alert leaves while nobody calls; one in four may fail.",
        period_seconds=_HOUR,
        sweeps=4,
        missing="breaching",
        why_missing="A sweep says so each time: no data means that none came to its end.",
        tells_ok=True,
        needs=Needs.SWEEP,
    ),
)
"""Every alarm that an environment may have."""

BY_KEY: Final = {row.key: row for row in ALARMS}
