"""State what the cost model promises about speed, as ratios to one start of Python, and measure it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from benchmarks.cost.scenarios import scenarios
from benchmarks.process import ROOT
from benchmarks.ratio import Ratio
from benchmarks.synthesis import synthesise
from cost_model.estimate import estimate
from cost_model.prices import load_prices

_ROUNDS: Final = 9
_TODAY: Final = date(2026, 11, 30)


def cost_ratios() -> list[Ratio]:
    """Measure in turns, so that a slow minute of the machine hits all; the best of each is what it takes."""
    varied, prices = scenarios(), load_prices()
    print(f"the cost model: one estimate from the command line, {len(varied):,} in one process")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "cdktf.out"
        synthesise(out, eager=False)
        start, command, sweep = _best(
            lambda: _run(["-c", "pass"]),
            lambda: _run(["-m", "cost_model", "estimate", str(out)]),
            lambda: [estimate(scenario, prices, _TODAY) for scenario in varied],
        )
    return [
        Ratio("rastro cost estimate on the shipped stacks / one start of Python", command / start, 18,
              f"{command:.2f} s / {start:.3f} s"),
        Ratio(f"{len(varied):,} scenarios priced / one start of Python", sweep / start, 25,
              f"{sweep:.2f} s / {start:.3f} s"),
    ]  # fmt: skip


def _run(arguments: Sequence[str]) -> None:
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _best(*actions: Callable[[], object]) -> list[float]:
    seconds: list[list[float]] = [[] for _ in actions]
    for _ in range(_ROUNDS):
        for action, taken in zip(actions, seconds, strict=True):
            started = time.perf_counter()
            action()
            taken.append(time.perf_counter() - started)
    return [min(taken) for taken in seconds]
