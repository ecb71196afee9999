"""Count, in synthesised stacks, what is charged by the piece, and find what traffic is charged through."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from agent_image.contract import OPEN_INDEX, TABLE_KEY
from cost_model.pieces import Pieces
from cost_model.terraform import Block, Stack, number, objects, resources

HIGH_RESOLUTION_BELOW: Final = 60
"""Seconds: an alarm of a shorter period is charged as one of high resolution."""
_LOG_WIDGET: Final = re.compile(r"""["']?type\\?["']?\s*[:=]\s*\\?["']log\\?["']""")
"""A widget on Logs Insights in a dashboard's body, be that JSON or an expression that Terraform makes JSON of."""
_KEY_ARGUMENTS: Final = frozenset({"kms_key", "kms_key_arn", "kms_key_id", "kms_master_key_id"})


def pieces_of(stacks: Sequence[Stack]) -> Pieces:
    """Count the pieces of some stacks: what is not in them is not there."""
    alarms = [_Alarm(block) for block in resources(stacks, "aws_cloudwatch_metric_alarm")]
    watched = [alarm for alarm in alarms if not alarm.reads_insights]
    tables = [block for block in resources(stacks, "aws_dynamodb_table") if _is_of_the_guard(block)]
    return Pieces(
        alarm_metrics=_total(alarm.metrics for alarm in watched if not alarm.is_fast),
        high_resolution_alarm_metrics=_total(alarm.metrics for alarm in watched if alarm.is_fast),
        composite_alarms=_count(stacks, "aws_cloudwatch_composite_alarm"),
        insights_alarms=_total(alarm.instances for alarm in alarms if alarm.reads_insights),
        dashboards=_count(stacks, "aws_cloudwatch_dashboard"),
        log_dashboards=any(map(_queries_logs, resources(stacks, "aws_cloudwatch_dashboard"))),
        metric_filters=_total(
            len(list(objects(block.arguments.get("metric_transformation")))) * block.instances
            for block in resources(stacks, "aws_cloudwatch_log_metric_filter")
        ),
        kms_keys=_count(stacks, "aws_kms_key", "aws_kms_replica_key"),
        encrypted_by_key=any(_names_key(stack.document.get("resource")) for stack in stacks),
        table=bool(tables),
        restorable_table=any(map(_is_restorable, tables)),
        audit=any(map(_holds_audit, resources(stacks, "aws_s3_bucket"))),
        topic=bool(_count(stacks, "aws_sns_topic")),
        runtime=bool(_count(stacks, "aws_bedrockagentcore_agent_runtime")),
    )


class _Alarm:
    """Read one alarm: the metrics that it watches, and how often."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._queries = list(objects(block.arguments.get("metric_query")))
        self._metrics = [metric for query in self._queries for metric in objects(query.get("metric"))]

    @property
    def reads_insights(self) -> bool:
        """Tell whether it queries metrics: `SELECT …`."""
        expressions = (str(query.get("expression") or "") for query in self._queries)
        return any(expression.lstrip().upper().startswith("SELECT") for expression in expressions)

    @property
    def metrics(self) -> int:
        """Count its metrics: each of those that an expression reads, or the one."""
        return (len(self._metrics) or 1) * self.instances

    @property
    def instances(self) -> int:
        """Count how many alarms it is."""
        return self._block.instances

    @property
    def is_fast(self) -> bool:
        """Tell whether it looks more often than once a minute."""
        periods = (number(self._block.stack.resolve(each.get("period"))) for each in self._places())
        return any(period is not None and period < HIGH_RESOLUTION_BELOW for period in periods)

    def _places(self) -> Iterator[Mapping[str, object]]:
        yield self._block.arguments
        yield from self._queries
        yield from self._metrics


def _count(stacks: Sequence[Stack], *types: str) -> Decimal:
    return _total(block.instances for each in types for block in resources(stacks, each))


def _total(numbers: Iterator[int]) -> Decimal:
    return Decimal(sum(numbers))


def _queries_logs(dashboard: Block) -> bool:
    return _LOG_WIDGET.search(str(dashboard.arguments.get("dashboard_body"))) is not None


def _is_of_the_guard(table: Block) -> bool:
    indexes = objects(table.arguments.get("global_secondary_index"))
    return table.arguments.get("hash_key") == TABLE_KEY and any(index.get("name") == OPEN_INDEX for index in indexes)


def _is_restorable(table: Block) -> bool:
    return any(each.get("enabled") is True for each in objects(table.arguments.get("point_in_time_recovery")))


def _holds_audit(bucket: Block) -> bool:
    return "audit" in f"{bucket.name} {bucket.stack.text(bucket.arguments.get('bucket')) or ''}"


def _names_key(value: object) -> bool:
    """Look for an argument that names a key of KMS, AWS's own ones included: their requests are charged, too."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            if "aws_kms_key" in here or any(here.get(key) for key in _KEY_ARGUMENTS):
                return True
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)
    return False
