"""Meter the bytes that the trail's log group keeps."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.money import DAYS_PER_MONTH, average_days_filling, product
from cost_model.scenario import Scenario


def steady(scenario: Scenario, monthly_gb: Decimal | None) -> Decimal | None:
    """Count the GB-months of a log group that takes so many GB a month, once it holds all that it keeps."""
    # Kept for ever, a store grows every month: it has no steady state to price.
    kept = scenario.deployment.retention_days
    return product(monthly_gb, None if kept is None else kept / DAYS_PER_MONTH)


def filling(scenario: Scenario, monthly_gb: Decimal | None) -> Decimal | None:
    """Count the GB-months of the same log group in the month in which it starts empty."""
    return product(monthly_gb, average_days_filling(scenario.deployment.retention_days) / DAYS_PER_MONTH)


def compressed(scenario: Scenario, gb: Decimal | None) -> Decimal | None:
    """Return what is stored of bytes that came in; all of them unless somebody states a compression."""
    stated = scenario.workload.storage_compression
    return product(gb, Decimal(1) if stated is None else stated)


def _stored(scenario: Scenario) -> Decimal | None:
    return compressed(scenario, scenario.trail_gb)


def _assumptions(scenario: Scenario) -> tuple[str, ...]:
    stated = scenario.workload.storage_compression
    if stated is None or stated == 1:
        return ("stored bytes are counted uncompressed; AWS's own calculator takes storage_compression 0.15",)
    return (f"stored bytes are counted as {stated.normalize():f} of those that came in (storage_compression)",)


STORAGE: Final = Meter(
    key="storage",
    label="Log storage",
    price="log_storage",
    quantity=lambda scenario: steady(scenario, _stored(scenario)),
    first_month=lambda scenario: filling(scenario, _stored(scenario)),
    assumes=_assumptions,
)
