"""Meter alarms: by the metrics that they watch, or each, as their kind has it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.money import product
from cost_model.pieces import Pieces
from cost_model.scenario import Scenario


def _alarms(key: str, label: str, price: str, count: Callable[[Pieces], Decimal]) -> Meter:
    return Meter(
        key=key,
        label=label,
        price=price,
        quantity=lambda scenario: count(scenario.deployment.pieces),
        applies=lambda scenario: bool(count(scenario.deployment.pieces)),
    )


def _insights(scenario: Scenario) -> Decimal | None:
    return product(scenario.deployment.pieces.insights_alarms, scenario.workload.insights_alarm_metrics)


ALARMS: Final = (
    _alarms("alarms", "Alarms, standard", "alarms", lambda pieces: pieces.alarm_metrics),
    _alarms(
        *("alarms_high_resolution", "Alarms, high resolution", "alarms_high_resolution"),
        lambda pieces: pieces.high_resolution_alarm_metrics,
    ),
    _alarms("alarms_composite", "Alarms, composite", "alarms_composite", lambda pieces: pieces.composite_alarms),
    Meter(
        key="alarms_insights",
        label="Alarms, Metrics Insights",
        price="alarms",
        quantity=_insights,
        applies=lambda scenario: bool(scenario.deployment.pieces.insights_alarms),
    ),
)
