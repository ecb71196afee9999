"""Choose the alarms of one environment, and settle what each compares: pure data out of rows and settings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from agent_image.contract import CLOUDWATCH, GuardSetting, Regime
from stacks.observability.alarms import ALARMS, AlarmRow, Needs, Source
from stacks.observability.metrics import BY_NAME, METRICS, MetricRow
from stacks.policies.alerts import Publishers
from stacks.settings.alarms import SWEEP_MINUTES
from stacks.settings.model import Environment

_SURELY: Final = 0.001
"""How likely it may be that a sample of sessions holds not one of those that were called."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Hold an alarm of an environment: its row, and what the settings made of it.

    Attributes:
        expression: the row's, with its numbers filled in.
        runbook: where it says what to do.
    """

    row: AlarmRow
    threshold: Decimal
    period_seconds: int
    expression: str | None
    runbook: str


def sweep_minutes(environment: Environment) -> int:
    """Give the minutes between two scheduled sweeps; 0 is none.

    A schedule has no token where callers need one, and no role where roles are brought and its own is not.
    """
    stated = environment.sweep.every_minutes
    if stated is not None:
        return int(stated)
    has_role = environment.role.arn is None or environment.sweep.role_arn is not None
    return SWEEP_MINUTES if environment.auth.type == "IAM" and has_role else 0


def chosen(environment: Environment) -> tuple[Chosen, ...]:
    """Choose the alarms that are on, of those that have something to watch."""
    has = set(_has(environment))
    return tuple(
        Chosen(
            row,
            _threshold(row, environment),
            _period(row, environment),
            _expression(row, environment),
            runbook(row, environment.alarms.runbooks),
        )
        for row in ALARMS
        if _is_on(row, environment) and (row.needs is None or row.needs in has)
    )


def runbook(row: AlarmRow, page: str | None) -> str:
    """Give the section of the runbooks that says what to do: by its address, or by its place in the repository."""
    return row.runbook if page is None else f"{page}#{row.key}"


def shows(environment: Environment) -> frozenset[Needs]:
    """Tell what a dashboard can show: findings of masking in any regime, since nobody is woken by a panel."""
    masking = environment.observability.masking
    masked = {Needs.MASKING} if masking.identifiers or masking.patterns else set()
    return frozenset({*_has(environment), *masked})


def publishers(environment: Environment) -> Publishers:
    """Tell which services publish to the alerts topic."""
    return Publishers(
        alarms=tuple(alarm.row.key for alarm in chosen(environment)), budget=environment.budget.monthly_usd is not None
    )


def topic_has_key(environment: Environment) -> bool:
    """Tell whether the topic gets a key of its own: services publish, and the environment brought none."""
    return environment.observability.kms_key_arn is None and publishers(environment).any


def metrics_of(alarms: Iterable[Chosen], others: Collection[str] = ()) -> tuple[MetricRow, ...]:
    """List the metrics that alarms read, and others by their names: nothing else is worth a filter.

    Raises:
        KeyError: there is no metric of such a name.
    """
    names = {watched.metric for alarm in alarms for watched in alarm.row.watches if watched.source is Source.OWN}
    wanted = {BY_NAME[name].name for name in (*names, *others)}
    return tuple(row for row in METRICS if row.name in wanted)


def least_calls(kept_sessions: Decimal) -> int:
    """Tell how many calls leave a span almost surely, where a share of the sessions, more than none, is kept."""
    if kept_sessions >= 1:
        return 1
    return math.ceil(math.log(_SURELY) / math.log1p(-float(kept_sessions)))


def _has(environment: Environment) -> Iterable[Needs]:
    observability, alarms = environment.observability, environment.alarms
    # In the regime content people's words are there on purpose: whoever wants to hear of them says so, or from what on.
    asked = "masking_findings" in alarms.on or alarms.thresholds.masking_findings is not None
    masked = observability.masking.identifiers or observability.masking.patterns
    if masked and (asked or observability.regime is not Regime.CONTENT):
        yield Needs.MASKING
    if observability.regime is Regime.ARCHIVE:
        yield Needs.ARCHIVE
    if sweep_minutes(environment):
        yield Needs.SWEEP
    here = observability.destination == CLOUDWATCH and observability.kept_sessions > 0
    yield Needs.SPANS_HERE if here else Needs.SPANS_ELSEWHERE


def _is_on(row: AlarmRow, environment: Environment) -> bool:
    return row.key not in environment.alarms.off and (row.on or row.key in environment.alarms.on)


def _threshold(row: AlarmRow, environment: Environment) -> Decimal:
    stated: Decimal | None = getattr(environment.alarms.thresholds, row.key)
    if stated is not None:
        return stated
    default = row.limit.default
    return Decimal(getattr(environment.guard, default)) if isinstance(default, GuardSetting) else default


def _period(row: AlarmRow, environment: Environment) -> int:
    return max(row.period_seconds, row.sweeps * sweep_minutes(environment) * 60)


def _expression(row: AlarmRow, environment: Environment) -> str | None:
    if row.expression is None or row.needs is not Needs.SPANS_HERE:
        return row.expression
    return row.expression.format(least=least_calls(environment.observability.kept_sessions))
