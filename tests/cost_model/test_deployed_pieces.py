"""Count in stacks what is charged by the piece."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from cost_model.deployed_pieces import pieces_of
from cost_model.pieces import Pieces
from cost_model.terraform import Stack

METRIC = {"metric": {"metric_name": "Errors", "namespace": "n", "period": 60, "stat": "Sum"}}
FAST = {"metric": {"metric_name": "Errors", "namespace": "n", "period": 10, "stat": "Sum"}}
SUM = {"expression": "a + b"}
SELECT = {"expression": " select AVG(Latency) FROM n"}
GUARD = {"hash_key": "pk", "global_secondary_index": [{"name": "open"}]}


def pieces(**resource: Any) -> Pieces:
    """Count the pieces of one stack, each resource given as its arguments, one or a list of them."""
    document = {
        kind: {f"r{place}": each for place, each in enumerate(held if isinstance(held, list) else [held])}
        for kind, held in resource.items()
    }
    return pieces_of([Stack("agent-dev", {"resource": document})])


def test_what_no_stack_holds_is_not_there() -> None:
    """Zero is read, not assumed."""
    assert pieces() == Pieces()


@pytest.mark.parametrize(
    ("alarm", "standard", "fast", "insights"),
    [
        ({"metric_name": "Errors", "period": 300}, 1, 0, 0),
        ({"metric_name": "Errors", "period": "300"}, 1, 0, 0),
        ({"metric_name": "Errors", "period": 10}, 0, 1, 0),
        ({"metric_name": "Errors", "period": "${var.period}"}, 1, 0, 0),
        ({"metric_query": [METRIC, METRIC, SUM]}, 2, 0, 0),
        ({"metric_query": [METRIC, FAST, SUM]}, 0, 2, 0),
        ({"metric_query": [{**SELECT, "period": 60}]}, 0, 0, 1),
        ({"metric_name": "Errors", "count": 0}, 0, 0, 0),
        ({"metric_name": "Errors", "count": 3}, 3, 0, 0),
        ({"metric_name": "Errors", "count": "${length(var.names)}"}, 1, 0, 0),
        ({"metric_name": "Errors", "count": Decimal("1e999")}, 1, 0, 0),
        ({"metric_query": [METRIC, METRIC], "for_each": {"a": 1, "b": 2}}, 4, 0, 0),
        ({"metric_query": [SELECT], "for_each": ["a", "b", "c"]}, 0, 0, 3),
    ],
)
def test_alarms_are_counted_by_what_they_watch(
    alarm: dict[str, Any], *, standard: int, fast: int, insights: int
) -> None:
    """Each metric of an expression counts; below a minute it is one of high resolution; a query counts as an alarm."""
    assert pieces(aws_cloudwatch_metric_alarm=alarm) == Pieces(
        alarm_metrics=Decimal(standard),
        high_resolution_alarm_metrics=Decimal(fast),
        insights_alarms=Decimal(insights),
    )


def test_composite_alarms_dashboards_filters_and_keys_are_counted() -> None:
    """Each is one; a filter is as many as the metrics that it makes."""
    found = pieces(
        aws_cloudwatch_composite_alarm=[{}, {}],
        aws_cloudwatch_dashboard=[{}, {}, {}],
        aws_cloudwatch_log_metric_filter=[
            {"metric_transformation": {"name": "a"}},
            {"metric_transformation": [{}, {}]},
        ],
        aws_kms_key={},
    )

    assert found == Pieces(
        composite_alarms=Decimal(2),
        dashboards=Decimal(3),
        metric_filters=Decimal(3),
        kms_keys=Decimal(1),
        encrypted_by_key=True,
    )


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ({"aws_dynamodb_table": GUARD}, Pieces(table=True)),
        ({"aws_dynamodb_table": {**GUARD, "hash_key": "other"}}, Pieces()),
        (
            {"aws_dynamodb_table": {**GUARD, "point_in_time_recovery": [{"enabled": True}]}},
            Pieces(table=True, restorable_table=True),
        ),
        ({"aws_s3_bucket": {"bucket": "rastro-prod-audit-1"}}, Pieces(audit=True)),
        ({"aws_s3_bucket": {"bucket": "rastro-prod-archive-1"}}, Pieces()),
        ({"aws_sns_topic": {"name": "alerts"}}, Pieces(topic=True)),
        ({"aws_sns_topic": {"kms_master_key_id": "alias/aws/sns"}}, Pieces(topic=True, encrypted_by_key=True)),
        ({"aws_bedrockagentcore_agent_runtime": {}}, Pieces(runtime=True)),
    ],
)
def test_what_traffic_is_charged_through_is_found(resource: dict[str, Any], expected: Pieces) -> None:
    """The guard's table by its key and index, the audit's bucket by its name, a key wherever one is named."""
    assert pieces(**resource) == expected


@pytest.mark.parametrize(
    ("body", "queries_logs"),
    [
        ('{"widgets": [{"type": "log", "properties": {}}]}', True),
        ('${jsonencode({"widgets" = [{"type" = "log"}]})}', True),
        ('${jsonencode({"widgets" = [{type = \\"log\\"}]})}', True),
        ('{"widgets": [{"type": "metric", "properties": {"title": "log"}}]}', False),
        ("${var.body}", False),
    ],
)
def test_dashboards_that_query_logs_are_told_apart(body: str, *, queries_logs: bool) -> None:
    """Each refresh of such a widget is a query; one on metrics scans nothing."""
    found = pieces(aws_cloudwatch_dashboard={"dashboard_body": body})

    assert found == Pieces(dashboards=Decimal(1), log_dashboards=queries_logs)
