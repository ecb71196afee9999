"""Put together what the commands that judge a bill work with: a change, its levers, its alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final

from agent_image.contract import Regime
from cost_model.alternatives import ASSUMED_MODEL_CALLS, HELD, MODEL_CALLS, Alternative, alternatives
from cost_model.break_even import BUDGET, SHARE, break_evens
from cost_model.ceilings import MAX_INCREASE, MAX_MONTHLY, Breach, Ceilings, breaches
from cost_model.deployment import Deployment
from cost_model.diff import Difference
from cost_model.errors import UsageError
from cost_model.estimate import estimate
from cost_model.faults import Faults
from cost_model.prices import PriceBook
from cost_model.render.levers import Judged
from cost_model.scenario import Scenario
from cost_model.sensitivity import sensitivity
from cost_model.session_sizes import assume_sizes, load_session_sizes
from cost_model.sides import Sides, compare
from cost_model.sources import (
    Overrides,
    SynthesisSource,
    option,
    regimes_scenario,
    stated_workload,
    synthesised_scenarios,
)
from cost_model.workload import Workload

COMMAND_LINE: Final = "command line"


@dataclass(frozen=True, slots=True)
class Held:
    """Hold a change, the ceilings it is held to and those that it breaks."""

    difference: Difference
    ceilings: Ceilings
    broken: tuple[Breach, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """Name what is judged: synthesised environments, or a file that says what is deployed, under a regime."""

    out: Path | None
    settings: Path
    environment: str | None
    usage: Path | None
    overrides: Overrides
    regime: Regime = Regime.ARCHIVE


def held(sides: Sides, max_monthly: str | None, max_increase: str | None, prices: PriceBook, today: date) -> Held:
    """Compare two sides and hold the change to its ceilings."""
    faults = Faults(COMMAND_LINE)
    ceilings = Ceilings(
        option(faults, "--max-monthly", MAX_MONTHLY, max_monthly),
        option(faults, "--max-increase", MAX_INCREASE, max_increase),
    )
    faults.raise_if_any()
    difference = compare(sides, prices, today, load_session_sizes())
    return Held(difference, ceilings, breaches(difference, ceilings))


def judged(asked: Asked, budget: str, share: str, prices: PriceBook, today: date) -> tuple[Judged, ...]:
    """Price each environment asked for, and say what moves it and where it breaks even."""
    faults = Faults(COMMAND_LINE)
    limit, part = option(faults, "--budget", BUDGET, budget), option(faults, "--share", SHARE, share)
    if limit is None or part is None:
        raise UsageError(*faults.lines)
    sizes = load_session_sizes()
    return tuple(
        Judged(
            estimate(scenario, prices, today, sizes),
            sensitivity(scenario, prices, today, sizes),
            break_evens(scenario, prices, today, sizes, budget=limit, share=part),
        )
        for scenario in _scenarios(asked)
    )


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Hold a workload, the model calls of one of its sessions, and what plans of other vendors take for it."""

    workload: Workload
    model_calls: Decimal
    found: tuple[Alternative, ...]


def elsewhere(asked: Asked, model_calls: str | None, today: date) -> Elsewhere:
    """Price one environment's traffic under other vendors' plans."""
    faults = Faults(COMMAND_LINE)
    calls = option(faults, "--model-calls", MODEL_CALLS, model_calls)
    faults.raise_if_any()
    (scenario,) = _one(_workloads(asked))
    content = Scenario(replace(scenario.deployment, regime=HELD), scenario.workload)
    workload = assume_sizes(content, load_session_sizes()).workload
    calls = ASSUMED_MODEL_CALLS if calls is None else calls
    return Elsewhere(workload, calls, alternatives(workload, today, model_calls=calls))


def _scenarios(asked: Asked) -> Sequence[Scenario]:
    if asked.out is not None:
        source = SynthesisSource(asked.out, asked.settings, asked.environment, asked.usage)
        return synthesised_scenarios(source, asked.overrides)
    scenario = regimes_scenario(_usage(asked), asked.overrides)
    return (Scenario(replace(scenario.deployment, regime=asked.regime), scenario.workload),)


def _workloads(asked: Asked) -> Sequence[Scenario]:
    """Read the traffic alone where no stacks are named: what others charge depends on no deployment."""
    if asked.out is not None:
        return _scenarios(asked)
    return (asked.overrides.apply(Scenario(Deployment(region=""), stated_workload(_usage(asked)))),)


def _usage(asked: Asked) -> Path:
    if asked.usage is None:
        message = "name what was synthesised, such as cdktf.out, or a file with --usage"
        raise UsageError(message)
    return asked.usage


def _one(scenarios: Sequence[Scenario]) -> Sequence[Scenario]:
    if len(scenarios) > 1:
        names = ", ".join(scenario.deployment.environment or "" for scenario in scenarios)
        message = f"{len(scenarios)} environments are there: name one with --environment: {names}"
        raise UsageError(message)
    return scenarios
