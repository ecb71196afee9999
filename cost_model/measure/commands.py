"""Do what `measure` says: find the group, measure, compare, write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from cost_model.errors import UsageError
from cost_model.faults import shown
from cost_model.measure.comparing import Comparison, compare, with_stated_sessions
from cost_model.measure.measurement import Measurement
from cost_model.measure.measuring import Asked, measure
from cost_model.measure.place import Place, place_of_environment, place_of_group
from cost_model.measure.usage_file import check_place, write_usage
from cost_model.prices import prices_with
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes
from cost_model.sources import Overrides, SynthesisSource, synthesised_scenarios

MOST_DAYS: Final = 455
"""CloudWatch keeps sums of a day for 455 days."""
NAMESPACES: Final = ("bedrock-agentcore",)
"""Where the service and the guard publish metrics."""
_NAMESPACE: Final = re.compile(r"[^:\x00-\x1f][\x20-\x7e]{0,254}")


@dataclass(frozen=True, slots=True)
class Target:
    """Say which group is measured, and what it is set beside.

    Attributes:
        environment: found by its discovery document; or else `group`, with its Region and capture regime.
        out: synthesised stacks, to estimate from; None compares with nothing.
        prices: a folder of price files of one's own.
    """

    environment: str | None = None
    group: str | None = None
    region: str | None = None
    capture: str | None = None
    out: Path | None = None
    settings: Path = Path("environments")
    usage: Path | None = None
    prices: Path | None = None


def measure_trail(
    target: Target, asked: Asked, write: Path | None, *, force: bool, today: date, sizes: SessionSizes
) -> tuple[Measurement, Comparison | None]:
    """Measure, and write the `[usage]` table where that was asked for. What cannot be is refused before AWS is asked.

    Raises:
        CostError: bad input, AWS does not answer, or nothing came in; then nothing is written.
    """
    _check(target, asked)
    if write is not None:
        check_place(write, force=force)
    place = _place(target)
    stated = _stated(target)
    prices = prices_with(target.prices)
    measurement = measure(place, asked, prices, today)
    measurement = with_stated_sessions(measurement, stated)
    comparison = compare(measurement, stated, prices, today, sizes)
    if write is not None:
        write_usage(write, measurement, sizes)
    return measurement, comparison


def _check(target: Target, asked: Asked) -> None:
    faults = []
    if (target.environment is None) == (target.group is None):
        faults.append("name one of --environment ENV and --log-group NAME")
    if not 1 <= asked.days <= MOST_DAYS:
        faults.append(f"--days {asked.days} is not allowed; allowed: 1 to {MOST_DAYS}, for which CloudWatch keeps sums")
    if asked.sessions is not None and asked.count_sessions:
        faults.append("name one of --sessions N and --count-sessions")
    if asked.sessions is not None and not asked.sessions:
        faults.append("--sessions 0: bytes are divided by sessions; allowed: at least 1")
    faults += [
        f"--namespace {shown(each)} is no namespace of CloudWatch"
        for each in asked.namespaces
        if not _is_namespace(each)
    ]
    if faults:
        raise UsageError(*faults)


def _is_namespace(name: str) -> bool:
    return _NAMESPACE.fullmatch(name) is not None


def _place(target: Target) -> Place:
    if target.environment is not None:
        return place_of_environment(target.environment, target.region)
    return place_of_group(target.group or "", target.region, target.capture)


def _stated(target: Target) -> Scenario | None:
    if target.out is None:
        return None
    source = SynthesisSource(target.out, target.settings, target.environment, target.usage)
    scenarios = synthesised_scenarios(source, Overrides(region=None))
    if len(scenarios) > 1:
        names = ", ".join(str(each.deployment.environment) for each in scenarios)
        message = f"{target.out} holds several environments ({names}): name one with --environment, not --log-group"
        raise UsageError(message)
    return scenarios[0]
