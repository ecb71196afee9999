"""Report how agents fare, from their events alone: the audit's lines or the slim ones, each event once.

A task is a session, over all its runs and resumes. A step is one call of a model, or one call that a tool really
carried out: what was blocked, refused or replayed is none, and says nothing of the tool. A run that waits for a person
has not ended its task. Times are those of the work; how long people took is told apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from agent_image.contract import EventName, Field, Outcome, Ruling, Span, Zone
from agent_image.guard.approval_metrics import Approvals, approvals
from agent_image.guard.events import TOKENS
from agent_image.guard.figures import Number, Spread, as_number, number, rate, spread, text

Record = Mapping[str, Any]

CARRIED_OUT: Final = frozenset({Ruling.ALLOWED, Ruling.APPROVED, Ruling.EDITED, Ruling.IN_DOUBT})
"""What the result of a call says that a tool was really called for."""
HELD_BACK: Final = frozenset({Ruling.BLOCKED, Ruling.REJECTED, Ruling.CANCELLED, Ruling.EXPIRED})
"""What the result of a call says that was not let through."""


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """Hold how one tool fares."""

    calls: int
    errors: int
    error_rate: Decimal | None
    latency_ms: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Hold the figures of a body of events.

    Attributes:
        runs: runs that began; of each outcome how many ended so.
        completion_rate: completed, of the runs that ended otherwise than by waiting.
        loop_rate: runs that were stopped for a loop, of the same.
        tokens: what models took and gave, by kind, as far as it is known.
        tokens_per_task: input and output of each task.
        cost_usd: what was spent; None where a part of it is unknown.
        cost_per_task_usd: of the tasks whose cost is known.
        uncounted_calls: model calls whose tokens nobody knows; `unpriced_calls`: calls whose cost nobody knows.
        step_error_rate: steps that failed, of all.
        blocked_calls: calls that were held back.
    """

    events: int
    tasks: int
    runs: int
    outcomes: Mapping[str, int]
    completion_rate: Decimal | None
    loop_rate: Decimal | None
    steps_per_run: Spread
    tokens: Mapping[str, int]
    tokens_per_task: Spread
    cost_usd: Decimal | None
    cost_per_task_usd: Spread
    uncounted_calls: int
    unpriced_calls: int
    model_latency_ms: Spread
    tool_latency_ms: Spread
    step_error_rate: Decimal | None
    tools: Mapping[str, ToolFigures]
    blocked_calls: int
    alerts: Mapping[str, int]
    approvals: Approvals


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """Hold what one run did, as its events say.

    Attributes:
        iterations: calls of a model.
        cost_usd: the sum of its steps; None where a part of it is unknown.
        stated_usd: what its last event says; None where it has none.
        destructive_calls: calls of red tools that were carried out.
        blocks: calls that were held back.
    """

    run: str
    events: int
    iterations: int
    tool_calls: int
    tokens: Mapping[str, int]
    cost_usd: Decimal | None
    stated_usd: Decimal | None
    destructive_calls: int
    blocks: int
    asked: int
    errors: int
    outcome: str | None


def report(records: Iterable[Record], now: datetime | None = None) -> Report:
    """Report over events. `now` dates the queue's age; without it, the last event does."""
    kept = list(_once(records))
    sums = _Sums()
    for record in kept:
        sums.add(record)
    ended = sum(sums.outcomes.values()) - sums.outcomes[Outcome.SUSPENDED]
    done = [latency for _, latency, _ in sums.calls if latency is not None]
    errors = [failed for _, _, failed in sums.calls if failed is not None] + sums.model_errors
    known = [cost for cost in sums.task_costs.values() if cost is not None]
    return Report(
        events=len(kept),
        tasks=len(sums.tasks),
        runs=len(sums.runs),
        outcomes=dict(sorted(sums.outcomes.items())),
        completion_rate=rate(sums.outcomes[Outcome.COMPLETED], ended),
        loop_rate=rate(sums.outcomes[Outcome.LOOP], ended),
        steps_per_run=spread(sums.steps[run] for run in sums.ended),
        tokens=_counted(sums.tokens),
        tokens_per_task=spread(sums.task_tokens.values()),
        cost_usd=_total(sums.task_costs.values()),
        cost_per_task_usd=spread(known),
        uncounted_calls=sums.uncounted,
        unpriced_calls=sums.unpriced,
        model_latency_ms=spread(sums.model_latency),
        tool_latency_ms=spread(done),
        step_error_rate=rate(sum(errors), len(errors)),
        tools=sums.tools(),
        blocked_calls=sums.blocked,
        alerts=dict(sorted(sums.alerts.items())),
        approvals=approvals(kept, now),
    )


def run_summary(records: Iterable[Record], run: str) -> RunSummary:
    """Sum up one run."""
    sums = _Sums()
    events = asked = 0
    outcome: str | None = None
    stated: Number | None = None
    for record in _once(record for record in records if text(record, Field.RUN) == run):
        sums.add(record)
        events += 1
        asked += (text(record, Field.EVENT), text(record, Field.DECISION)) == (EventName.GATE, Ruling.ASKED)
        if text(record, Field.EVENT) == EventName.RUN_ENDED:
            outcome, stated = text(record, Field.OUTCOME) or None, number(record, Field.COST_USD)
    return RunSummary(
        run=run,
        events=events,
        iterations=sums.iterations,
        tool_calls=len(sums.calls),
        tokens=_counted(sums.tokens),
        cost_usd=_total(sums.task_costs.values()),
        stated_usd=None if stated is None else Decimal(stated),
        destructive_calls=sums.destructive,
        blocks=sums.blocked,
        asked=asked,
        errors=sum(failed is True for _, _, failed in sums.calls) + sum(sums.model_errors),
        outcome=outcome,
    )


@dataclass(slots=True)
class _Sums:
    """Add events up."""

    tasks: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    ended: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    task_tokens: Counter[str] = field(default_factory=Counter)
    task_costs: dict[str, Decimal | None] = field(default_factory=dict)
    iterations: int = 0
    uncounted: int = 0
    unpriced: int = 0
    model_latency: list[Number] = field(default_factory=list)
    model_errors: list[bool] = field(default_factory=list)
    calls: list[tuple[str, Number | None, bool | None]] = field(default_factory=list)
    blocked: int = 0
    destructive: int = 0
    alerts: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        task, run = _session(record), text(record, Field.RUN)
        match text(record, Field.EVENT):
            case EventName.RUN_STARTED:
                self.tasks.add(task)
                self.runs.add(run)
            case EventName.LLM_CALL:
                self._model(record, task, run)
            case EventName.TOOL_RESULT:
                self._tool(record, task, run)
            case EventName.ALERT:
                self.alerts[text(record, Field.CODE)] += 1
            case EventName.RUN_ENDED:
                self.ended.append(run)
                self.outcomes[text(record, Field.OUTCOME)] += 1

    def tools(self) -> Mapping[str, ToolFigures]:
        by_tool: dict[str, list[tuple[Number | None, bool | None]]] = defaultdict(list)
        for tool, latency, failed in self.calls:
            by_tool[tool].append((latency, failed))
        return {tool: _figures(calls) for tool, calls in sorted(by_tool.items())}

    def _model(self, record: Record, task: str, run: str) -> None:
        self.iterations += 1
        self.steps[run] += 1
        self._cost(record, task)
        if (latency := number(record, Field.LATENCY_MS)) is not None:
            self.model_latency.append(latency)
        if isinstance(failed := record.get(Field.IS_ERROR), bool):
            self.model_errors.append(failed)
        tokens = record.get(Field.TOKENS)
        counts = {name: as_number(tokens.get(name)) for name in TOKENS} if isinstance(tokens, Mapping) else {}
        self.uncounted += counts.get("input") is None or counts.get("output") is None
        for name, count in counts.items():
            if count is not None:
                self.tokens[name] += int(count)
                self.task_tokens[task] += int(count) if name in {"input", "output"} else 0

    def _tool(self, record: Record, task: str, run: str) -> None:
        ruling = text(record, Field.DECISION)
        self.blocked += ruling in HELD_BACK
        if ruling not in CARRIED_OUT:
            return
        self.steps[run] += 1
        self.destructive += text(record, Field.ZONE) == Zone.RED
        self._cost(record, task)
        failed = record.get(Field.IS_ERROR)
        latency = number(record, Field.LATENCY_MS)
        self.calls.append((text(record, Field.TOOL), latency, failed if isinstance(failed, bool) else None))

    def _cost(self, record: Record, task: str) -> None:
        cost = number(record, Field.COST_USD)
        self.unpriced += cost is None
        before = self.task_costs.get(task, Decimal(0))
        self.task_costs[task] = None if cost is None or before is None else before + cost


def _figures(calls: list[tuple[Number | None, bool | None]]) -> ToolFigures:
    told = [failed for _, failed in calls if failed is not None]
    latency = spread(latency for latency, _ in calls if latency is not None)
    return ToolFigures(len(calls), sum(told), rate(sum(told), len(told)), latency)


def _once(records: Iterable[Record]) -> Iterator[Record]:
    """Give each event once, whichever outlets it came from."""
    seen: set[str] = set()
    for record in records:
        event_id = text(record, Field.EVENT_ID)
        if event_id not in seen:
            seen.add(event_id)
            yield record


def _session(record: Record) -> str:
    attributes = record.get(Field.ATTRIBUTES)
    session = attributes.get(Span.SESSION) if isinstance(attributes, Mapping) else None
    return session if isinstance(session, str) else ""


def _total(costs: Iterable[Decimal | None]) -> Decimal | None:
    total = Decimal(0)
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _counted(tokens: Mapping[str, int]) -> Mapping[str, int]:
    return {name: tokens[name] for name in TOKENS if name in tokens}
