"""What the agent may do with the store: write its sessions and checkpoints. It reads decisions; it writes none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.checkpoint import Case, Checkpoint, Decision, Resolution
from agent_image.guard.codec import decode, encode
from agent_image.guard.records import NEW, Conflict, Record, Records, StoreUnavailable
from agent_image.guard.session import Session
from agent_image.notice import notice

_SAFE: Final = "!$&'()*+,-./:;<=>?@[]^_`{|}~"
CLOSED_KEPT: Final = timedelta(days=90)
"""How long a closed checkpoint stays in the store; the audit keeps what it says for longer."""
SESSION_KEPT: Final = timedelta(days=30)
"""How long a session that nobody goes on with stays in the store at most: to the beginning of the last day."""
_TRIES: Final = 8
"""How often a checkpoint is written anew that only its next look was changed of."""


def decision_key(checkpoint_id: str) -> str:
    """Name the record of a decision."""
    return f"{Item.DECISION}{checkpoint_id}"


def resolution_key(checkpoint_id: str) -> str:
    """Name the record of a resolution."""
    return f"{Item.DECISION}{checkpoint_id}#resolution"


def session_key(session_id: str) -> str:
    """Name the record of a session. A caller chooses the id: none may name a part of another session."""
    return f"{Item.SESSION}{quote(session_id, safe=_SAFE)}"


def checkpoint_key(checkpoint_id: str) -> str:
    """Name the record of a checkpoint."""
    return f"{Item.CHECKPOINT}{checkpoint_id}"


@dataclass(frozen=True, slots=True)
class Versioned:
    """Hold a session, and the version of its record that was read."""

    session: Session
    version: int


@dataclass(frozen=True, slots=True)
class Listed:
    """Hold what something is still to follow on, those that end first first, and the ids of what cannot be read."""

    cases: tuple[Case, ...]
    unreadable: tuple[str, ...] = ()


class Cases:
    """Read what waits for people, and what they said of it."""

    def __init__(self, records: Records) -> None:
        """Take the records."""
        self._records = records

    def case(self, checkpoint_id: str) -> Case | None:
        """Read a checkpoint with all that people said of it."""
        found = self._records.get(checkpoint_key(checkpoint_id))
        return None if found is None else self._case(found)

    def waiting(self, limit: int, before: datetime | None = None) -> Sequence[Case]:
        """List checkpoints that are not closed, those that end first first; one that cannot be read hides no other."""
        found = self.listed(limit, before)
        for checkpoint_id in found.unreadable:
            notice("checkpoint_unreadable", key=checkpoint_key(checkpoint_id))
        return list(found.cases)

    def listed(self, limit: int, before: datetime | None = None) -> Listed:
        """List them, and say which cannot be read."""
        cases, unreadable = [], []
        for record in self._records.due(Item.CHECKPOINT, before=before, limit=limit):
            try:
                cases.append(self._case(record))
            except StoreUnavailable:
                raise
            except StoreError:
                unreadable.append(record.key.removeprefix(Item.CHECKPOINT))
        return Listed(tuple(cases), tuple(unreadable))

    def _case(self, record: Record) -> Case:
        checkpoint = decode(Checkpoint, record.document)
        decision = self._records.get(decision_key(checkpoint.id))
        resolution = self._records.get(resolution_key(checkpoint.id))
        return Case(
            checkpoint,
            None if decision is None else decode(Decision, decision.document),
            None if resolution is None else decode(Resolution, resolution.document),
        )


class GuardStore(Cases):
    """Keep the agent's side of the guard."""

    def session(self, session_id: str) -> Versioned:
        """Read a session; one that nobody knows is new."""
        found = self._records.get(session_key(session_id))
        if found is None:
            return Versioned(Session(id=session_id), NEW)
        return Versioned(decode(Session, found.document), found.version)

    def put_session(self, session: Session, expected: int, now: datetime) -> Versioned:
        """Write a session over the version that was read.

        Raises:
            Conflict: another came first.
        """
        key = session_key(session.id)
        self._records.put(key, encode(session), expected=expected, forget_at=_forgotten(now))
        return Versioned(session, expected + 1)

    def part(self, session_id: str, name: str) -> tuple[Mapping[str, Any], int]:
        """Read a part of a session, such as its conversation, with its version; an unknown one is empty."""
        found = self._records.get(f"{session_key(session_id)}#{name}")
        return ({}, NEW) if found is None else (found.document, found.version)

    def put_part(self, session_id: str, name: str, document: Mapping[str, Any], expected: int, now: datetime) -> int:
        """Write a part over the version that was read; give the new one.

        Raises:
            Conflict: another came first.
        """
        key = f"{session_key(session_id)}#{name}"
        self._records.put(key, document, expected=expected, forget_at=_forgotten(now))
        return expected + 1

    def open(self, checkpoint: Checkpoint) -> Case:
        """Write a checkpoint, once: where it is there, give what is there."""
        try:
            self._put(checkpoint, NEW)
        except Conflict:
            found = self.case(checkpoint.id)
            if found is None:
                raise
            return found
        return Case(checkpoint)

    def advance(self, before: Checkpoint, after: Checkpoint) -> bool:
        """Move a checkpoint on from what was read; tell whether it still was that.

        When a sweep is to look next is no part of it: one that passes by a run takes nothing from it.
        """
        for _ in range(_TRIES):
            found = self._records.get(checkpoint_key(before.id))
            if found is None or replace(decode(Checkpoint, found.document), due_at=before.due_at) != before:
                return False
            try:
                self._put(after, found.version)
            except Conflict:
                continue
            return True
        return False

    def _put(self, checkpoint: Checkpoint, expected: int) -> None:
        self._records.put(
            checkpoint_key(checkpoint.id),
            encode(checkpoint),
            expected=expected,
            due=None if checkpoint.closed else checkpoint.due_at,
            forget_at=None if checkpoint.closed_at is None else checkpoint.closed_at + CLOSED_KEPT,
        )


def _forgotten(now: datetime) -> datetime:
    """Tell when a session may be forgotten: the same all day, so that a write changes no index."""
    return (now + SESSION_KEPT).replace(hour=0, minute=0, second=0, microsecond=0)
