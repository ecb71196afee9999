"""Write into the audit what people try to decide: each attempt before it is made, and what it came to where it failed.

An attempt has the code `attempt`, and the record of a decision that counts holds the hash of its attempt. One that came
too late is followed by a second event of the same run, with the code `conflict` or `expired`. What the rules forbid is
nobody's answer: it leaves one event of the gate, `blocked`, with the rule's code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from agent_image.contract import EventName, Field, Ruling
from agent_image.guard.approval_metrics import TOO_LATE
from agent_image.guard.audit import AuditText, Sealed, decision_chain, write_alone
from agent_image.guard.checkpoint import Checkpoint
from agent_image.guard.events import Event
from agent_image.guard.outlet import Outlet
from console.approvals.rules import Refusal

ATTEMPT: Final = "attempt"
"""The code of what is about to be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Hold what somebody tries, as its events say it.

    Attributes:
        id: the attempt's own id, which its events have for a run.
        name: the event: an answer is a decision, what became of an action in doubt is the gate's.
        kind: what is tried: the choice, or `resolve`.
        decision: the choice again, or how the action ended.
        arguments: an edit's.
    """

    id: str
    checkpoint: Checkpoint
    name: EventName
    kind: str
    decision: str
    approver: str
    reason: str = ""
    arguments: Any = None


class Trail:
    """Write the events of one person's command."""

    def __init__(self, outlet: Outlet, text: AuditText, new_id: Callable[[], str]) -> None:
        """Take where the audit lies, how its texts are written, and what makes ids."""
        self._outlet = outlet
        self._text = text
        self._new_id = new_id

    def begin(self, attempt: Attempt, now: datetime) -> Sealed:
        """Say that something is about to be written, durably.

        Raises:
            AuditError: it cannot be said, so it must not be done.
        """
        return self._write(attempt, attempt.name, attempt.decision, ATTEMPT, now)

    def refuse(self, attempt: Attempt, refusal: Refusal, now: datetime) -> None:
        """Say that nothing came of it.

        Raises:
            AuditError: it cannot be said.
        """
        if refusal.code in TOO_LATE:
            self._write(attempt, attempt.name, attempt.decision, refusal.code, now)
        else:
            self._write(attempt, EventName.GATE, Ruling.BLOCKED.value, refusal.code, now)

    def _write(self, attempt: Attempt, name: EventName, decision: str, code: str, now: datetime) -> Sealed:
        checkpoint = attempt.checkpoint
        fields = {
            Field.KIND: attempt.kind,
            Field.TOOL: checkpoint.tool,
            Field.ZONE: checkpoint.zone.value,
            Field.DECISION: decision,
            Field.CHECKPOINT_ID: checkpoint.id,
            Field.APPROVER: attempt.approver,
            Field.ARGS: attempt.arguments,
            Field.REASON: attempt.reason or None,
            Field.CODE: code,
            Field.WAITED_MS: max(0, round((now - checkpoint.created_at).total_seconds() * 1000)),
        }
        event = Event(
            name=name,
            session_id=checkpoint.session_id,
            chain=decision_chain(checkpoint.id),
            run=attempt.id,
            step=0,
            ts=now,
            seq=1,
            event_id=self._new_id(),
            agent=checkpoint.agent,
            fields={field: value for field, value in fields.items() if value is not None},
        )
        return write_alone(self._outlet, event, self._text)
