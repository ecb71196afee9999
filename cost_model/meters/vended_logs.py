"""Meter logs that services deliver by themselves, by where they go, and what CloudWatch keeps of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.meters.storage import compressed, filling, steady
from cost_model.scenario import Scenario


def _to(key: str, label: str, destination: str, price: str) -> Meter:
    """Meter a delivery; it has no line where nobody states that something is delivered there."""
    return Meter(
        key=key,
        label=label,
        price=price,
        quantity=lambda scenario: _stated(scenario, destination),
        applies=lambda scenario: _stated(scenario, destination) is not None,
    )


def _stated(scenario: Scenario, destination: str) -> Decimal | None:
    value: Decimal | None = getattr(scenario.workload, destination)
    return value


def _kept(scenario: Scenario) -> Decimal:
    workload = scenario.workload
    return (workload.vended_gb or Decimal(0)) + (workload.vended_infrequent_access_gb or Decimal(0))


VENDED_LOGS: Final = (
    _to("vended_ingestion", "Vended logs, Standard", "vended_gb", "vended_logs"),
    _to(
        *("vended_infrequent_access", "Vended logs, Infrequent Access"),
        *("vended_infrequent_access_gb", "vended_logs_infrequent_access"),
    ),
    _to("vended_s3", "Vended logs to S3", "vended_s3_gb", "vended_logs_s3"),
    Meter(
        key="vended_storage",
        label="Vended log storage",
        price="log_storage",
        quantity=lambda scenario: steady(scenario, compressed(scenario, _kept(scenario))),
        first_month=lambda scenario: filling(scenario, compressed(scenario, _kept(scenario))),
        applies=lambda scenario: bool(_kept(scenario)),
        assumes=lambda _: ("vended logs are kept as long as the trail, and neither masked nor queried",),
    ),
)
