"""Meter the audit: each line kept in S3 for good, several to an object."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.growing import filling_months, month_words, months
from cost_model.meters.meter import Meter
from cost_model.money import gigabytes, product
from cost_model.scenario import Scenario


def _gb(scenario: Scenario) -> Decimal | None:
    stated = scenario.workload.audit_kb_per_session
    # An event line is a slim copy of an audit line.
    return scenario.event_gb if stated is None else gigabytes(scenario.per_session(stated))


def _assumptions(scenario: Scenario) -> tuple[str, ...]:
    lasting = month_words(scenario, "audit", "its lines", "lines")
    if scenario.workload.audit_kb_per_session is not None:
        return (lasting,)
    return (lasting, "audit: its lines are taken to weigh what event lines weigh (audit_kb_per_session is not stated)")


def _audits(scenario: Scenario) -> bool:
    return scenario.deployment.pieces.audit


AUDIT: Final = (
    Meter(
        key="audit_storage",
        label="Audit storage",
        price="s3_storage",
        quantity=lambda scenario: product(_gb(scenario), months(scenario)),
        first_month=lambda scenario: product(_gb(scenario), filling_months(scenario)),
        applies=_audits,
        assumes=_assumptions,
    ),
    Meter(
        key="audit_requests",
        label="Audit PUT requests",
        price="s3_put",
        quantity=lambda scenario: scenario.per_session(scenario.workload.audit_objects_per_session),
        applies=_audits,
    ),
)
