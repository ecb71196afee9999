"""Declare metric filters and alarms out of their rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from agent_image.contract import LIVE_ENDPOINT, RUNTIME_LOG_GROUPS
from stacks.bindings import json_number
from stacks.framework import TerraformStack, aws
from stacks.names import EnvironmentNames
from stacks.observability.alarms import Source, Watched
from stacks.observability.metrics import MetricRow, namespace
from stacks.observability.watching import Chosen

RUNTIME_NAMESPACE: Final = "AWS/Bedrock-AgentCore"
LOGS_NAMESPACE: Final = "AWS/Logs"
_PERCENTILE: Final = "p"


@dataclass(frozen=True, slots=True)
class Watch:
    """Name what alarms watch and whom they tell; group, runtime and topic are bindings, which are typed as Any."""

    names: EnvironmentNames
    group: Any
    runtime: Any
    topic: Any


def build_filters(stack: TerraformStack, watch: Watch, rows: Iterable[MetricRow]) -> None:
    """Declare a filter on the live log group for each row."""
    transformation = aws.cloudwatch_log_metric_filter.CloudwatchLogMetricFilterMetricTransformation
    for row in rows:
        aws.cloudwatch_log_metric_filter.CloudwatchLogMetricFilter(
            stack,
            f"metric-{row.name}",
            name=watch.names.metric_filter(row.name),
            log_group_name=watch.group.name,
            pattern=row.pattern,
            metric_transformation=transformation(
                name=row.name,
                namespace=namespace(watch.names.environment),
                value=row.value,
                unit=row.unit,
                default_value=None if row.default is None else str(row.default),
            ),
        )


def build_alarms(stack: TerraformStack, watch: Watch, alarms: Iterable[Chosen]) -> None:
    """Declare the alarms."""
    for alarm in alarms:
        row, topic = alarm.row, [watch.topic.arn]
        aws.cloudwatch_metric_alarm.CloudwatchMetricAlarm(
            stack,
            f"alarm-{row.key}",
            alarm_name=watch.names.alarm(row.key),
            alarm_description=description(watch.names.environment, alarm),
            comparison_operator=row.comparison.value,
            threshold=json_number(alarm.threshold),
            evaluation_periods=row.periods,
            datapoints_to_alarm=row.periods,
            treat_missing_data=row.missing,
            alarm_actions=topic,
            ok_actions=topic if row.tells_ok else None,
            **_reads(watch, alarm),
        )


def description(environment: str, alarm: Chosen) -> str:
    """Say what is wrong, in which environment, and where it says what to do: people read no more on a telephone."""
    return f"{environment}: {alarm.row.title}. What to do: {alarm.runbook}"


def _reads(watch: Watch, alarm: Chosen) -> dict[str, Any]:
    """Give the arguments that say what an alarm reads: one metric, or metric math over several."""
    bindings = aws.cloudwatch_metric_alarm
    if alarm.expression is None:
        (watched,) = alarm.row.watches
        read = _metric(watch, watched)
        statistic = read.pop("stat")
        if statistic.startswith(_PERCENTILE):
            # Told to ignore few samples, a p99 waits for a thousand of them: it would hardly ring, and hardly end.
            kind = {"extended_statistic": statistic, "evaluate_low_sample_count_percentiles": "evaluate"}
        else:
            kind = {"statistic": statistic}
        return {**read, **kind, "period": alarm.period_seconds}
    metrics = [
        bindings.CloudwatchMetricAlarmMetricQuery(
            id=watched.id,
            metric=bindings.CloudwatchMetricAlarmMetricQueryMetric(
                period=alarm.period_seconds, **_metric(watch, watched)
            ),
        )
        for watched in alarm.row.watches
    ]
    number = bindings.CloudwatchMetricAlarmMetricQuery(
        id="number", expression=alarm.expression, label=alarm.row.limit.unit, return_data=True
    )
    return {"metric_query": [number, *metrics]}


def _metric(watch: Watch, watched: Watched) -> dict[str, Any]:
    space, dimensions = place_of(watch, watched.source)
    return {
        "namespace": space,
        "metric_name": watched.metric,
        "dimensions": dimensions,
        "stat": watched.statistic,
    }


def place_of(watch: Watch, source: Source) -> tuple[str, dict[str, str] | None]:
    """Give the namespace and the dimensions under which a source publishes."""
    match source:
        case Source.OWN:
            return namespace(watch.names.environment), None
        case Source.RUNTIME:
            return RUNTIME_NAMESPACE, {
                "Resource": watch.runtime.agent_runtime_arn,
                "Operation": "InvokeAgentRuntime",
                "Name": f"{watch.names.agent}::{LIVE_ENDPOINT}",
            }
        case Source.LIVE_GROUP:
            return LOGS_NAMESPACE, {"LogGroupName": watch.group.name}
        case Source.LIVE_MASKING:
            return LOGS_NAMESPACE, {"LogGroupName": watch.group.name, "DataProtectionOperation": "Audit"}
        case Source.DEFAULT_GROUP:
            return LOGS_NAMESPACE, {"LogGroupName": f"{RUNTIME_LOG_GROUPS}{watch.runtime.agent_runtime_id}-DEFAULT"}
