"""Compare the four capture regimes under one workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType

from agent_image.contract import Regime
from cost_model.estimate import Estimate, estimate
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold one estimate for each regime, all else equal."""

    region: str
    estimates: Mapping[Regime, Estimate]


def compare_regimes(
    scenario: Scenario, prices: PriceBook, today: date, sizes: SessionSizes | None = None
) -> Comparison:
    """Price the scenario once under each regime; `sizes` as for `estimate`."""
    deployment, workload = scenario.deployment, scenario.workload
    estimates = {
        regime: estimate(Scenario(replace(deployment, regime=regime), workload), prices, today, sizes)
        for regime in Regime
    }
    return Comparison(deployment.region, MappingProxyType(estimates))
