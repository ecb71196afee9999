"""Make chains of events with outlets that fail on demand, ids that count, and a clock that ticks once an event."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from agent_image.contract import EventName
from agent_image.digest import Digest
from agent_image.errors import AuditError
from agent_image.guard.audit import Chain, Sealed, Slim
from agent_image.guard.audit_lines import Line, line
from agent_image.guard.events import Event
from agent_image.guard.outlet import Folder, MemoryOutlet, Outlet
from agent_image.guard.session import Head

SESSION = "session-0123456789abcdef0123456789abcdef"
DIGEST = Digest(b"k" * 32)
START = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


class Ticking:
    """Tell a time that is a second later each time."""

    def __init__(self, start: datetime = START) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class FailingOutlet(MemoryOutlet):
    """Fail while told to, before or after the lines were taken."""

    def __init__(self, *, at_once: bool = True) -> None:
        super().__init__()
        self.at_once = at_once
        self.write_error: Exception | None = None
        self.sync_error: Exception | None = None
        self.writes: list[tuple[tuple[bytes, ...], Folder, str, int]] = []
        self.synced = 0

    def write(self, lines: Sequence[bytes], *, folder: Folder, run: str, seq: int) -> None:
        self.writes.append((tuple(lines), folder, run, seq))
        if self.write_error is not None:
            raise self.write_error
        super().write(lines, folder=folder, run=run, seq=seq)

    def sync(self) -> None:
        if self.sync_error is not None:
            raise self.sync_error
        self.synced = len(self.lines)


FULL = AuditError("audit_unwritable", "The audit's file cannot be written.")


def silent(event: Event, sealed: Sealed) -> None:
    """Write no slim line."""


def chain(
    outlet: Outlet,
    *,
    slim: Slim = silent,
    session_id: str = SESSION,
    run: str = "run-1",
    head: Head | None = None,
    clock: Callable[[], datetime] | None = None,
    redact: Callable[[Any], Any] = lambda value: value,
    ids: Callable[[], tuple[str, str]] = lambda: ("", ""),
) -> Chain:
    numbers = count(1)
    return Chain(
        outlet,
        slim,
        session_id=session_id,
        run=run,
        agent="support",
        head=head or Head(),
        clock=clock or Ticking(),
        new_id=lambda: f"{session_id[-4:]}-{run}-{next(numbers)}",
        redact=redact,
        digest=DIGEST,
        ids=ids,
    )


def event(name: EventName = EventName.TOOL_CALL, *, chain: str = "session", **common: Any) -> Event:
    """Make an event; `fields` holds what is particular to it."""
    values: dict[str, Any] = {
        "session_id": SESSION,
        "run": "run-1",
        "step": 3,
        "ts": START,
        "seq": 1,
        "event_id": "e-1",
        "agent": "support",
        **common,
    }
    return Event(name=name, chain=chain, **values)


def parsed(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """Read lines, amounts exactly."""
    return [json.loads(raw, parse_float=Decimal) for raw in lines]


def numbered(lines: Iterable[bytes]) -> list[Line]:
    """Read lines as a reader of a file gives them."""
    return [line("audit.jsonl", number, raw.rstrip(b"\n")) for number, raw in enumerate(lines, start=1)]


def only(records: Iterable[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    """Give the events of one name."""
    return [record for record in records if record["event"] == name]
