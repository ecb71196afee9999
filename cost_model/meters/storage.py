"""Meter the bytes that the trail's log group keeps."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.money import DAYS_PER_MONTH, average_days_filling, product
from cost_model.scenario import Scenario


def _steady(scenario: Scenario) -> Decimal | None:
    # Kept for ever, a store grows every month: it has no steady state to price.
    kept = scenario.deployment.retention_days
    return product(scenario.trail_gb, None if kept is None else kept / DAYS_PER_MONTH)


def _filling(scenario: Scenario) -> Decimal | None:
    return product(scenario.trail_gb, average_days_filling(scenario.deployment.retention_days) / DAYS_PER_MONTH)


STORAGE: Final = Meter(
    key="storage",
    label="Log storage",
    price="log_storage",
    quantity=_steady,
    first_month=_filling,
    assumes=lambda _: ("stored bytes are counted uncompressed",),
)
