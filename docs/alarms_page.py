"""Write what alarms, and what is counted for it."""

from __future__ import annotations

from enum import Enum

from docs.markdown import code, lines, table
from stacks.observability.alarms import ALARMS, AlarmRow
from stacks.observability.metrics import METRICS


def metrics() -> str:
    """Tabulate the metric filters, and which alarms read each."""
    readers: dict[str, list[str]] = {}
    for alarm in ALARMS:
        for watched in alarm.watches:
            readers.setdefault(watched.metric, []).append(alarm.key)
    rows = (
        (f"`{one.name}`", one.what, f"`{one.pattern}`", f"`{one.value}`", one.unit, code(readers.get(one.name, ())))
        for one in METRICS
    )
    return table(("metric", "what", "pattern", "adds", "unit", "read by alarm"), rows)


def alarms() -> str:
    """Tabulate the alarms."""
    head = ("alarm", "what is wrong", "reads", "alarms", "on", "why", "without data")
    return table(head, (_alarm(one) for one in ALARMS))


def _alarm(one: AlarmRow) -> tuple[str, ...]:
    reads = lines(
        f"{watched.id} = {watched.statistic} of {watched.metric} ({watched.source})" for watched in one.watches
    )
    reads += f"<br>`{one.expression}`" if one.expression else ""
    limit = f"`guard.{one.limit.default}`" if isinstance(one.limit.default, Enum) else f"{one.limit.default:,f}"
    side = {"GreaterThanThreshold": "over", "LessThanThreshold": "under"}[one.comparison]
    minutes = f"{one.period_seconds // 60} min"
    period = f"{one.periods} periods of {minutes}" if one.periods > 1 else minutes
    on = f"{'yes' if one.on else 'no'}{f', with {one.needs}' if one.needs else ''}"
    key = f"[`{one.key}`](../runbooks.md#{one.key})"
    return (
        key,
        one.title,
        reads,
        f"{side} {limit} {one.limit.unit}, {period}",
        on,
        one.why,
        f"`{one.missing}`: {one.why_missing}",
    )
