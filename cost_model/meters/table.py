"""Meter the guard's records in the table: checkpoints, decisions, sessions, spending; known fingerprints are apart."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.money import DAYS_PER_MONTH, average_days_filling, gigabytes, product
from cost_model.scenario import Scenario

ASSUMED_MONTHS: Final = Decimal(1)
"""How long the records of a session stay: they expire after thirty days."""


def _months(scenario: Scenario) -> Decimal:
    stated = scenario.workload.table_months
    return ASSUMED_MONTHS if stated is None else stated


def _gb(scenario: Scenario) -> Decimal | None:
    return gigabytes(scenario.per_session(scenario.workload.table_kb_per_session))


def _filling(scenario: Scenario) -> Decimal:
    return average_days_filling(_months(scenario) * DAYS_PER_MONTH) / DAYS_PER_MONTH


def _assumptions(scenario: Scenario) -> tuple[str, ...]:
    if scenario.workload.table_months is not None:
        return ()
    return ("the guard's records of a session expire after a month (table_months is not stated)",)


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
        quantity=lambda scenario: product(_gb(scenario), _months(scenario)),
        first_month=lambda scenario: product(_gb(scenario), _filling(scenario)),
        applies=_has_table,
        assumes=_assumptions,
    ),
)
