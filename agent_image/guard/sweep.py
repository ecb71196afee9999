"""Close what nobody answered in time, and own up to actions whose owner is gone: on the way, and all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from agent_image.contract import EventName, Field, Ruling
from agent_image.errors import AgentError, StoreError
from agent_image.guard import sayings
from agent_image.guard.alerts import CHECKPOINT_ID, Alert
from agent_image.guard.audit import AuditText, lone_event
from agent_image.guard.checkpoint import Case, Checkpoint, Progress, Resolution, State
from agent_image.guard.claims import REMIND
from agent_image.guard.events import Event
from agent_image.guard.findings import Severity
from agent_image.guard.guard import Guard
from agent_image.guard.records import StoreUnavailable
from agent_image.notice import notice

SWEEP_CHAIN: Final = "sweep/"
"""What the chain of one sweep's event begins with; the checkpoint's id follows."""
SWEEPS: Final = "sweeps"
"""The folder of what sweeps found."""
ROUNDS: Final = 1_000
"""How often a whole sweep asks the store for more, at most."""
RETRY: Final = timedelta(minutes=5)
"""How long after a checkpoint could not be looked at a sweep tries again."""
COUNTED: Final = 200
"""Checkpoints that a sweep counts at most when it says how many wait; those that end first are among them."""
_CLOSING: Final = {
    State.EXPIRED: (Progress.EXPIRED, Ruling.EXPIRED),
    State.REJECTED: (Progress.REJECTED, Ruling.REJECTED),
    State.CANCELLED: (Progress.CANCELLED, Ruling.CANCELLED),
}


def past_half_life(checkpoint: Checkpoint, now: datetime) -> bool:
    """Tell whether half of the time in which a checkpoint can be answered is over."""
    return now - checkpoint.created_at >= (checkpoint.expires_at - checkpoint.created_at) / 2


class Sweeper:
    """Sweep the store of one process's guard."""

    def __init__(self, guard: Guard, deliver: Callable[[], object]) -> None:
        """Take the guard, and what sends the alerts that wait."""
        self._guard = guard
        self._deliver = deliver

    def on_the_way(self) -> None:
        """Sweep a bounded number; a store that does not answer says so where it matters."""
        with suppress(AgentError):
            self._swept(self._guard.settings.sweep_limit)

    def afterwards(self) -> None:
        """Send what waits; an answer does not wait for it."""
        self._deliver()

    def all(self) -> Mapping[str, int]:
        """Sweep until nothing is left that is due.

        Raises:
            AgentError: the store does not answer.
        """
        counts: Counter[str] = Counter()
        for _ in range(ROUNDS):
            looked_at = self._swept(self._guard.settings.sweep_limit)
            counts.update(what for what in looked_at if what is not None)
            # What was only put off is on the list no more, and others may stand behind it.
            if not looked_at:
                break
        self._deliver()
        self._tell(counts)
        return dict(counts)

    def _tell(self, counts: Mapping[str, int]) -> None:
        """Say that a whole sweep came to its end, and what waits for people: an alarm reads both."""
        now = self._guard.clock()
        waiting = [case for case in self._guard.store.waiting(COUNTED) if case.state(now) is State.PENDING]
        past_half = sum(past_half_life(case.checkpoint, now) for case in waiting)
        notice("swept", waiting=len(waiting), past_half=past_half, **counts)

    def _swept(self, limit: int) -> list[str | None]:
        return [self._looked(case) for case in self._guard.store.waiting(limit, before=self._guard.clock())]

    def _looked(self, case: Case) -> str | None:
        """Look at one checkpoint; what cannot be looked at waits, and nothing else does."""
        try:
            return self._look(case)
        except StoreUnavailable:
            raise
        except StoreError as error:
            self._put_off(case.checkpoint, error)
            return None

    def _look(self, case: Case) -> str | None:
        """Do what one checkpoint needs; tell what that was."""
        now, checkpoint = self._guard.clock(), case.checkpoint
        state = case.state(now)
        if checkpoint.progress is Progress.IN_DOUBT and case.resolution is not None:
            return self._resolved(checkpoint, case.resolution, now)
        if state in _CLOSING:
            progress, ruling = _CLOSING[state]
            if not self._guard.store.advance(checkpoint, checkpoint.advanced(progress, now)):
                return None
            self._say(checkpoint, ruling, now)
            return ruling.value
        if state is State.EXECUTING:
            return self._doubted(checkpoint, now)
        if state is State.APPROVED and case.decision is not None:
            # It may still be carried out: look again when it may not.
            self._later(checkpoint, case.execute_by(case.decision))
        elif state is State.IN_DOUBT:
            self._later(checkpoint, now + REMIND)
            self._alert(checkpoint, "in_doubt", Severity.CRITICAL, now)
        return None

    def _resolved(self, checkpoint: Checkpoint, resolution: Resolution, now: datetime) -> str | None:
        """Keep what a person found out: whoever resumes later is told the same."""
        progress = Progress.DONE if resolution.took_effect else Progress.FAILED
        after = checkpoint.advanced(progress, now, result=sayings.resolved(resolution))
        return progress.value if self._guard.store.advance(checkpoint, after) else None

    def _doubted(self, checkpoint: Checkpoint, now: datetime) -> str | None:
        session = self._guard.store.session(checkpoint.session_id).session
        if session.leased(now) and session.fence == checkpoint.fence:
            self._later(checkpoint, session.lease_until or now)
            return None
        if not self._fenced(checkpoint):
            return None
        after = replace(checkpoint.advanced(Progress.IN_DOUBT, now), due_at=now + REMIND)
        if not self._guard.store.advance(checkpoint, after):
            return None
        self._say(after, Ruling.IN_DOUBT, now)
        self._alert(after, "in_doubt", Severity.CRITICAL, now)
        return Ruling.IN_DOUBT.value

    def _fenced(self, checkpoint: Checkpoint) -> bool:
        """Tell a tool to refuse its lost caller; tell whether it heard."""
        fence_off = self._guard.fences.get(checkpoint.tool)
        if fence_off is None:
            return True
        try:
            # The next owner's token is higher than the lost one's; so is this.
            fence_off(checkpoint.session_id, checkpoint.fence + 1)
        except Exception as error:  # noqa: BLE001 - whatever a tool raises
            self._put_off(checkpoint, error)
            return False
        return True

    def _put_off(self, checkpoint: Checkpoint, error: Exception) -> None:
        fault = error.code if isinstance(error, AgentError) else type(error).__name__
        notice("sweep_failed", fault=fault, checkpoint=checkpoint.id)
        now = self._guard.clock()
        self._later(checkpoint, now + RETRY)
        self._alert(checkpoint, "sweep_failed", Severity.WARNING, now)

    def _later(self, checkpoint: Checkpoint, due: datetime) -> None:
        self._guard.store.advance(checkpoint, replace(checkpoint, due_at=due))

    def _say(self, checkpoint: Checkpoint, ruling: Ruling, now: datetime) -> None:
        """Write one event that is a chain of its own: the session's belongs to whoever works on it."""
        guard = self._guard
        event = Event(
            name=EventName.GATE,
            session_id=checkpoint.session_id,
            chain=f"{SWEEP_CHAIN}{checkpoint.id}",
            run=checkpoint.run,
            step=0,
            ts=now,
            seq=1,
            event_id=guard.new_id(),
            agent=guard.agent,
            fields={
                Field.CHECKPOINT_ID: checkpoint.id,
                Field.TOOL: checkpoint.tool,
                Field.ZONE: checkpoint.zone.value,
                Field.DECISION: ruling.value,
            },
        )
        sealed = lone_event(event, AuditText(guard.redact, guard.digest))
        guard.slim(event, sealed)
        try:
            guard.outlet.write([sealed.line], folder=(SWEEPS, checkpoint.id), run=event.event_id, seq=1)
        except AgentError as error:
            # The checkpoint's record says it already.
            notice("sweep_unrecorded", fault=error.code, checkpoint=checkpoint.id)
        if ruling is Ruling.EXPIRED:
            self._alert(checkpoint, "expired", Severity.WARNING, now)

    def _alert(self, checkpoint: Checkpoint, kind: str, severity: Severity, now: datetime) -> None:
        self._guard.outbox.put(
            Alert(
                id=self._guard.new_id(),
                kind=kind,
                severity=severity,
                session_id=checkpoint.session_id,
                run=checkpoint.run,
                step=0,
                evidence={CHECKPOINT_ID: checkpoint.id, "tool": checkpoint.tool},
                at=now,
            )
        )
