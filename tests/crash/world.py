"""Hold one empty store with its ledger and audit, and start processes that work on them."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil

from agent_image.guard.checkpoint import Case
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import Records
from agent_image.tools.ledger import Entry, Ledger
from tests.conformance.place import Place
from tests.crash.child import LEASE_SECONDS, Do, Order, clock_ahead, main
from tests.crash.strikes import Attempts, Strike

PATIENCE_SECONDS = 60.0
"""How long a process may take before the test gives it up."""
# Each child is forked from one process that has imported everything, and started nothing.
_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload(["tests.crash.child", "tests.crash.warm"])
# Rounds are played by several threads. Starting a process collects the exit codes of all that ended, and an exit code
# can be read once: who comes second reads the end of a pipe, which multiprocessing calls 255.
_COLLECTING = threading.Lock()


class Killed(Exception):  # noqa: N818 - it is what was asked for
    """Say that a process was killed before it answered."""


@dataclass
class Running:
    """Hold a process that was started."""

    process: ForkServerProcess
    pipe: Connection

    def answer(self) -> Any:
        """Wait for its answer.

        Raises:
            Killed: it was killed.
        """
        try:
            heard = self._heard()
            document = self._heard() if heard == "ready" else heard
        except EOFError:
            ended = self._ended(PATIENCE_SECONDS)
            assert ended == -signal.SIGKILL, f"the process ended with {ended}"
            raise Killed from None
        self._ended(PATIENCE_SECONDS)
        return document

    def ready(self) -> None:
        assert self._heard() == "ready"

    def stopped(self) -> None:
        """Wait until it stands still."""
        running = psutil.Process(self.process.pid)
        while running.status() != psutil.STATUS_STOPPED:
            assert self._ended(0.01) is None, "the process ended where it should have stopped"

    def go_on(self) -> None:
        assert self.process.pid is not None
        psutil.Process(self.process.pid).send_signal(signal.SIGCONT)

    def _ended(self, within: float) -> int | None:
        """Give its exit code; None where it still runs after so many seconds."""
        wait([self.process.sentinel], within)
        with _COLLECTING:
            return self.process.exitcode

    def _heard(self) -> Any:
        assert self.pipe.poll(PATIENCE_SECONDS), "the process says nothing"
        return self.pipe.recv()


@dataclass
class World:
    """Hold what processes share.

    Attributes:
        ahead: how far people's and the next process's clock is ahead of the machine's.
    """

    place: Place
    folder: Path
    ahead: timedelta = timedelta()
    session: str = field(default_factory=lambda: f"session-{uuid4().hex}")

    def start(self, do: Do, text: str = "", **facts: Any) -> Running:
        """Start a process."""
        assert self.place.url is not None
        order = Order(
            do=do,
            folder=self.folder,
            url=self.place.url,
            large=self.place.large,
            variables=dict(self.place.variables),
            ahead=self.ahead,
            session=self.session,
            text=text,
            **facts,
        )
        return forked(main, order)

    def run(self, do: Do, text: str = "", *, strike: Strike | None = None, **facts: Any) -> dict[str, Any]:
        """Start a process, and wait for its answer.

        Raises:
            Killed: it was struck.
        """
        answer: dict[str, Any] = self.start(do, text, strike=strike, **facts).answer()
        return answer

    def turn(self, **by: float) -> None:
        """Turn the clock on."""
        self.ahead += timedelta(**by)

    def outlive_the_lease(self) -> None:
        self.turn(seconds=LEASE_SECONDS + 1)

    @contextmanager
    def opened(self) -> Iterator[Records]:
        with self.place.opened() as records:
            yield records

    def cases(self) -> list[Case]:
        """List what waits in this session, as people see it."""
        with self.opened() as records:
            found = PeopleStore(records).waiting(1_000)
        return [case for case in found if case.checkpoint.session_id == self.session]

    def case(self, checkpoint_id: str) -> Case:
        with self.opened() as records:
            found = PeopleStore(records).case(checkpoint_id)
        assert found is not None
        return found

    @property
    def now(self) -> Any:
        return clock_ahead(self.ahead)()

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.folder / "ledger.jsonl")

    def refunds(self) -> list[Entry]:
        return [
            entry
            for entry in self.ledger.effects()
            if entry["session_id"] == self.session and entry["kind"] == "refund"
        ]

    def attempts(self) -> list[dict[str, str]]:
        return Attempts(self.folder / "attempts.jsonl").all()


def forked(run: Callable[[Any, Connection], None], order: Any) -> Running:
    """Start a process that follows an order."""
    here, there = _FORKING.Pipe(duplex=False)
    process = _FORKING.Process(target=run, args=(order, there), daemon=True)
    with _COLLECTING:
        process.start()
    there.close()
    return Running(process, here)


def barrier(parties: int) -> Any:
    """Make a barrier that processes can wait at."""
    return _FORKING.Barrier(parties)
