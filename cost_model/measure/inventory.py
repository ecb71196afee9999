"""Count what is charged by the piece: custom metrics by namespace, alarms and dashboards of the account and Region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cost_model.aws import told
from cost_model.errors import AwsError

_PAGES = 1000


@dataclass(frozen=True, slots=True)
class Inventory:
    """Hold counts; None where the right is missing. They are the account's in the Region, not one environment's.

    Attributes:
        metrics: custom metrics that took a value in the last two weeks, by namespace.
        denied: why a count is missing.
    """

    metrics: tuple[tuple[str, int | None], ...]
    alarms: int | None
    dashboards: int | None
    denied: tuple[str, ...] = ()


def read_inventory(client: Any, namespaces: Sequence[str]) -> Inventory:  # noqa: ANN401 - a boto3 client has no type
    """Count; what cannot be counted is no reason to give up."""
    denied: list[str] = []

    def counted(operation: str, right: str, key: str, **asked: Any) -> int | None:
        try:
            return sum(len(page.get(key, ())) for page in _pages(client, operation, right, **asked))
        except AwsError as error:
            denied.extend(error.lines)
            return None

    metrics = tuple(
        (namespace, counted("list_metrics", "cloudwatch:ListMetrics", "Metrics", Namespace=namespace))
        for namespace in namespaces
    )
    alarms = counted("describe_alarms", "cloudwatch:DescribeAlarms", "MetricAlarms")
    dashboards = counted("list_dashboards", "cloudwatch:ListDashboards", "DashboardEntries")
    return Inventory(metrics, alarms, dashboards, tuple(dict.fromkeys(denied)))


def _pages(client: Any, operation: str, right: str, **asked: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    request = dict(asked)
    what = operation.replace("_", " ")
    for _ in range(_PAGES):
        with told(f"counting ({what}) failed", right):
            page = getattr(client, operation)(**request)
        yield page
        token = page.get("NextToken")
        if not token or token == request.get("NextToken"):
            return
        request["NextToken"] = token
    message = f"counting ({what}) failed: its pages have no end"
    raise AwsError(message)
