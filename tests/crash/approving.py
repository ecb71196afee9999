"""Decide about many checkpoints, one after the other, as a process of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from uuid import uuid4

from agent_image.digest import Digest
from agent_image.guard.audit import AuditText
from agent_image.guard.audit_file import FileOutlet
from agent_image.guard.moments import Clock
from agent_image.guard.outlet import Outlet
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import Records
from agent_image.stores.by_url import records_at
from console.approvals.deciding import Desk, decide
from console.approvals.trail import Trail
from console.approvals.wish import Wish
from console.errors import ConsoleError
from tests.crash.child import clock_ahead
from tests.loopback.table import REGION


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """Tell an approver what to decide.

    Attributes:
        gate: where both approvers meet before each checkpoint.
    """

    url: str
    audit: Path
    approver: str
    ahead: timedelta
    wishes: Sequence[tuple[str, Wish]]
    gate: Any


def main(orders: Orders, pipe: Connection) -> None:
    """Decide; say of each wish whether it was granted."""
    records = records_at(orders.url, REGION)
    desk = desk_over(records, FileOutlet(orders.audit, time.sleep), orders.approver, clock_ahead(orders.ahead))
    granted = []
    for checkpoint, wish in orders.wishes:
        orders.gate.wait()
        granted.append(decided(desk, checkpoint, wish))
    records.close()
    pipe.send(granted)


def desk_over(records: Records, outlet: Outlet, approver: str, clock: Clock) -> Desk:
    """Sit somebody down at a desk of the console."""

    def new_id() -> str:
        return uuid4().hex

    text = AuditText(lambda value: value, Digest(b"k" * 32))
    return Desk(PeopleStore(records), Trail(outlet, text, new_id), approver, clock, new_id)


def decided(desk: Desk, checkpoint: str, wish: Wish) -> bool:
    """Decide; tell whether the wish was granted."""
    try:
        decide(desk, checkpoint, wish)
    except ConsoleError:
        return False
    return True
