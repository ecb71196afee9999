"""End, or stop, the process itself right before or right after the n-th write of a named kind."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from agent_image.contract import EventName, Item
from agent_image.errors import NoEffect
from agent_image.guard.checkpoint import Progress
from agent_image.guard.outlet import Folder, Outlet
from agent_image.guard.records import NEW, Document, Record, Records
from agent_image.tools.ledger import Entry, Ledger
from agent_image.tools.refund_order import REFUND_ORDER


class Boundary(StrEnum):
    """Name what a process can be ended at."""

    WRITE = "any write"
    TAKEN = "session taken"
    KEPT = "session kept"
    AWAITED = "session awaits"
    RELEASED = "session released"
    CALLS = "conversation, calls"
    RESULTS = "conversation, results"
    ANSWER = "conversation, answer"
    STARTED = "batch, call begun"
    ENDED = "batch, result"
    PENDING = "checkpoint pending"
    CLAIM = "claim"
    RECORD = "record"
    DOUBT = "in doubt"
    CLOSED = "checkpoint closed"
    DECISION = "decision"
    RESOLUTION = "resolution"
    ALERT = "alert"
    INTENT = "audit, intent"
    END = "audit, run's end"
    READ = "green call"
    TICKET = "yellow effect"
    EFFECT = "effect"
    FENCE = "fence"
    CHECK = "check of a result"


class Side(StrEnum):
    """Name the sides of a boundary."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Strike:
    """Hold where a process is struck.

    Attributes:
        nth: counts the boundary's writes in one process, from 1.
        stop: only stop it (SIGSTOP), so that it can go on later.
    """

    at: Boundary
    side: Side
    nth: int = 1
    stop: bool = False


class Striker:
    """Count boundaries, and strike."""

    def __init__(self, strike: Strike | None) -> None:
        self._strike = strike
        self._left = 0 if strike is None else strike.nth
        self.passed: list[Boundary] = []

    @contextmanager
    def around(self, *boundaries: Boundary) -> Iterator[None]:
        """Do what stands inside, unless this is where the process ends."""
        strike = self._strike
        hit = False
        if strike is not None and strike.at in boundaries:
            self._left -= 1
            hit = self._left == 0
        if hit and strike is not None and strike.side is Side.BEFORE:
            self._end(stop=strike.stop)
        yield
        self.passed += boundaries
        if hit and strike is not None and strike.side is Side.AFTER:
            self._end(stop=strike.stop)

    @staticmethod
    def _end(*, stop: bool) -> None:
        # To this very thread: were the process asked, this one might run on while another one stops.
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP if stop else signal.SIGKILL)


class FatalRecords:
    """Records whose writes are boundaries."""

    def __init__(self, records: Records, striker: Striker) -> None:
        self._records = records
        self._striker = striker
        self._pending: dict[str, int] = {}
        self._fences: dict[str, int] = {}

    def get(self, key: str) -> Record | None:
        found = self._records.get(key)
        if found is not None:
            self._remember(key, found.document)
        return found

    def put(
        self,
        key: str,
        document: Document,
        *,
        expected: int,
        due: datetime | None = None,
        forget_at: datetime | None = None,
    ) -> None:
        with self._striker.around(Boundary.WRITE, *self._boundaries(key, document, expected)):
            self._records.put(key, document, expected=expected, due=due, forget_at=forget_at)
        self._remember(key, document)

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        return self._records.due(item, before=before, limit=limit)

    def close(self) -> None:
        self._records.close()

    def _remember(self, key: str, document: Document) -> None:
        if key.startswith(Item.SESSION) and "pending" in document:
            self._pending[key] = len(document["pending"])
            self._fences[key] = document["fence"]

    def _boundaries(self, key: str, document: Document, expected: int) -> tuple[Boundary, ...]:
        if key.startswith(Item.CHECKPOINT):
            return _of_checkpoint(document, expected)
        if key.startswith(Item.DECISION):
            return (Boundary.RESOLUTION if key.endswith("#resolution") else Boundary.DECISION,)
        if key.startswith(Item.OUTBOX):
            return (Boundary.ALERT,)
        if key.endswith("#conversation"):
            return (_of_conversation(document),)
        if key.endswith("#batch"):
            begun, ended = len(document["started"]), len(document["results"])
            return (Boundary.STARTED if begun > ended else Boundary.ENDED,)
        return self._of_session(key, document)

    def _of_session(self, key: str, document: Document) -> tuple[Boundary, ...]:
        if document["owner"] is None:
            return (Boundary.KEPT, Boundary.RELEASED)
        if document["fence"] > self._fences.get(key, 0):
            return (Boundary.KEPT, Boundary.TAKEN)
        if len(document["pending"]) > self._pending.get(key, 0):
            return (Boundary.KEPT, Boundary.AWAITED)
        return (Boundary.KEPT,)


def _of_checkpoint(document: Mapping[str, Any], expected: int) -> tuple[Boundary, ...]:
    if expected == NEW:
        return (Boundary.PENDING,)
    match Progress(document["progress"]):
        case Progress.EXECUTING:
            return (Boundary.CLAIM,)
        case Progress.DONE | Progress.FAILED:
            return (Boundary.RECORD,)
        case Progress.IN_DOUBT:
            return (Boundary.DOUBT,)
        case Progress.OPEN:
            return ()
        case _:
            return (Boundary.CLOSED,)


def _of_conversation(document: Mapping[str, Any]) -> Boundary:
    last = json.loads(document["messages"])[-1]
    kinds = {kind for block in last["content"] for kind in block}
    if "toolUse" in kinds:
        return Boundary.CALLS
    return Boundary.RESULTS if "toolResult" in kinds else Boundary.ANSWER


class FatalOutlet:
    """An audit whose intents and ends are boundaries."""

    at_once = True

    def __init__(self, outlet: Outlet, striker: Striker) -> None:
        self._outlet = outlet
        self._striker = striker

    def write(self, lines: Sequence[bytes], *, folder: Folder, run: str, seq: int) -> None:
        with self._striker.around(*(one for line in lines for one in _of_line(json.loads(line)))):
            self._outlet.write(lines, folder=folder, run=run, seq=seq)

    def sync(self) -> None:
        self._outlet.sync()


def _of_line(event: Mapping[str, Any]) -> tuple[Boundary, ...]:
    if event["event"] == EventName.TOOL_CALL and event["tool"] == REFUND_ORDER:
        return (Boundary.INTENT,)
    return (Boundary.END,) if event["event"] == EventName.RUN_ENDED else ()


class Attempts:
    """A file of every run of a tool, whatever its ledger made of it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, tool: str, key: str, outcome: str) -> None:
        line = json.dumps({"tool": tool, "key": key, "outcome": outcome}) + "\n"
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    def all(self) -> list[dict[str, str]]:
        if not self._path.exists():
            return []
        return [json.loads(line) for line in self._path.read_text().splitlines()]


class FatalLedger(Ledger):
    """A ledger whose effects are boundaries, and that knows how often it was asked for one."""

    def __init__(self, path: Path, attempts: Attempts, striker: Striker) -> None:
        super().__init__(path)
        self._attempts = attempts
        self._striker = striker

    def book(self, kind: str, key: str, fence: int, session_id: str, **facts: str) -> Entry:
        with self._striker.around(Boundary.EFFECT if kind == "refund" else Boundary.TICKET):
            try:
                entry = super().book(kind, key, fence, session_id, **facts)
            except NoEffect as refused:
                self._attempts.note(kind, key, refused.code)
                raise
            self._attempts.note(kind, key, "booked")
        return entry

    def fence(self, session_id: str, token: int) -> None:
        with self._striker.around(Boundary.FENCE):
            super().fence(session_id, token)
