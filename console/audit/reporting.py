"""Lay the figures of a report out as tables; what nobody knows is said to be unknown, and is never 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from agent_image.guard.approval_metrics import Approvals
from agent_image.guard.figures import Number, Spread
from agent_image.guard.metrics import Report, RunSummary
from console.moments import lasting_seconds
from console.table import Table

UNKNOWN: Final = "unknown"
_NUMBERS: Final = frozenset(range(1, 8))
_SPREAD: Final = ("count", "mean", "p50", "p95", "p99", "largest")
_TENTH: Final = Decimal("0.1")
_SHOWN: Final = 20
"""Checkpoints of the queue that are shown."""


def tables(report: Report) -> Iterator[Table]:
    """Lay a whole report out."""
    yield Table(("runs", ""), tuple(_runs(report)), _NUMBERS)
    yield Table(("how they spread", *_SPREAD), tuple(_spreads(report)), _NUMBERS)
    if report.tools:
        rows = tuple(
            (name, str(tool.calls), str(tool.errors), percent(tool.error_rate), *_spread(tool.latency_ms)[1:5])
            for name, tool in report.tools.items()
        )
        yield Table(("tool", "calls", "errors", "error rate", "mean ms", "p50", "p95", "p99"), rows, _NUMBERS)
    if report.alerts:
        yield Table(("alert", "count"), tuple((kind, str(count)) for kind, count in report.alerts.items()), _NUMBERS)
    yield from approval_tables(report.approvals)


def summary_table(summary: RunSummary) -> Table:
    """Lay out what one run did."""
    rows = (
        ("outcome", summary.outcome or UNKNOWN),
        ("events", f"{summary.events:,}"),
        ("model calls", f"{summary.iterations:,}"),
        ("tool calls", f"{summary.tool_calls:,}"),
        ("  of red tools", f"{summary.destructive_calls:,}"),
        ("calls held back", f"{summary.blocks:,}"),
        ("checkpoints", f"{summary.asked:,}"),
        ("failed calls", f"{summary.errors:,}"),
        ("cost, USD", _cost(summary.cost_usd)),
        *_tokens(summary.tokens),
    )
    return Table((f"run {summary.run}", ""), rows, _NUMBERS)


def approval_tables(approvals: Approvals) -> Iterator[Table]:
    """Lay out how people fare with what waits for them."""
    yield Table(("approvals", ""), tuple(_approvals(approvals)), _NUMBERS)
    if approvals.waiting:
        rows = tuple(
            (one.checkpoint_id, one.tool, lasting_seconds(one.age_seconds)) for one in approvals.waiting[:_SHOWN]
        )
        yield Table(("waiting", "tool", "age"), rows, frozenset({2}))


def percent(share: Decimal | None) -> str:
    """Write a share in per cent, to a tenth."""
    return UNKNOWN if share is None else f"{(share * 100).quantize(_TENTH, ROUND_HALF_UP):f} %"


def _runs(report: Report) -> Iterator[tuple[str, str]]:
    yield "events", f"{report.events:,}"
    yield "tasks (sessions)", f"{report.tasks:,}"
    yield "runs", f"{report.runs:,}"
    yield from ((f"  ended {outcome}", f"{count:,}") for outcome, count in report.outcomes.items())
    yield "completion rate", percent(report.completion_rate)
    yield "loop rate", percent(report.loop_rate)
    yield "step error rate", percent(report.step_error_rate)
    yield "calls held back", f"{report.blocked_calls:,}"
    yield "cost, USD", _cost(report.cost_usd)
    yield "calls without a price", f"{report.unpriced_calls:,}"
    yield from _tokens(report.tokens)
    yield "model calls without tokens", f"{report.uncounted_calls:,}"


def _cost(cost_usd: Decimal | None) -> str:
    return UNKNOWN if cost_usd is None else f"{cost_usd:f}"


def _tokens(tokens: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    yield from ((f"tokens, {kind.replace('_', ' ')}", f"{count:,}") for kind, count in tokens.items())


def _spreads(report: Report) -> Iterator[tuple[str, ...]]:
    yield "steps per run", *_spread(report.steps_per_run)
    yield "tokens per task", *_spread(report.tokens_per_task)
    yield "USD per task", *_spread(report.cost_per_task_usd, exact=True)
    yield "model latency, ms", *_spread(report.model_latency_ms)
    yield "tool latency, ms", *_spread(report.tool_latency_ms)


def _approvals(approvals: Approvals) -> Iterator[tuple[str, str]]:
    yield "opened", f"{approvals.opened:,}"
    yield "closed", f"{approvals.closed:,}"
    yield "approval rate", percent(approvals.approval_rate)
    yield "edit rate", percent(approvals.edit_rate)
    yield "rejection rate", percent(approvals.rejection_rate)
    yield "cancel rate", percent(approvals.cancel_rate)
    yield "expiry rate", percent(approvals.expiry_rate)
    after = approvals.decided_after_ms
    yield from ((f"time to a decision, {name}", _time(getattr(after, name))) for name in ("mean", "p50", "p95"))
    yield "in doubt", f"{approvals.in_doubt:,}"
    yield "decisions too late", f"{approvals.too_late:,}"
    yield "waiting", f"{len(approvals.waiting):,}"
    oldest = approvals.waiting_seconds.largest
    yield "oldest that waits", "none" if oldest is None else lasting_seconds(oldest)


def _time(milliseconds: Number | None) -> str:
    return UNKNOWN if milliseconds is None else lasting_seconds(Decimal(milliseconds) / 1000)


def _spread(found: Spread, *, exact: bool = False) -> tuple[str, ...]:
    values = (getattr(found, one.name) for one in fields(found))
    return tuple(_number(value, exact=exact) for value in values)


def _number(value: Number | None, *, exact: bool) -> str:
    if value is None:
        return UNKNOWN
    if exact or value == int(value):
        return f"{Decimal(value).normalize():f}" if exact else f"{int(value):,}"
    return f"{Decimal(value).quantize(_TENTH, ROUND_HALF_UP):,f}"
