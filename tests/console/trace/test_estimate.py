"""What a scan reads and costs is known before it runs, or said to be unknown."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from console.trace.insights.estimate import period_of
from console.trace.insights.window import Window
from tests.console.trace import trails
from tests.console.trace.cloud import GROUP, NOW, Cloud

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WEEK = Window(NOW - 7 * DAY, NOW)


def test_bytes_are_those_that_the_group_took_in(cloud: Cloud) -> None:
    """Within the window, and in the part of a sum before it: no scan reads more."""
    cloud.insights.group(GROUP).incoming = {
        NOW - 8 * DAY: 1.0,
        NOW - 7 * DAY - HOUR: 10.0,
        NOW - 6 * DAY: 100.0,
        NOW - HOUR: 1000.0,
    }

    assert cloud.scans().bytes_in(WEEK) == 1110


def test_a_group_without_a_sum_is_unknown(cloud: Cloud) -> None:
    """It may be new, and its metric late."""
    cloud.insights.group(GROUP).incoming = {}

    assert cloud.scans().bytes_in(WEEK) is None


@pytest.mark.parametrize("plant", ["denied", "broken"])
def test_a_metric_that_cannot_be_read_is_unknown(cloud: Cloud, plant: str) -> None:
    """An estimate is no reason to give up."""
    cloud.store(trails.story())
    if plant == "denied":
        cloud.insights.plant.denied.add("GetMetricData")
    else:
        cloud.insights.plant.hang_up = 99

    assert cloud.scans().bytes_in(WEEK) is None


def test_what_is_stored_is_what_is_scanned(cloud: Cloud) -> None:
    """The sums of the lines of the group."""
    cloud.store(trails.story())

    stored = sum(len(line.message.encode()) for line in cloud.insights.group(GROUP).lines)

    assert cloud.scans().bytes_in(WEEK) == stored


def test_the_cost_is_exact(cloud: Cloud) -> None:
    """Bytes over 2^30, times the dated price of us-east-1."""
    assert cloud.scans().cost(2**31) == Decimal("0.01")
    assert cloud.scans().cost(0) == 0


def test_without_bytes_or_price_there_is_no_cost(cloud: Cloud) -> None:
    """Prices are not guessed from other Regions."""
    assert cloud.scans().cost(None) is None
    cloud.region = "eu-west-1"
    assert cloud.scans().cost(2**30) is None


@pytest.mark.parametrize(
    ("length", "period"), [(3 * HOUR, HOUR / 12), (7 * DAY, HOUR), (30 * DAY, HOUR), (400 * DAY, DAY)]
)
def test_sums_are_as_fine_as_the_metric_keeps_them(length: timedelta, period: timedelta) -> None:
    """A narrow window is not estimated by whole days."""
    assert period_of(Window(NOW - length, NOW)) == period
