"""Assemble scenarios from the files that a person names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from agent_image.contract import Quantity
from cost_model.deployed import read_deployed
from cost_model.deployment import DEPLOYED_TABLE, INDEXING, Deployment, read_deployment
from cost_model.documents import read_toml
from cost_model.errors import CostError, UsageError
from cost_model.faults import Faults
from cost_model.freshness import check_complete, check_fresh
from cost_model.scenario import Scenario
from cost_model.synthesis import Environment, read_environments
from cost_model.workload import SESSIONS, USAGE_TABLE, Workload, read_workload

Read = TypeVar("Read")

UNKNOWN_SETTINGS: Final = (
    "the settings that the stacks were made from are not at hand: whether they match is not checked"
)


@dataclass(frozen=True, slots=True)
class Overrides:
    """Hold what the command line states over the files; None leaves the files' word."""

    sessions: Decimal | None = None
    indexing_percentage: Decimal | None = None
    region: str | None = None

    def apply(self, scenario: Scenario) -> Scenario:
        """Return the scenario with what was stated put in."""
        deployment, workload = scenario.deployment, scenario.workload
        if self.sessions is not None:
            workload = replace(workload, sessions=self.sessions)
        if self.indexing_percentage is not None:
            deployment = replace(deployment, indexing_percentage=self.indexing_percentage)
        return Scenario(deployment, workload)


@dataclass(frozen=True, slots=True)
class SynthesisSource:
    """Name the files that an estimate is made from; settings of None are not at hand."""

    folder: Path
    settings: Path | None
    environment: str | None = None
    usage: Path | None = None


def read_overrides(sessions: str | None, indexing: str | None, region: str | None = None) -> Overrides:
    """Check the numbers of the command line; UsageError shows every fault."""
    faults = Faults("command line")
    overrides = Overrides(
        option(faults, "--sessions", SESSIONS, sessions),
        option(faults, "--indexing", INDEXING, indexing),
        region,
    )
    faults.raise_if_any()
    return overrides


def regimes_scenario(usage: Path, overrides: Overrides) -> Scenario:
    """Read a usage file that says what is deployed, too."""
    document = read_toml(usage)
    if DEPLOYED_TABLE not in document:
        message = (
            f"{usage}: no [{DEPLOYED_TABLE}] table; add one with region, indexing_percentage, retention_days and "
            f"masking, or price what was synthesised with `estimate`"
        )
        raise UsageError(message)
    errors: list[CostError] = []
    deployment = collect(errors, lambda: read_deployment(document[DEPLOYED_TABLE], str(usage)))
    workload = collect(errors, lambda: stated_workload(usage))
    if deployment is None or workload is None:
        raise CostError.all_of(errors)
    return overrides.apply(Scenario(deployment, workload))


def synthesised_scenarios(source: SynthesisSource, overrides: Overrides) -> tuple[Scenario, ...]:
    """Read each environment of a synthesis folder; CostError shows the faults of all of them."""
    errors: list[CostError] = []
    environments = read_environments(source.folder, source.environment)
    settings = source.settings
    if source.environment is None and settings is not None:
        collect(errors, lambda: check_complete((s for e in environments for s in e.stacks), settings))
    found = [collect(errors, partial(_scenario, environment, source, overrides)) for environment in environments]
    if errors:
        raise CostError.all_of(errors)
    return tuple(scenario for scenario in found if scenario is not None)


def _scenario(environment: Environment, source: SynthesisSource, overrides: Overrides) -> Scenario:
    # Stale stacks are refused before anything else is said about them.
    unchecked = (UNKNOWN_SETTINGS,) if source.settings is None else check_fresh(environment.stacks, source.settings)
    errors: list[CostError] = []
    deployment = collect(errors, lambda: read_deployed(environment, overrides.region))
    usage = collect(errors, lambda: _workload_of(environment.name, source))
    if deployment is None or usage is None:
        raise CostError.all_of(errors)
    workload, assumed = usage
    return overrides.apply(Scenario(_assuming(deployment, (*unchecked, *assumed)), workload))


def _workload_of(environment: str, source: SynthesisSource) -> tuple[Workload, tuple[str, ...]]:
    if source.usage is not None:
        return stated_workload(source.usage), ()
    if source.settings is None:
        return Workload(), ()
    path = source.settings / f"{environment}.toml"
    if not path.is_file():
        return Workload(), (f"no usage is stated: {path} is not there; name another file with --usage",)
    document = read_toml(path)
    if USAGE_TABLE not in document:
        return Workload(), (f"no usage is stated: {path} has no [{USAGE_TABLE}] table",)
    return read_workload(document[USAGE_TABLE], str(path)), ()


def stated_workload(path: Path) -> Workload:
    """Read the traffic that a file states; UsageError shows every fault."""
    document = read_toml(path)
    if USAGE_TABLE not in document:
        message = f"{path}: no [{USAGE_TABLE}] table; it holds: {', '.join(document) or 'nothing'}"
        raise UsageError(message)
    return read_workload(document[USAGE_TABLE], str(path))


def _assuming(deployment: Deployment, assumed: tuple[str, ...]) -> Deployment:
    return replace(deployment, assumptions=(*assumed, *deployment.assumptions))


def option(faults: Faults, name: str, quantity: Quantity, text: str | None) -> Decimal | None:
    """Check a number of the command line; None was not stated, or is recorded as a fault."""
    if text is None:
        return None
    try:
        return faults.number(name, quantity, Decimal(text))
    except InvalidOperation:
        return faults.number(name, quantity, text)


def collect(errors: list[CostError], read: Callable[[], Read]) -> Read | None:
    """Read, or keep the refusal for later, so that one run shows the faults of all."""
    try:
        return read()
    except CostError as error:
        errors.append(error)
        return None
