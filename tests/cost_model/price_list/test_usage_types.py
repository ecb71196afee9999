"""Tell a Region's usage types and units from others that look alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cost_model.price_list.units import same_unit
from cost_model.price_list.usage_types import Belongs, belongs
from cost_model.prices import load_prices

REGION, FREE, OTHER = Belongs.REGION, Belongs.FREE_TIER, Belongs.OTHER


@pytest.mark.parametrize(
    ("usage_type", "suffix", "belonging"),
    [
        ("DataProcessing-Bytes", "DataProcessing-Bytes", REGION),
        ("EU-DataProcessing-Bytes", "DataProcessing-Bytes", REGION),
        ("USE1-DataProcessing-Bytes", "DataProcessing-Bytes", REGION),
        ("UGW1-DataProcessing-Bytes", "DataProcessing-Bytes", REGION),
        ("CW:MetricMonitorUsage", "MetricMonitorUsage", REGION),
        ("APN1-CW:MetricMonitorUsage", "MetricMonitorUsage", REGION),
        ("eu-west-1-KMS-Keys", "KMS-Keys", REGION),
        ("us-west-2-KMS-Keys", "KMS-Keys", OTHER),
        ("Global-DataScanned-Bytes", "DataScanned-Bytes", FREE),
        ("Global-CW:Requests", "Requests", FREE),
        ("CW:HighResAlarmMonitorUsage", "AlarmMonitorUsage", OTHER),
        ("IA-TimedStorage-ByteHrs", "TimedStorage-ByteHrs", OTHER),
        ("EU-IA-TimedStorage-ByteHrs", "TimedStorage-ByteHrs", OTHER),
        ("S3-Egress-Bytes", "Egress-Bytes", OTHER),
        ("EU-VendedLog-Bytes-CFLogs", "VendedLog-Bytes", OTHER),
        ("EU-Application-Signals-TransactionSearch-Bytes", "Application-Signals-Bytes", OTHER),
        ("EU-EU-DataScanned-Bytes", "DataScanned-Bytes", OTHER),
    ],
)
def test_a_region_s_prefix_is_told_from_a_product_s_name(usage_type: str, suffix: str, belonging: Belongs) -> None:
    """The forms are those that bills and the Price List show."""
    assert belongs(usage_type, suffix, "eu-west-1") is belonging


@given(st.text(max_size=20), st.sampled_from(sorted({row.usage_type for row in load_prices().rows})))
def test_any_text_is_judged(text: str, suffix: str) -> None:
    """What ends otherwise never belongs."""
    assert (belongs(text, suffix, "eu-west-1") is OTHER) or text.endswith(suffix)


@pytest.mark.parametrize(
    ("listed", "book", "same"),
    [
        ("GB", "GB", True),
        ("GB-Mo", "GB-month", True),
        ("GB-Month", "GB-month", True),
        ("Requests", "request", True),
        ("Metrics", "series-month", True),
        ("Traces", "span", True),
        ("Count", "request", True),
        ("Terabytes", "TB", True),
        ("vCPU-Hours", "vCPU-hour", True),
        ("GB", "TB", False),
        ("GB", "GB-month", False),
        ("Count", "GB", False),
        ("1M requests", "request", False),
        ("Alarms", "series-month", False),
        ("", "GB", False),
    ],
)
def test_units_are_compared_by_what_they_mean(listed: str, book: str, *, same: bool) -> None:
    """A price of another unit would be wrong by its size."""
    assert same_unit(listed, book) is same
