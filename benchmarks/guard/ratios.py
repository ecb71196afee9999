"""State what the guard promises, and measure it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.guard.ground import calls_in
from benchmarks.process import ROOT
from benchmarks.ratio import Ratio

_ROUND = 60
_ROUNDS = 9
_COMMIT_BYTES = 1_000


def guard_ratios() -> list[Ratio]:
    """Measure, and give the ratios."""
    print("a green call through the whole guard, beside a bare commit of SQLite")
    with tempfile.TemporaryDirectory(prefix="rastro-bench-") as folder, _quiet():
        commit, call, decisions = _calls(Path(folder))
    print(f"  {decisions:,.0f} decisions of the gate a second, {_events(call):,.0f} events a second")
    print("memory over 100,000 steps")
    early, late = _memory()
    return [
        Ratio(
            "a green call through the guard / one bare SQLite commit",
            call / commit,
            5.0,
            f"{call * 1e3:.2f} ms / {commit * 1e3:.2f} ms; {1 / call:,.0f} gate decisions and "
            f"{_events(call):,.0f} events a second",
        ),
        Ratio("memory after 100,000 steps / after 10,000", late / early, 1.1, f"{late:.0f} MiB / {early:.0f} MiB"),
    ]


def _events(call: float) -> float:
    return 2 / call


def _calls(folder: Path) -> tuple[float, float, float]:
    """Give the seconds of a commit and of a call: the best round of each, in turns, for discs have moods."""
    database = sqlite3.connect(folder / "bare.db", isolation_level=None)
    with closing(database), calls_in(folder) as calls:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        database.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT)")
        text = "x" * _COMMIT_BYTES

        def commit() -> None:
            database.execute("INSERT INTO bare (text) VALUES (?)", (text,))

        rounds = [(_seconds(commit), _seconds(calls.one)) for _ in range(_ROUNDS + 1)][1:]
    bare, guarded = min(one for one, _ in rounds), min(other for _, other in rounds)
    return bare, guarded, 1 / guarded


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    for _ in range(_ROUND):
        run()
    return (time.perf_counter() - started) / _ROUND


def _memory() -> tuple[float, float]:
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.guard.steps"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    early, late = answer.stderr.split()[-2:]
    return float(early), float(late)


@contextmanager
def _quiet() -> Iterator[None]:
    """Send the slim lines nowhere: they go straight to the file descriptor."""
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    sys.stdout.flush()
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
