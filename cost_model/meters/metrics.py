"""Meter custom metrics: those that metric filters publish, and those that the agent does, as EMF lines or otherwise."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter, Part
from cost_model.scenario import Scenario


def _series(scenario: Scenario) -> Decimal:
    return sum((part.quantity or Decimal(0) for part in _parts(scenario)), Decimal(0))


def _parts(scenario: Scenario) -> tuple[Part, ...]:
    filtered, stated = scenario.deployment.pieces.metric_filters, scenario.workload.metric_series
    found = {"of metric filters": filtered or None, "published": stated}
    return tuple(Part(name, count, count) for name, count in found.items() if count is not None)


def _assumptions(scenario: Scenario) -> tuple[str, ...]:
    if not scenario.deployment.pieces.metric_filters:
        return ()
    return ("metric filters are free; each of their metrics is one series: dimensions would make more of it",)


METRICS: Final = Meter(
    key="metrics",
    label="Custom metrics",
    price="metrics",
    quantity=_series,
    parts=_parts,
    applies=lambda scenario: bool(_parts(scenario)),
    assumes=_assumptions,
)
