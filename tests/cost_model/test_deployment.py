"""Check the `[deployed]` table."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cost_model.deployment import LogClass, read_deployment
from cost_model.errors import UsageError


def test_what_is_left_out_is_an_assumption() -> None:
    """Only the Region must be stated; the rest is unknown or said to be assumed."""
    deployment = read_deployment({"region": "us-east-1"}, "dev.toml")

    assert deployment.indexing_percentage is None
    assert deployment.retention_days is None
    assert deployment.assumptions == (
        "retention is not stated: events are kept for ever, as CloudWatch does by default",
        "masking is not stated: taken as off",
    )


def test_a_whole_table_assumes_nothing() -> None:
    """Every key is read."""
    table = {
        "region": "us-east-1",
        "indexing_percentage": Decimal("2.5"),
        "retention_days": 7,
        "masking": True,
        "log_class": "INFREQUENT_ACCESS",
    }
    deployment = read_deployment(table, "dev.toml")

    assert deployment.log_class is LogClass.INFREQUENT_ACCESS
    assert deployment.masking
    assert deployment.assumptions == ()


def test_all_faults_appear_at_once() -> None:
    """Each wrong value is listed with what is allowed."""
    table = {"indexing_percentage": 101, "retention_days": 0, "masking": 1, "log_class": "DELIVERY", "retention": 3}
    with pytest.raises(UsageError) as refusal:
        read_deployment(table, "dev.toml")

    assert len(refusal.value.lines) == 6
    assert "deployed.region: missing" in str(refusal.value)
    assert "deployed.indexing_percentage: 101 is not allowed; allowed: a number from 0 to 100 (%)" in str(refusal.value)
    assert 'did you mean "retention_days"?' in str(refusal.value)
