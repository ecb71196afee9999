"""Checkpoints that wait, and desks to decide at: a clock that a test turns, records and audit in memory."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from agent_image.contract import Choice, Level, Zone
from agent_image.digest import Digest
from agent_image.guard.audit import AuditText
from agent_image.guard.checkpoint import Action, Call, Checkpoint
from agent_image.guard.outlet import MemoryOutlet, Outlet
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import Records
from agent_image.guard.store import GuardStore
from agent_image.stores.memory import MemoryRecords
from console.approvals.deciding import Desk
from console.approvals.trail import Trail
from console.approvals.wish import Wish

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
SESSION = "session-" + "0" * 32
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "amount": {"type": "number", "maximum": 1000}},
    "required": ["order_id", "amount"],
    "additionalProperties": False,
}
ARGUMENTS: Mapping[str, Any] = {"order_id": "5501", "amount": 150}
APPROVE = Wish(choice=Choice.APPROVE)
REJECT = Wish(choice=Choice.REJECT, reason="no")
CANCEL = Wish(choice=Choice.CANCEL)


def edited(**arguments: Any) -> Wish:
    """Wish for other arguments."""
    return Wish(choice=Choice.EDIT, arguments={**ARGUMENTS, **arguments})


def checkpoint(number: int = 1, arguments: Mapping[str, Any] = ARGUMENTS, **changes: Any) -> Checkpoint:
    """Suspend a call: each number another one, asked at noon, open for four hours."""
    call = Call(
        session_id=SESSION, message=f"m-{number}", tool_use_id="call-1", tool="refund_order", arguments=arguments
    )
    asked = Checkpoint(
        id=call.id,
        action=Action.TOOL,
        session_id=SESSION,
        run="run-1",
        agent="rastro",
        message=call.message,
        tool_use_id=call.tool_use_id,
        tool=call.tool,
        arguments=arguments,
        schema=SCHEMA,
        zone=Zone.RED,
        level=Level.STEER,
        reasons=("zone_red",),
        policy="p" * 64,
        cost_usd="0.000123456",
        created_at=NOON,
        expires_at=NOON + timedelta(hours=4),
        due_at=NOON + timedelta(hours=4),
        execute_minutes=60,
    )
    return replace(asked, **changes)


class Clock:
    """A clock that a test turns; it may jump when it was read often enough."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now
        self.later: list[datetime] = []

    def __call__(self) -> datetime:
        now = self.now
        if self.later:
            self.now = self.later.pop(0)
        return now


@dataclass
class Office:
    """Hold a store with checkpoints, an audit, and the people who come by."""

    records: Records = field(default_factory=MemoryRecords)
    outlet: Outlet = field(default_factory=MemoryOutlet)
    clock: Clock = field(default_factory=Clock)
    ids: itertools.count[int] = field(default_factory=itertools.count)

    def open(self, *checkpoints: Checkpoint) -> None:
        """Let the agent ask."""
        store = GuardStore(self.records)
        for one in checkpoints:
            store.open(one)

    def move(self, before: Checkpoint, after: Checkpoint) -> None:
        """Let the agent go on with a checkpoint."""
        assert GuardStore(self.records).advance(before, after)

    def desk(self, approver: str = "ana", people: PeopleStore | None = None) -> Desk:
        """Sit somebody down."""

        def new_id() -> str:
            return f"id-{next(self.ids)}"

        text = AuditText(lambda value: value, Digest(b"k" * 32))
        return Desk(people or PeopleStore(self.records), Trail(self.outlet, text, new_id), approver, self.clock, new_id)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Give what the audit says."""
        assert isinstance(self.outlet, MemoryOutlet)
        return [json.loads(line) for line in self.outlet.lines]

    def told(self) -> list[tuple[str, ...]]:
        """Give the gist of it: event, decision, code, who."""
        return [(one["event"], one["decision"], one["code"], one["approver"]) for one in self.events]
