"""Run a command and measure it: seconds, the memory of its whole process tree, and the programs it started."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

ROOT: Final = Path(__file__).parent.parent
_SAMPLING_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class Measured:
    """Hold what one run took; memory is the highest sum seen, in MiB, over the process and all its descendants."""

    seconds: float
    peak_mib: float
    programs: frozenset[str]


def measure(command: Sequence[str], variables: Mapping[str, str]) -> Measured:
    """Run a command from the project's folder.

    Raises:
        CalledProcessError: the command failed, so there is nothing to compare.
    """
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)
    watched = psutil.Process(process.pid)
    peak, programs = 0, set[str]()
    while process.poll() is None:
        used, names = _look(watched)
        peak = max(peak, used)
        programs |= names
        time.sleep(_SAMPLING_SECONDS)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Measured(seconds, peak / 2**20, frozenset(programs))


def _look(root: psutil.Process) -> tuple[int, set[str]]:
    used, names = 0, set[str]()
    try:
        for process in [root, *root.children(recursive=True)]:
            used += process.memory_info().rss
            names.add(process.name())
    except psutil.NoSuchProcess:
        # It ended between the list and the look.
        pass
    return used, names
