"""Keep alerts until they are delivered: each once within a cool-down, at least once to every channel, never for ever.

A record stands for all equal alerts. Who delivers it puts off its next attempt first, by compare-and-set, so two
processes do not deliver one alert at the same moment, and one that dies in between leaves it to be tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from agent_image.contract import Item
from agent_image.errors import AgentError, StoreError
from agent_image.guard.alerts import REPEATS, Alert, Channel
from agent_image.guard.codec import decode, encode
from agent_image.guard.findings import Severity
from agent_image.guard.moments import Clock
from agent_image.guard.records import NEW, Conflict, Record, Records
from agent_image.notice import notice

ATTEMPTS: Final = 12
"""How often an alert is tried before it is given up."""
FIRST_PAUSE: Final = timedelta(seconds=30)
"""How long after the first attempt the second comes; each that follows waits twice as long."""
LONGEST_PAUSE: Final = timedelta(hours=1)
KEPT: Final = timedelta(days=7)
"""How long a record stays when nothing is to follow, the cool-down included."""
_TRIES: Final = 3


class Stage(StrEnum):
    """Name how far an alert has come."""

    WAITING = "waiting"
    SENT = "sent"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Hold the last of all equal alerts.

    Attributes:
        put_at: when it was put; the cool-down counts from there.
        repeats: equal alerts that were held back since.
        delivered: the channels that took it.
    """

    alert: Alert
    put_at: datetime
    stage: Stage = Stage.WAITING
    attempts: int = 0
    repeats: int = 0
    delivered: tuple[str, ...] = ()

    def holds_back(self, now: datetime, cooldown: timedelta) -> bool:
        """Tell whether an equal alert says nothing new; a clock that went far back cools nothing down."""
        return self.stage is Stage.WAITING or abs(now - self.put_at) < cooldown


@dataclass(frozen=True, slots=True)
class Delivery:
    """Count what became of the alerts that were due."""

    sent: int = 0
    failed: int = 0
    dead: int = 0

    def __add__(self, other: Delivery) -> Delivery:
        """Add another count."""
        return Delivery(self.sent + other.sent, self.failed + other.failed, self.dead + other.dead)


class Outbox:
    """Hold the alerts of an environment in its store."""

    def __init__(self, records: Records, clock: Clock, cooldown: timedelta) -> None:
        """Take the records, the clock, and for how long an equal alert says nothing new."""
        self._records = records
        self._clock = clock
        self._cooldown = cooldown

    def put(self, alert: Alert) -> bool:
        """Keep an alert for delivery; False where people are not told: it is only INFO, or equals one of late.

        Never raises where a store fails: an alert that cannot be kept is lost, and a notice says so.
        """
        if alert.severity is Severity.INFO:
            return False
        try:
            return self._put(alert)
        except StoreError as error:
            notice("alert_lost", kind=alert.kind, severity=alert.severity.value, reason=error.code)
            return True

    def deliver(self, channels: Sequence[Channel], limit: int) -> Delivery:
        """Deliver what is due, as much as the limit says.

        Raises:
            StoreError: the store does not answer.
        """
        count = Delivery()
        for record in self._records.due(Item.OUTBOX, before=self._clock(), limit=limit):
            count += self._deliver(record, channels)
        return count

    def _put(self, alert: Alert) -> bool:
        key, now = f"{Item.OUTBOX}{alert.key}", self._clock()
        for _ in range(_TRIES):
            found = self._records.get(key)
            before = None if found is None else _entry(found)
            if found is not None and before is not None and before.holds_back(now, self._cooldown):
                entry, due, told = replace(before, repeats=before.repeats + 1), found.due, False
            else:
                repeats = {REPEATS: before.repeats} if before is not None and before.repeats else {}
                entry = Entry(alert=replace(alert, evidence={**alert.evidence, **repeats}), put_at=now)
                due, told = now, True
            try:
                self._write(key, entry, NEW if found is None else found.version, due)
            except Conflict:
                continue
            return told
        return False  # others put equal alerts all the while: people are told

    def _deliver(self, record: Record, channels: Sequence[Channel]) -> Delivery:
        entry = _entry(record)
        if entry is None:
            notice("alert_unreadable", key=record.key)
            self._quietly(lambda: self._records.put(record.key, record.document, expected=record.version))
            return Delivery(dead=1)
        claimed = replace(entry, attempts=entry.attempts + 1)
        try:
            self._write(record.key, claimed, record.version, self._clock() + _pause(claimed.attempts))
        except Conflict:
            return Delivery()  # another process delivers it
        delivered, reason = _sent(claimed, channels)
        if reason is None:
            self._settle(record.key, delivered, Stage.SENT)
            return Delivery(sent=1)
        stage = Stage.DEAD if claimed.attempts >= ATTEMPTS else Stage.WAITING
        self._settle(record.key, delivered, stage)
        if stage is Stage.WAITING:
            return Delivery(failed=1)
        alert = claimed.alert
        notice("alert_dead", kind=alert.kind, session=alert.session_id, attempts=claimed.attempts, reason=reason)
        return Delivery(dead=1)

    def _settle(self, key: str, delivered: tuple[str, ...], stage: Stage) -> None:
        """Say what became of an attempt; equal alerts may have been counted meanwhile."""
        for _ in range(_TRIES):
            found = self._records.get(key)
            entry = None if found is None else _entry(found)
            if found is None or entry is None:
                return
            if stage is Stage.WAITING and delivered == entry.delivered:
                return
            due = found.due if stage is Stage.WAITING else None
            try:
                self._write(key, replace(entry, delivered=delivered, stage=stage), found.version, due)
            except Conflict:
                continue
            return

    def _write(self, key: str, entry: Entry, expected: int, due: datetime | None) -> None:
        forget_at = self._clock() + max(KEPT, self._cooldown) if due is None else None
        self._records.put(key, encode(entry), expected=expected, due=due, forget_at=forget_at)

    @staticmethod
    def _quietly(write: Callable[[], None]) -> None:
        try:
            write()
        except Conflict:
            return


def _entry(record: Record) -> Entry | None:
    try:
        return decode(Entry, record.document)
    except StoreError:
        return None


def _sent(entry: Entry, channels: Sequence[Channel]) -> tuple[tuple[str, ...], str | None]:
    """Try the channels that have not taken an alert; give those that have, and why the last one failed that did."""
    delivered, reason = list(entry.delivered), None
    for channel in channels:
        if channel.name in delivered:
            continue
        try:
            channel.send(entry.alert)
        except Exception as error:  # noqa: BLE001 - whatever a channel raises, the alert is tried again
            reason = error.code if isinstance(error, AgentError) else type(error).__name__
        else:
            delivered.append(channel.name)
    return tuple(delivered), reason


def _pause(attempts: int) -> timedelta:
    return min(FIRST_PAUSE * (1 << (attempts - 1)), LONGEST_PAUSE)
