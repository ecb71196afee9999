"""Price the article's scenario with some of it changed, and compare figures as they are printed."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from agent_image.contract import Regime
from cost_model.estimate import Estimate, estimate
from cost_model.meters.meter import Line
from cost_model.pieces import Pieces
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from tests.cost_model.conftest import TODAY

HALF_A_CENT = Decimal("0.005")


def priced(scenario: Scenario, prices: PriceBook, regime: Regime, **deployed: Any) -> Estimate:
    """Price a scenario under a regime, with some of what is deployed changed."""
    deployment = replace(scenario.deployment, regime=regime, **deployed)
    return estimate(replace(scenario, deployment=deployment), prices, TODAY)


def under(scenario: Scenario, **stated: Any) -> Scenario:
    """Return the scenario with some of its workload changed."""
    return replace(scenario, workload=replace(scenario.workload, **stated))


def holding(scenario: Scenario, **pieces: Any) -> Scenario:
    """Return the scenario with pieces deployed; numbers are counts."""
    held: dict[str, Any] = {key: value if isinstance(value, bool) else Decimal(value) for key, value in pieces.items()}
    return replace(scenario, deployment=replace(scenario.deployment, regime=Regime.ADDRESS, pieces=Pieces(**held)))


def close(amount: Decimal | None, expected: str, within: Decimal = HALF_A_CENT) -> bool:
    """Tell whether a known amount rounds to the expected one."""
    return amount is not None and abs(amount - Decimal(expected)) <= within


def line(result: Estimate, key: str) -> Line | None:
    """Return a line, one that is for scale included; None where it is switched off."""
    return next((each for each in (*result.lines, *result.scale) if each.key == key), None)


def monthly(result: Estimate, key: str) -> Decimal | None:
    """Return the steady amount of a line that is there."""
    found = line(result, key)
    assert found is not None, f"{key} has no line"
    return found.monthly
