"""Meter AgentCore Runtime, for scale: what the agent itself takes, which no trail changes."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.money import product
from cost_model.scenario import Scenario
from cost_model.workload import RuntimeUse

ASSUMED_VERSION: Final = 2
"""The dearer of the two: nothing in the stacks says which one charges."""
LEAST_SECONDS: Final = Decimal(1)
"""What a session is charged for at least."""
_SECONDS_PER_HOUR: Final = 3600


def _use(scenario: Scenario) -> RuntimeUse:
    return scenario.workload.runtime or RuntimeUse()


def _vcpu_hours(scenario: Scenario) -> Decimal | None:
    return scenario.per_session(_hours(_use(scenario).vcpu_seconds_per_session))


def _gb_hours(scenario: Scenario) -> Decimal | None:
    use = _use(scenario)
    return product(scenario.workload.sessions, _hours(use.seconds_per_session), use.memory_gb)


def _hours(seconds: Decimal | None) -> Decimal | None:
    return None if seconds is None else max(seconds, LEAST_SECONDS) / _SECONDS_PER_HOUR


def _charged_by(version: int) -> Callable[[Scenario], bool]:
    def applies(scenario: Scenario) -> bool:
        there = scenario.deployment.pieces.runtime or scenario.workload.runtime is not None
        return there and (_use(scenario).version or ASSUMED_VERSION) == version

    return applies


def _assumptions(scenario: Scenario) -> tuple[str, ...]:
    said = "AgentCore Runtime: active vCPU and peak memory by the second, one second of each a session at least"
    if _use(scenario).version is not None:
        return (said,)
    return (said, f"AgentCore Runtime: priced as version {ASSUMED_VERSION}, the dearer one; [usage.runtime] may say 1")


def _of_version(version: int) -> tuple[Meter, Meter]:
    return (
        Meter(
            key="runtime_vcpu",
            label=f"AgentCore Runtime v{version}, vCPU",
            price=f"runtime_v{version}_vcpu",
            quantity=_vcpu_hours,
            applies=_charged_by(version),
            assumes=_assumptions,
        ),
        Meter(
            key="runtime_memory",
            label=f"AgentCore Runtime v{version}, memory",
            price=f"runtime_v{version}_memory",
            quantity=_gb_hours,
            applies=_charged_by(version),
        ),
    )


RUNTIME: Final = (*_of_version(1), *_of_version(2))
