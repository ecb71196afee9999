"""Meter the guard's records in the table: checkpoints, decisions, sessions, spending; known fingerprints are apart."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.money import DAYS_PER_MONTH, average_days_filling, gigabytes, product
from cost_model.scenario import Scenario


def _gb(scenario: Scenario) -> Decimal | None:
    return gigabytes(scenario.per_session(scenario.workload.table_kb_per_session))


def _filling(scenario: Scenario) -> Decimal | None:
    kept = scenario.workload.table_months
    return None if kept is None else average_days_filling(kept * DAYS_PER_MONTH) / DAYS_PER_MONTH


def _has_table(scenario: Scenario) -> bool:
    return scenario.deployment.pieces.table


TABLE: Final = (
    Meter(
        key="table_writes",
        label="Guard record writes",
        price="dynamodb_write",
        quantity=lambda scenario: scenario.per_session(scenario.workload.table_writes_per_session),
        applies=_has_table,
    ),
    Meter(
        key="table_reads",
        label="Guard record reads",
        price="dynamodb_read",
        quantity=lambda scenario: scenario.per_session(scenario.workload.table_reads_per_session),
        applies=_has_table,
    ),
    Meter(
        key="table_storage",
        label="Guard record storage",
        price="dynamodb_storage",
        quantity=lambda scenario: product(_gb(scenario), scenario.workload.table_months),
        first_month=lambda scenario: product(_gb(scenario), _filling(scenario)),
        applies=_has_table,
    ),
)
