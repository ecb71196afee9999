"""Say what a full scan reads and costs, before it runs: what the group took in, times the dated price of its Region."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from botocore import exceptions as aws

from console.trace.insights.calling import Pace
from console.trace.insights.window import Window
from cost_model.errors import CostError
from cost_model.money import BYTES_PER_GB
from cost_model.prices import PriceRow, load_prices

SCAN: Final = "logs_insights_scan"
"""The price row of what a query reads."""
_FINE: Final = timedelta(minutes=5)
_COARSE: Final = timedelta(hours=1)
_DAILY: Final = timedelta(days=1)
_FINE_UP_TO: Final = timedelta(days=2)
_COARSE_UP_TO: Final = timedelta(days=60)


def period_of(window: Window) -> timedelta:
    """Choose the length of time that sums are asked for: the metric keeps short ones for days, long ones for months."""
    length = window.end - window.start
    return _FINE if length <= _FINE_UP_TO else _COARSE if length <= _COARSE_UP_TO else _DAILY


class Scans:
    """Estimate scans of a log group."""

    def __init__(self, client: Any, pace: Pace, group: str, region: str) -> None:  # noqa: ANN401 - a boto3 client has no type
        """Take a client of CloudWatch, how to wait, and the group."""
        self._client = client
        self._pace = pace
        self._group = group
        self._price = _price(region)

    def bytes_in(self, window: Window) -> int | None:
        """Say how many bytes the group took in; None where nobody says: without the right, or without a sum."""
        period = period_of(window)
        query = {
            "Id": "incoming",
            "MetricStat": {
                "Metric": {
                    "Namespace": "AWS/Logs",
                    "MetricName": "IncomingBytes",
                    "Dimensions": [{"Name": "LogGroupName", "Value": self._group}],
                },
                "Period": int(period.total_seconds()),
                "Stat": "Sum",
            },
        }
        # The first sum begins before the window: what is read is no more than what is said.
        request = {"MetricDataQueries": [query], "StartTime": window.start - period, "EndTime": window.end}
        values: list[float] = []
        while True:
            answer = self._answer(request)
            if answer is None:
                return None
            values += (value for found in answer.get("MetricDataResults", ()) for value in found.get("Values", ()))
            if not (token := answer.get("NextToken")):
                return round(sum(values)) if values else None
            request = {**request, "NextToken": token}

    def cost(self, scanned: int | None) -> Decimal | None:
        """Price bytes in USD; None where their number or the Region's price is not known."""
        if scanned is None or self._price is None:
            return None
        return self._price.charge(Decimal(scanned) / BYTES_PER_GB)

    def _answer(self, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = self._pace.patiently(lambda: self._client.get_metric_data(**request))
        except (aws.ClientError, aws.BotoCoreError):
            # An estimate is no reason to give up: what is not known is said as such.
            return None
        return found


def _price(region: str) -> PriceRow | None:
    try:
        return load_prices().row(region, SCAN)
    except CostError:
        return None
