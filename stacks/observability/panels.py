"""State what the dashboard shows: sections of panels, each over metrics alone, as pure data.

No panel runs a log query: each refresh of one reads the trail again, for everybody who has the page open. What needs
the trail itself is a saved query, which the section names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stacks.observability.alarms import Needs, Source

_HOUR: Final = 3_600


@dataclass(frozen=True, slots=True)
class Series:
    """Hold one line of a panel.

    Attributes:
        id: its name in the panel's sums; empty where none reads it.
        shown: whether it is drawn itself.
        needs: what the environment must have for it.
    """

    metric: str
    label: str
    statistic: str = "Sum"
    source: Source = Source.OWN
    id: str = ""
    shown: bool = True
    needs: Needs | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """Hold one line that is reckoned from others, by metric math over their ids."""

    expression: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Hold one panel.

    Attributes:
        unit: what its axis counts.
        period_seconds: over which each point is summed up.
        stacked: whether its lines are parts of a whole.
        alarm: the alarm whose threshold is drawn, where that alarm is on and compares the same number.
    """

    title: str
    unit: str
    series: tuple[Series, ...]
    sums: tuple[Sum, ...] = ()
    period_seconds: int = 300
    stacked: bool = False
    alarm: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Hold one section: its title, a sentence, its panels, and the saved queries that go further."""

    title: str
    what: str
    panels: tuple[Panel, ...]
    queries: tuple[str, ...]


SECTIONS: Final = (
    Section(
        title="Health",
        what="What callers see, as AgentCore measures it, and how runs end.",
        panels=(
            Panel(
                title="Calls",
                unit="calls",
                series=(
                    Series("Invocations", "calls", source=Source.RUNTIME),
                    Series("Throttles", "throttled", source=Source.RUNTIME),
                ),
            ),
            Panel(
                title="Errors",
                unit="calls",
                series=(
                    Series("SystemErrors", "the service's", source=Source.RUNTIME),
                    Series("UserErrors", "the caller's", source=Source.RUNTIME),
                ),
            ),
            Panel(
                title="Latency",
                unit="milliseconds",
                series=(
                    Series("Latency", "median", "p50", Source.RUNTIME),
                    Series("Latency", "99 of 100", "p99", Source.RUNTIME),
                ),
                period_seconds=900,
                alarm="latency_p99",
            ),
            Panel(
                title="How runs end",
                unit="runs",
                series=(
                    Series("RunsCompleted", "completed"),
                    Series("RunsFailed", "failed"),
                    Series("RunsLooped", "looped"),
                ),
                stacked=True,
            ),
            Panel(
                title="Completed, of all that ended",
                unit="% of runs",
                series=(
                    Series("RunsCompleted", "completed", id="completed", shown=False),
                    Series("RunsEnded", "ended", id="ended", shown=False),
                ),
                sums=(Sum("100 * completed / ended", "completed"),),
                period_seconds=_HOUR,
                alarm="completion_rate",
            ),
            Panel(
                title="Calls of tools that failed",
                unit="% of calls",
                series=(
                    Series("ToolErrors", "failed", id="failed", shown=False),
                    Series("ToolCalls", "carried out", id="called", shown=False),
                ),
                sums=(Sum("100 * failed / called", "failed"),),
                period_seconds=900,
                alarm="tool_error_rate",
            ),
        ),
        queries=("outcomes", "errors", "errors-by-code", "tool-errors", "slow-steps", "bad-answers"),
    ),
    Section(
        title="Guard",
        what="What agents may do alone, what people are asked, and what is kept from running.",
        panels=(
            Panel(
                title="Calls by ruling",
                unit="calls",
                series=(Series("ToolCalls", "carried out"), Series("CallsHeldBack", "held back")),
                stacked=True,
            ),
            Panel(
                title="Approvals",
                unit="checkpoints",
                series=(
                    Series("ApprovalsWaiting", "waiting", "Maximum", needs=Needs.SWEEP),
                    Series("ApprovalsPastHalf", "past half their life", "Maximum", needs=Needs.SWEEP),
                    Series("ApprovalsExpired", "expired"),
                ),
            ),
            Panel(
                title="Going in circles, and against the rules",
                unit="runs, streaks",
                series=(
                    Series("RunsLooped", "runs that looped"),
                    Series("BlockedStreaks", "streaks of calls held back"),
                ),
            ),
        ),
        queries=("blocked-calls", "approvals", "hooks", "alerts", "stopped-runs"),
    ),
    Section(
        title="Cost",
        what="What models and priced tools cost in US dollars, as far as prices are known.",
        panels=(
            Panel(
                title="Spent each hour",
                unit="USD",
                series=(Series("RunCostUsd", "spent"),),
                period_seconds=_HOUR,
            ),
            Panel(
                title="Spent by one run",
                unit="USD",
                series=(Series("RunCostUsd", "mean", "Average"), Series("RunCostUsd", "dearest", "Maximum")),
                alarm="cost_over_budget",
            ),
            Panel(
                title="Tokens",
                unit="tokens",
                series=(Series("InputTokens", "read"), Series("OutputTokens", "written")),
                stacked=True,
                period_seconds=_HOUR,
            ),
        ),
        queries=("spend-by-session", "cost-by-agent", "cost-by-model"),
    ),
    Section(
        title="Trail",
        what="What arrives, what masking found in it, and what was lost on the way.",
        panels=(
            Panel(
                title="Bytes that came in",
                unit="bytes",
                series=(
                    Series("IncomingBytes", "live", source=Source.LIVE_GROUP),
                    Series("IncomingBytes", "DEFAULT: nobody should call it", source=Source.DEFAULT_GROUP),
                ),
            ),
            Panel(
                title="Log events that came in",
                unit="log events",
                series=(
                    Series("IncomingLogEvents", "live", source=Source.LIVE_GROUP),
                    Series("IncomingLogEvents", "DEFAULT: nobody should call it", source=Source.DEFAULT_GROUP),
                    Series("Spans", "spans among them", needs=Needs.SPANS_HERE),
                ),
            ),
            Panel(
                title="Findings of masking",
                unit="log events",
                series=(
                    Series("LogEventsWithFindings", "with findings", source=Source.LIVE_MASKING, needs=Needs.MASKING),
                ),
                alarm="masking_findings",
            ),
            Panel(
                title="Lost",
                unit="pieces",
                series=(
                    Series("PassagesLost", "passages", needs=Needs.ARCHIVE),
                    Series("SpansLost", "spans, or refused"),
                    Series("AuditsLost", "audits of runs"),
                    Series("AlertsLost", "alerts"),
                ),
            ),
            Panel(
                title="Sweeps",
                unit="sweeps",
                series=(Series("Sweeps", "that came to their end", needs=Needs.SWEEP),),
                period_seconds=_HOUR,
            ),
        ),
        queries=("session", "trace", "passage", "answer", "lost-passages", "retrievals-by-index-version"),
    ),
)
"""The sections, from what callers see to what the kit leaves."""
