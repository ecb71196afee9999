"""Start writers as processes of their own, give them orders, and hear them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.conformance.place import Place
from tests.conftest import ROOT
from tests.loopback.table import REGION


@dataclass(frozen=True)
class Worker:
    """Hold a process that writes to a store."""

    process: subprocess.Popen[str]

    def order(self, **order: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(order)}\n")
        self.process.stdin.flush()

    def heard(self) -> str:
        """Wait for a line; empty where the process has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def kill(self) -> list[str]:
        """End it without a word; gives the lines that nobody had heard yet."""
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        return self.process.stdout.read().split()


@contextmanager
def workers(place: Place, number: int) -> Iterator[list[Worker]]:
    """Start processes that wait for orders; they end with the block."""
    assert place.url is not None
    command = [sys.executable, "-m", "tests.conformance.worker", place.url, REGION, place.large or ""]
    started = [
        Worker(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **place.variables},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        for _ in range(number)
    ]
    try:
        yield started
    finally:
        for worker in started:
            worker.process.kill()
        for worker in started:
            with worker.process:
                worker.process.wait()
