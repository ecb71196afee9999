"""Price both sides of a change: the same prices, the same day, and each side's own settings unless told otherwise."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Final

from cost_model.deployment import Deployment
from cost_model.diff import Difference, difference, facts_of
from cost_model.errors import CostError, SynthesisError, UsageError
from cost_model.estimate import Estimate, estimate
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes
from cost_model.sources import Overrides, SynthesisSource, collect, synthesised_scenarios
from cost_model.synthesis import read_environments
from cost_model.worktree import OUT, project_at, synthesise

SETTINGS: Final = "environments"
"""The folder of settings, beside what was synthesised of them."""
LENT: Final = "no usage is at hand: that of the other side is taken"


@dataclass(frozen=True, slots=True)
class Sides:
    """Name what is compared.

    `base` and `head` are folders; with `reference`, base is synthesised as it was there, and head, where none is
    named, from the working tree. `usage` holds for both sides; without it each side's own settings say.
    """

    base: Path | None = None
    head: Path | None = None
    reference: str | None = None
    environment: str | None = None
    usage: Path | None = None
    base_settings: Path | None = None
    head_settings: Path | None = None
    region: str | None = None


def read_sides(
    folders: tuple[Path | None, Path | None],
    reference: str | None,
    *,
    environment: str | None = None,
    usage: Path | None = None,
    base_settings: Path | None = None,
    head_settings: Path | None = None,
    region: str | None = None,
) -> Sides:
    """Tell base from head among the folders of a command line: beside a reference the one folder is head."""
    first, second = folders
    if reference is None and (first is None or second is None):
        message = "diff: name two folders of synthesised Terraform, BASE and HEAD, or --git REF and at most HEAD"
        raise UsageError(message)
    if reference is not None and second is not None:
        message = f"diff: --git {reference!r} is the base, so {second} is one folder too many; name at most HEAD"
        raise UsageError(message)
    base, head = (first, second) if reference is None else (None, first)
    return Sides(base, head, reference, environment, usage, base_settings, head_settings, region)


def compare(sides: Sides, prices: PriceBook, today: date, sizes: SessionSizes) -> Difference:
    """Read both sides and compare them; CostError shows the faults of both."""
    with _sources(sides) as (base, head):
        _require_known(sides.environment, base, head)
        errors: list[CostError] = []
        found = [collect(errors, partial(_scenarios, each, sides.region)) for each in (base, head)]
    old, new = found
    if old is None or new is None:
        raise CostError.all_of(errors)
    if sides.usage is None:
        old = _lent(old, new) if base.settings is None else old
        new = _lent(new, old) if head.settings is None else new

    def priced(scenarios: Mapping[str, Scenario]) -> tuple[Estimate, ...]:
        return tuple(estimate(scenario, prices, today, sizes) for scenario in scenarios.values())

    facts = [fact for name in old if name in new for fact in facts_of(name, old[name], new[name])]
    return difference(priced(old), priced(new), priced(_under_base_usage(old, new)), facts)


@contextmanager
def _sources(sides: Sides) -> Iterator[tuple[SynthesisSource, SynthesisSource]]:
    if sides.reference is None:
        yield _source(sides, sides.base, sides.base_settings), _head(sides, sides.head)
        return
    here = Path()
    with tempfile.TemporaryDirectory(prefix="rastro-diff-") as temporary, project_at(sides.reference, here) as there:
        synthesise(there, there / OUT, sides.reference)
        head = sides.head
        if head is None:
            head = Path(temporary) / OUT
            synthesise(here, head, "working tree")
        yield _source(sides, there / OUT, sides.base_settings), _head(sides, head)


def _head(sides: Sides, folder: Path | None) -> SynthesisSource:
    here = Path(SETTINGS)
    source = _source(sides, folder, sides.head_settings)
    return replace(source, settings=here) if source.settings is None and here.is_dir() else source


def _source(sides: Sides, folder: Path | None, settings: Path | None) -> SynthesisSource:
    """Take the settings beside a folder where none are named."""
    folder = folder or Path(OUT)
    beside = folder.absolute().parent / SETTINGS
    found = settings or (beside if beside.is_dir() else None)
    return SynthesisSource(folder, found, sides.environment, sides.usage)


def _require_known(environment: str | None, *sources: SynthesisSource) -> None:
    names = [{each.name for each in read_environments(source.folder)} for source in sources]
    if environment is not None and not any(environment in known for known in names):
        held = ", ".join(sorted(set.union(*names)))
        message = f"no environment {environment!r} on either side; they hold: {held}"
        raise SynthesisError(message)


def _scenarios(source: SynthesisSource, region: str | None) -> dict[str, Scenario]:
    only = source.environment
    if only is not None and only not in {each.name for each in read_environments(source.folder)}:
        return {}
    scenarios = synthesised_scenarios(source, Overrides(region=region))
    return {scenario.deployment.environment or "": scenario for scenario in scenarios}


def _lent(borrower: Mapping[str, Scenario], lender: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """Put the other side's usage where a side's settings are not at hand."""
    return {
        name: Scenario(_saying(scenario.deployment), lender[name].workload) if name in lender else scenario
        for name, scenario in borrower.items()
    }


def _saying(deployment: Deployment) -> Deployment:
    return replace(deployment, assumptions=(*deployment.assumptions, LENT))


def _under_base_usage(old: Mapping[str, Scenario], new: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """Return head's deployments under base's usage, where it differs."""
    return {
        name: Scenario(scenario.deployment, old[name].workload)
        for name, scenario in new.items()
        if name in old and old[name].workload != scenario.workload
    }
