"""Take 100,000 steps of one session, and say on standard error what memory the process had early and late, in MiB."""

from __future__ import annotations

import gc
import sys

import psutil

from benchmarks.guard.ground import calls_in_memory

EARLY = 10_000
LATE = 100_000


def main() -> None:
    """Run."""
    process = psutil.Process()
    early = 0.0
    with calls_in_memory() as calls:
        for step in range(1, LATE + 1):
            calls.one()
            calls.work.spoken("", 0)
            calls.work.look()
            if step == EARLY:
                early = _mib(process)
    print(f"{early:.1f} {_mib(process):.1f}", file=sys.stderr)


def _mib(process: psutil.Process) -> float:
    gc.collect()
    resident: float = process.memory_info().rss / 2**20
    return resident


if __name__ == "__main__":
    main()
