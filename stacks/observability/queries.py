"""State the saved queries of an environment, one row for each, and declare them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from agent_image.contract import INVOCATION_SPAN, RETRIEVAL_OPERATION, EventName, Field, Kind, Outcome, Span, Verdict
from stacks.framework import TerraformStack, aws
from stacks.observability.metrics import HELD_BACK
from stacks.observability.query import FINGERPRINT_WORD, SESSION_WORD, TRACE_WORD, OneOf, QueryRow, query_name


def _attribute(name: Span) -> str:
    return f"attributes.{name}"


def _events(*names: EventName) -> OneOf:
    return OneOf(Field.EVENT, tuple(str(name) for name in names))


def _invocations(*kinds: Kind) -> OneOf:
    return OneOf("name", tuple(f"{INVOCATION_SPAN} {kind}" for kind in kinds))


def _any_of(field: Field, *values: str) -> str:
    return str(OneOf(field, tuple(str(value) for value in values)))


_SESSION: Final = _attribute(Span.SESSION)
_TRACE: Final = "traceId"
_MILLISECONDS: Final = "durationNano / 1000000 as ms"
_RETRIEVALS: Final = OneOf(_attribute(Span.OPERATION), (RETRIEVAL_OPERATION,))
_SESSIONS: Final = f"count_distinct({_SESSION}) as sessions"
_RUNS: Final = ("count(*) as runs", f"count({Field.COST_USD}) as priced", f"sum({Field.COST_USD}) as usd")
_DAY: Final = "1 day"
_HOURS: Final = "3 hours"
_WEEK: Final = "7 days"

QUERIES: Final = (
    QueryRow(
        key="session",
        what="All that one session left, oldest first: spans and event lines.",
        window=f"{_DAY}, around the session",
        narrowed=OneOf(_SESSION, (SESSION_WORD,)),
        shown=(
            *("@timestamp", "name", Field.EVENT, Field.TOOL, Field.DECISION, Field.CODE, Field.OUTCOME),
            *("status.code", _MILLISECONDS, _TRACE, "spanId"),
        ),
        order="@timestamp asc",
    ),
    QueryRow(
        key="trace",
        what="The spans of one trace, in the order in which they began.",
        window=f"{_DAY}, around the trace",
        narrowed=OneOf(_TRACE, (TRACE_WORD,)),
        shown=("@timestamp", "name", "status.code", _MILLISECONDS, "spanId", "parentSpanId", _SESSION),
        order="startTimeUnixNano asc",
    ),
    QueryRow(
        key="passage",
        what="Every retrieval that read one passage, by the passage's fingerprint.",
        window=f"{_WEEK}, or since the passage was written",
        narrowed=_RETRIEVALS,
        conditions=(f'{_attribute(Span.DOCUMENTS)} like "{FINGERPRINT_WORD}"',),
        shown=("@timestamp", _SESSION, _TRACE, _attribute(Span.BASE), _attribute(Span.INDEX_VERSION)),
    ),
    QueryRow(
        key="answer",
        what="The sessions that gave one answer, by the answer's fingerprint.",
        window=_WEEK,
        narrowed=OneOf(_attribute(Span.ANSWER), (FINGERPRINT_WORD,)),
        shown=("@timestamp", _SESSION, _TRACE, _attribute(Span.CITED), _attribute(Span.UNSUPPORTED)),
    ),
    QueryRow(
        key="bad-answers",
        what="The sessions whose answers people called bad.",
        window=_WEEK,
        narrowed=_invocations(Kind.FEEDBACK),
        conditions=(f'{_attribute(Span.VERDICT)} = "{Verdict.BAD}"',),
        shown=("@timestamp", _SESSION, _TRACE, _attribute(Span.NOTE_BYTES)),
    ),
    QueryRow(
        key="retrievals-by-index-version",
        what="How many retrievals read which version of which index.",
        window=f"{_DAY}, around a re-indexing",
        narrowed=_RETRIEVALS,
        counted=("count(*) as retrievals", _SESSIONS, f"sum({_attribute(Span.PASSAGES)}) as passages"),
        by=(_attribute(Span.DATA_SOURCE), _attribute(Span.INDEX_VERSION)),
        order="retrievals desc",
    ),
    QueryRow(
        key="lost-passages",
        what="The sessions whose answers rest on passages that the archive could not keep.",
        window=_DAY,
        narrowed=_invocations(Kind.PROMPT, Kind.RESUME),
        conditions=(f"ispresent({_attribute(Span.ARCHIVE_LOST)})",),
        shown=("@timestamp", _SESSION, _TRACE, _attribute(Span.ARCHIVE_LOST)),
    ),
    QueryRow(
        key="errors",
        what="The spans that failed.",
        window=_HOURS,
        narrowed=OneOf("status.code", ("ERROR",)),
        shown=("@timestamp", "name", _MILLISECONDS, _SESSION, _TRACE, "spanId"),
    ),
    QueryRow(
        key="errors-by-code",
        what="What runs failed of, by the code of the fault.",
        window=_DAY,
        narrowed=_events(EventName.ERROR),
        counted=("count(*) as times", _SESSIONS),
        by=(Field.CODE,),
        order="times desc",
    ),
    QueryRow(
        key="tool-errors",
        what="The calls that a tool carried out and that failed.",
        window=_DAY,
        narrowed=_events(EventName.TOOL_RESULT),
        # The flag as it stands in the line: how Logs Insights compares flags is not documented.
        conditions=(f"@message like '\"{Field.IS_ERROR}\":true'", f"not {_any_of(Field.DECISION, *HELD_BACK)}"),
        shown=("@timestamp", Field.TOOL, Field.DECISION, Field.LATENCY_MS, _SESSION, Field.TRACE_ID),
    ),
    QueryRow(
        key="outcomes",
        what="How runs ended.",
        window=_DAY,
        narrowed=_events(EventName.RUN_ENDED),
        counted=_RUNS,
        by=(Field.OUTCOME,),
        order="runs desc",
    ),
    QueryRow(
        key="stopped-runs",
        what="The runs that a loop, a budget or an error ended.",
        window=_DAY,
        narrowed=_events(EventName.RUN_ENDED),
        conditions=(_any_of(Field.OUTCOME, Outcome.LOOP, Outcome.BUDGET, Outcome.FAILED),),
        shown=("@timestamp", Field.OUTCOME, Field.COST_USD, Field.STEP, _SESSION, Field.RUN, Field.TRACE_ID),
    ),
    QueryRow(
        key="slow-steps",
        what="How long models and tools took.",
        window=_HOURS,
        narrowed=_events(EventName.LLM_CALL, EventName.TOOL_RESULT),
        conditions=(f"ispresent({Field.LATENCY_MS})",),
        shown=(f"coalesce({Field.TOOL}, {Field.MODEL}) as called",),
        counted=(
            "count(*) as calls",
            f"avg({Field.LATENCY_MS}) as mean_ms",
            f"pct({Field.LATENCY_MS}, 99) as p99_ms",
            f"max({Field.LATENCY_MS}) as longest_ms",
        ),
        by=(Field.EVENT, "called"),
        order="p99_ms desc",
    ),
    QueryRow(
        key="cost-by-agent",
        what="What each agent's runs cost in US dollars, as far as prices are known.",
        window=_DAY,
        narrowed=_events(EventName.RUN_ENDED),
        counted=(*_RUNS, _SESSIONS),
        by=(Field.AGENT,),
        order="usd desc",
    ),
    QueryRow(
        key="cost-by-model",
        what="What each model's calls cost in US dollars, as far as prices are known, and their tokens.",
        window=_DAY,
        narrowed=_events(EventName.LLM_CALL),
        counted=(
            "count(*) as calls",
            f"count({Field.COST_USD}) as priced",
            f"sum({Field.COST_USD}) as usd",
            f"sum({Field.TOKENS}.input) as input",
            f"sum({Field.TOKENS}.output) as output",
        ),
        by=(Field.MODEL,),
        order="usd desc",
    ),
    QueryRow(
        key="spend-by-session",
        what="The sessions that cost most, in US dollars, as far as prices are known.",
        window=_DAY,
        narrowed=_events(EventName.RUN_ENDED),
        counted=_RUNS,
        by=(_SESSION,),
        order="usd desc",
    ),
    QueryRow(
        key="blocked-calls",
        what="The calls that the guard, a hook, a person or the time kept from running.",
        window=_DAY,
        narrowed=_events(EventName.TOOL_RESULT),
        conditions=(_any_of(Field.DECISION, *HELD_BACK),),
        shown=("@timestamp", Field.TOOL, Field.ZONE, Field.DECISION, Field.CODE, _SESSION, Field.TRACE_ID),
    ),
    QueryRow(
        key="approvals",
        what="What each checkpoint came to, the longest known first: asked, and no more, waits for a person.",
        window=_DAY,
        narrowed=_events(EventName.GATE, EventName.TOOL_CALL, EventName.BUDGET),
        conditions=(f"ispresent({Field.CHECKPOINT_ID})",),
        counted=(
            f"latest({Field.DECISION}) as ruling",
            "earliest(@timestamp) as since",
            "latest(@timestamp) as last",
        ),
        by=(Field.CHECKPOINT_ID, _SESSION),
        order="since asc",
    ),
    QueryRow(
        key="hooks",
        what="What each hook said of which tool, how often, and how long it took.",
        window=_DAY,
        narrowed=_events(EventName.HOOK),
        counted=(
            "count(*) as times",
            f"avg({Field.LATENCY_MS}) as mean_ms",
            f"max({Field.LATENCY_MS}) as longest_ms",
        ),
        by=(Field.HOOK, Field.TOOL, Field.DECISION, Field.CODE),
        order="times desc",
    ),
    QueryRow(
        key="alerts",
        what="What the guard's detectors found, newest first.",
        window=_DAY,
        narrowed=_events(EventName.ALERT),
        shown=("@timestamp", Field.CODE, Field.SEVERITY, Field.DECISION, _SESSION, Field.RUN, Field.TRACE_ID),
    ),
)
"""Every saved query, from one session to the whole trail."""


def build(stack: TerraformStack, *, environment: str, group: Any, indexed_fields: Collection[str]) -> None:
    """Declare the saved queries of an environment over its live log group."""
    for row in QUERIES:
        aws.cloudwatch_query_definition.CloudwatchQueryDefinition(
            stack,
            f"query-{row.key}",
            name=query_name(environment, row.key),
            query_string=row.text(indexed_fields),
            log_group_names=[group.name],
        )
