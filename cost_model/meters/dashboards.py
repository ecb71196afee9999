"""Meter dashboards: each by the month, and what their widgets scan of the trail at every refresh."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter, Part
from cost_model.meters.queries import assumptions_of, part_of, total_of
from cost_model.scenario import Scenario


def _parts(scenario: Scenario) -> tuple[Part, ...]:
    return tuple(part_of(scenario, dashboard.queries) for dashboard in scenario.workload.dashboards)


def _total(scenario: Scenario, amounts: Iterable[Decimal | None]) -> Decimal | None:
    # Widgets that the stacks hold and nobody stated refresh as often as nobody knows.
    return total_of(amounts) if scenario.workload.dashboards else None


def _assumptions(scenario: Scenario) -> tuple[str, ...]:
    said = assumptions_of(scenario, (dashboard.queries for dashboard in scenario.workload.dashboards))
    return (*said, "dashboards: each refresh of each widget on log queries is a query of its own")


DASHBOARDS: Final = (
    Meter(
        key="dashboards",
        label="Dashboards",
        price="dashboards",
        quantity=lambda scenario: scenario.deployment.pieces.dashboards,
        applies=lambda scenario: bool(scenario.deployment.pieces.dashboards),
    ),
    Meter(
        key="dashboard_queries",
        label="Dashboard refreshes",
        price="logs_insights_scan",
        quantity=lambda scenario: _total(scenario, (part.quantity for part in _parts(scenario))),
        first_month=lambda scenario: _total(scenario, (part.first_quantity for part in _parts(scenario))),
        parts=_parts,
        applies=lambda scenario: bool(scenario.workload.dashboards) or scenario.deployment.pieces.log_dashboards,
        assumes=_assumptions,
    ),
)
