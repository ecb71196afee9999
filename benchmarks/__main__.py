"""Measure what the kit promises about speed, as ratios in one run, and write `benchmarks/results.json`.

Exit status 1: a ratio is over its bound. Nothing here runs in the test suite.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.agent.ratios import agent_ratios
from benchmarks.cost.ratios import cost_ratios
from benchmarks.guard.ratios import guard_ratios
from benchmarks.hooks.ratios import hook_ratios
from benchmarks.process import ROOT, Measured, measure
from benchmarks.ratio import Ratio
from benchmarks.synthesis import compare
from benchmarks.trace.ratios import trace_ratios

RESULTS = Path(__file__).with_name("results.json")
RUNS = 3


def main() -> int:
    """Measure, print and write."""
    print(f"synthesis of all stacks, {RUNS} runs each after one to warm up")
    ours, shipped = compare(RUNS)
    print("cost_model regimes")
    regimes = [_regimes() for _ in range(RUNS + 1)][1:]
    print("assertions on the shared syntheses")
    synthesis_seconds, assertion_seconds, tests = _assertions()

    synth = _median(run.seconds for run in ours)
    ratios = [
        Ratio("synthesis time, package skipped / as shipped", synth / _median(run.seconds for run in shipped), 0.30,
              f"{synth:.2f} s / {_median(run.seconds for run in shipped):.2f} s"),
        Ratio("synthesis memory, package skipped / as shipped", _memory(ours) / _memory(shipped), 0.65,
              f"{_memory(ours):.0f} MiB / {_memory(shipped):.0f} MiB"),
        Ratio("assertions / the syntheses they share", assertion_seconds / synthesis_seconds, 1.0,
              f"{assertion_seconds:.2f} s for {tests} tests / {synthesis_seconds:.2f} s"),
        Ratio("regimes / one synthesis", _median(run.seconds for run in regimes) / synth, 0.15,
              f"{_median(run.seconds for run in regimes):.2f} s / {synth:.2f} s"),
        Ratio("Node.js processes that regimes starts", sum("node" in run.programs for run in regimes), 0,
              f"programs: {', '.join(sorted(set().union(*(run.programs for run in regimes))))}"),
    ]  # fmt: skip
    ratios += cost_ratios() + agent_ratios() + guard_ratios() + hook_ratios() + trace_ratios()
    for ratio in ratios:
        print(f"{'ok  ' if ratio.holds else 'OVER'}  {ratio.ratio:6.3f} of at most {ratio.at_most:.3f}  "
              f"{ratio.name} ({ratio.measured})")  # fmt: skip
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    document = {
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": machine,
        "ratios": [asdict(r) for r in ratios],
    }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")
    return 0 if all(ratio.holds for ratio in ratios) else 1


def _regimes() -> Measured:
    command = ["-m", "cost_model", "regimes", "--usage", "cost_model/examples/article.toml", "--format", "json"]
    return measure([sys.executable, *command], {})


def _assertions() -> tuple[float, float, int]:
    # A process of its own: the framework's Node.js process must start with the synthesis, not before.
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.assertions"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    synthesis, tests, count = answer.stdout.splitlines()[-1].split()
    return float(synthesis), float(tests), int(count)


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


def _memory(runs: list[Measured]) -> float:
    return _median(run.peak_mib for run in runs)


if __name__ == "__main__":
    sys.exit(main())
