"""State the metrics that CloudWatch reads out of the live log group: one row for each filter, pure data.

The filters read the guard's slim lines and the notices, which are JSON on standard output and standard error. Patterns
are in CloudWatch's filter syntax for JSON; a line that is not JSON, or a span, matches none but the one for spans.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from agent_image.contract import EventName, Field, Outcome, Ruling

NAMESPACE: Final = "Rastro"
"""The first part of the metrics' namespace; the environment's name follows."""
CARRIED_OUT: Final = (Ruling.ALLOWED, Ruling.APPROVED, Ruling.EDITED, Ruling.IN_DOUBT)
"""What the result of a call says that a tool was really called for."""
HELD_BACK: Final = (Ruling.BLOCKED, Ruling.REJECTED, Ruling.CANCELLED, Ruling.EXPIRED)
"""What the result of a call says that was not let through."""
_COUNT: Final = "Count"
_MILLISECONDS: Final = "Milliseconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """Hold one metric filter and the one metric that it feeds.

    Attributes:
        name: of the filter and of the metric.
        pattern: which log events count.
        value: what one of them adds: "1", or a field of it.
        unit: as CloudWatch names it.
        default: what is published for a minute in which events came and none matched; None: nothing.
        what: one sentence.
    """

    name: str
    pattern: str
    value: str = "1"
    unit: str = _COUNT
    default: int | None = 0
    what: str


def namespace(environment: str) -> str:
    """Name the namespace of an environment's metrics."""
    return f"{NAMESPACE}/{environment}"


def _is(field: str, value: str) -> str:
    return f'($.{field} = "{value}")'


def _any_of(field: str, values: Iterable[str]) -> str:
    return f"({' || '.join(_is(field, value) for value in values)})"


def _event(name: EventName, *terms: str) -> str:
    """Match the slim lines of one event that hold all terms."""
    return f"{{ {' && '.join((_is(Field.EVENT, name), *terms))} }}"


def _notice(*codes: str) -> str:
    return f"{{ {' || '.join(_is('notice', code) for code in codes)} }}"


def _known(field: str) -> str:
    # A number that nobody knows is left out of a slim line.
    return f"($.{field} >= 0)"


_CALLED: Final = _any_of(Field.DECISION, CARRIED_OUT)
_FAILED: Final = f"($.{Field.IS_ERROR} IS TRUE)"
_SUCCEEDED: Final = f"($.{Field.IS_ERROR} IS FALSE)"
_TOLD: Final = f"({_FAILED} || {_SUCCEEDED})"

METRICS: Final = (
    MetricRow(
        name="RunsStarted",
        pattern=_event(EventName.RUN_STARTED),
        what="Runs that began: prompts and resumes.",
    ),
    MetricRow(
        name="RunsEnded",
        pattern=_event(EventName.RUN_ENDED, f'($.{Field.OUTCOME} != "{Outcome.SUSPENDED}")'),
        what="Runs that ended otherwise than by waiting for a person.",
    ),
    MetricRow(
        name="RunsCompleted",
        pattern=_event(EventName.RUN_ENDED, _is(Field.OUTCOME, Outcome.COMPLETED)),
        what="Runs that ended with an answer.",
    ),
    MetricRow(
        name="RunsLooped",
        pattern=_event(EventName.RUN_ENDED, _is(Field.OUTCOME, Outcome.LOOP)),
        what="Runs that were stopped because they went round in circles.",
    ),
    MetricRow(
        name="RunsFailed",
        pattern=_event(EventName.RUN_ENDED, _is(Field.OUTCOME, Outcome.FAILED)),
        what="Runs that ended with an error.",
    ),
    MetricRow(
        name="RunCostUsd",
        pattern=_event(EventName.RUN_ENDED, _known(Field.COST_USD)),
        value=f"$.{Field.COST_USD}",
        unit="None",
        default=None,
        what="US dollars that a run spent, where all of its prices are known.",
    ),
    MetricRow(
        name="InputTokens",
        pattern=_event(EventName.LLM_CALL, _known(f"{Field.TOKENS}.input")),
        value=f"$.{Field.TOKENS}.input",
        what="Tokens that models read, those of a cache beside them.",
    ),
    MetricRow(
        name="OutputTokens",
        pattern=_event(EventName.LLM_CALL, _known(f"{Field.TOKENS}.output")),
        value=f"$.{Field.TOKENS}.output",
        what="Tokens that models wrote.",
    ),
    MetricRow(
        name="ModelLatencyMs",
        pattern=_event(EventName.LLM_CALL, _known(Field.LATENCY_MS)),
        value=f"$.{Field.LATENCY_MS}",
        unit=_MILLISECONDS,
        default=None,
        what="Milliseconds that one call of a model took.",
    ),
    MetricRow(
        name="ModelErrors",
        pattern=_event(EventName.LLM_CALL, _FAILED),
        what="Calls of a model that failed.",
    ),
    MetricRow(
        name="ToolCalls",
        pattern=_event(EventName.TOOL_RESULT, _CALLED, _TOLD),
        what="Calls that a tool really carried out, and of which it is known whether they failed.",
    ),
    MetricRow(
        name="ToolErrors",
        pattern=_event(EventName.TOOL_RESULT, _CALLED, _FAILED),
        what="Calls that a tool carried out and that failed.",
    ),
    MetricRow(
        name="ToolLatencyMs",
        pattern=_event(EventName.TOOL_RESULT, _CALLED, _known(Field.LATENCY_MS)),
        value=f"$.{Field.LATENCY_MS}",
        unit=_MILLISECONDS,
        default=None,
        what="Milliseconds that one call of a tool took.",
    ),
    MetricRow(
        name="CallsHeldBack",
        pattern=_event(EventName.TOOL_RESULT, _any_of(Field.DECISION, HELD_BACK)),
        what="Calls that the guard, a hook or a person kept from running.",
    ),
    MetricRow(
        name="BlockedStreaks",
        pattern=_event(EventName.ALERT, _is(Field.CODE, "blocked_streak")),
        what="Streaks of calls that were kept from running, one after the other.",
    ),
    MetricRow(
        name="ApprovalsAsked",
        pattern=_event(EventName.GATE, _is(Field.DECISION, Ruling.ASKED)),
        what="Checkpoints that a person was asked about; one that is asked again on a resume counts again.",
    ),
    MetricRow(
        name="ApprovalsExpired",
        pattern=f"{{ {_any_of(Field.EVENT, (EventName.GATE, EventName.BUDGET))} "
        f"&& {_is(Field.DECISION, Ruling.EXPIRED)} }}",
        what="Checkpoints that nobody answered in time; one that is resumed after a sweep counts again.",
    ),
    MetricRow(
        name="Sweeps",
        pattern=_notice("swept"),
        what="Sweeps that came to their end.",
    ),
    MetricRow(
        name="ApprovalsWaiting",
        pattern=_notice("swept"),
        value="$.waiting",
        default=None,
        what="Checkpoints that wait for a person, as each sweep counts them.",
    ),
    MetricRow(
        name="ApprovalsPastHalf",
        pattern=_notice("swept"),
        value="$.past_half",
        default=None,
        what="Checkpoints that wait for a person and are past half their life, as each sweep counts them.",
    ),
    MetricRow(
        name="Spans",
        # A log record names a span, too, but lasts no time.
        pattern='{ ($.spanId = "*") && ($.durationNano >= 0) }',
        what="Spans that arrived in the log group.",
    ),
    MetricRow(
        name="SpansLost",
        pattern=_notice("spans_lost"),
        value="$.count",
        what="Spans that the backend did not take, or that could not be made fit to leave.",
    ),
    MetricRow(
        name="PassagesLost",
        pattern=_notice("archive_lost"),
        value="$.count",
        what="Passages that an answer was built on and that the archive could not keep.",
    ),
    MetricRow(
        name="AuditsLost",
        pattern=_notice("audit_not_durable", "sweep_unrecorded"),
        what="Runs and sweeps whose end could not be written to the audit.",
    ),
    MetricRow(
        name="AlertsLost",
        pattern=_notice("alert_lost", "alert_dead", "alert_unreadable"),
        what="Alerts of the guard that reached nobody.",
    ),
)
"""Every metric that an alarm or a dashboard may read; a filter is declared only where one does."""

BY_NAME: Final = {row.name: row for row in METRICS}
