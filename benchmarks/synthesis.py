"""Compare synthesis with the bindings' package skipped, as the kit does, and imported, as shipped."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.process import Measured, measure

_EAGER: Final = {"RASTRO_EAGER_BINDINGS": "1"}


def synthesise(out: Path, *, eager: bool) -> Measured:
    """Synthesise every stack once."""
    variables = {"CDKTF_OUTDIR": str(out), **(_EAGER if eager else {})}
    return measure([sys.executable, "main.py"], variables)


def compare(runs: int) -> tuple[list[Measured], list[Measured]]:
    """Take turns, so that a slow minute of the machine hits both; the first run of each warms its caches."""
    ours: list[Measured] = []
    shipped: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs + 1):
            for eager, into in ((False, ours), (True, shipped)):
                measured = synthesise(Path(folder) / f"{number}-{eager}", eager=eager)
                if number:
                    into.append(measured)
                way = "as shipped" if eager else "skipped"
                print(f"  {way:<10}  {measured.seconds:6.2f} s  {measured.peak_mib:6.0f} MiB")
    return ours, shipped
