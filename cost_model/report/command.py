"""Read what a report is about, work it out, and write the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from agent_image.contract import Regime
from cost_model.diff import Difference
from cost_model.errors import DocumentError, UsageError
from cost_model.prices import PriceBook
from cost_model.report.chapters import report
from cost_model.report.findings import find
from cost_model.report.page import page
from cost_model.scenario import Scenario
from cost_model.session_sizes import SessionSizes
from cost_model.sides import Sides, compare
from cost_model.sources import Overrides, SynthesisSource, regimes_scenario, synthesised_scenarios
from cost_model.whole_file import write_whole


@dataclass(frozen=True, slots=True)
class Asked:
    """Hold what a report is asked for.

    Attributes:
        out: synthesised stacks; None where `usage` says what is deployed.
        base: synthesised stacks to compare with; None compares with nothing.
        regime: the one looked at closely where `usage` says what is deployed.
    """

    html: Path
    out: Path | None
    environment: str | None
    usage: Path | None
    settings: Path
    base: Path | None = None
    regime: Regime = Regime.ARCHIVE


def write_report(asked: Asked, overrides: Overrides, prices: PriceBook, today: date, sizes: SessionSizes) -> None:
    """Write the page; CostError shows every fault of the input, and nothing is written."""
    scenarios = _scenarios(asked, overrides)
    difference = _difference(asked, overrides, prices, today, sizes)
    text = page(report(find(scenarios, prices, today, sizes, difference)))
    try:
        write_whole(asked.html, text)
    except OSError as error:
        message = f"{asked.html}: cannot be written: {error.strerror or error}"
        raise DocumentError(message) from None


def _scenarios(asked: Asked, overrides: Overrides) -> tuple[Scenario, ...]:
    if asked.out is not None:
        source = SynthesisSource(asked.out, asked.settings, asked.environment, asked.usage)
        return synthesised_scenarios(source, overrides)
    faults = [
        f"{name}: nothing was synthesised for it; name the folder, such as cdktf.out"
        for name, stated in (("--environment", asked.environment), ("--diff", asked.base))
        if stated is not None
    ]
    if asked.usage is None:
        faults.append("report: name a folder of synthesised stacks, such as cdktf.out, or a file with --usage")
    if faults or asked.usage is None:
        raise UsageError(*faults)
    scenario = regimes_scenario(asked.usage, overrides)
    return (replace(scenario, deployment=replace(scenario.deployment, regime=asked.regime)),)


def _difference(
    asked: Asked, overrides: Overrides, prices: PriceBook, today: date, sizes: SessionSizes
) -> Difference | None:
    if asked.base is None:
        return None
    sides = Sides(
        base=asked.base,
        head=asked.out,
        environment=asked.environment,
        usage=asked.usage,
        head_settings=asked.settings,
        region=overrides.region,
    )
    return compare(sides, prices, today, sizes)
