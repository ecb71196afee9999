"""The state machine of a suspended action: what was asked, what a person decided, what became of it.

    PENDING --approve, edit--> APPROVED --claim--> EXECUTING --> DONE | FAILED | IN_DOUBT
    PENDING --reject--> REJECTED    PENDING --cancel--> CANCELLED    PENDING --time--> EXPIRED
    APPROVED --time--> EXPIRED      IN_DOUBT --a named person--> DONE | FAILED      all others are final

A checkpoint is written by the agent, a decision and a resolution by people, each an item of its own. What a checkpoint
is worth follows from the three and the time: nothing writes "expired" in the place of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from agent_image.contract import Choice, Level, Zone
from agent_image.guard.canonical import NotCanonical, canonical, digest

SKEW: Final = timedelta(minutes=5)
"""How far an approver's clock may be behind the agent's."""


class Action(StrEnum):
    """Name what waits: one call of a tool, or the session's going on beyond its budget."""

    TOOL = "tool"
    BUDGET = "budget"


class Progress(StrEnum):
    """Name how far the agent got with a checkpoint; only this is stored."""

    OPEN = "open"
    EXECUTING = "executing"
    DONE = "done"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class State(StrEnum):
    """Name what a checkpoint is worth at a moment."""

    PENDING = "pending"
    APPROVED = "approved"
    EXECUTING = "executing"
    DONE = "done"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


WAITING: Final = frozenset({State.PENDING, State.APPROVED, State.EXECUTING, State.IN_DOUBT})
"""States that something is still to follow."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """Bind one call: the session, the model's message that asked for it, the tool and its canonical arguments."""

    session_id: str
    message: str
    tool_use_id: str
    tool: str
    arguments: Mapping[str, Any]

    @cached_property
    def id(self) -> str:
        """Give the id that this call has, and no other: the checkpoint's, and the tool's idempotency key."""
        parts = (self.session_id, self.message, self.tool_use_id, self.tool, canonical(dict(self.arguments)))
        return digest(*parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Hold a suspended action, as an approver reads it.

    Attributes:
        arguments: what the model asked for; of a budget, what was spent and what an approval adds.
        schema: the tool's JSON schema, which an edit must fit.
        reasons: codes, all that hold.
        requester: who asked the agent, where that is known.
        due_at: when a sweep should look at it next.
        execute_minutes: how long an approval may wait to be carried out.
        traceparent: the paused trace, which a resume links to.
        owner: the run that claimed it; `fence` is its token.
        result: what the tool answered, replayed ever after.
        executed: the arguments that ran, where a person changed them.
    """

    id: str
    action: Action
    session_id: str
    run: str
    agent: str
    message: str
    tool_use_id: str
    tool: str
    arguments: Mapping[str, Any]
    schema: Mapping[str, Any] = field(default_factory=dict)
    zone: Zone
    level: Level
    reasons: tuple[str, ...]
    policy: str
    cost_usd: str
    requester: str | None = None
    created_at: datetime
    expires_at: datetime
    due_at: datetime
    execute_minutes: int
    traceparent: str | None = None
    progress: Progress = Progress.OPEN
    owner: str | None = None
    fence: int = 0
    result: Mapping[str, Any] | None = None
    executed: Mapping[str, Any] | None = None
    closed_at: datetime | None = None

    @property
    def closed(self) -> bool:
        """Tell whether nothing is to follow."""
        return self.progress not in {Progress.OPEN, Progress.EXECUTING, Progress.IN_DOUBT}

    @property
    def genuine(self) -> bool:
        """Tell whether its arguments are still those that its id was made from."""
        if self.action is Action.BUDGET:
            return True
        call = Call(
            session_id=self.session_id,
            message=self.message,
            tool_use_id=self.tool_use_id,
            tool=self.tool,
            arguments=self.arguments,
        )
        try:
            return call.id == self.id
        except NotCanonical:
            return False

    def advanced(self, progress: Progress, now: datetime, **changes: Any) -> Checkpoint:
        """Give the checkpoint one step on."""
        moved = replace(self, progress=progress, **changes)
        return replace(moved, closed_at=now) if moved.closed else moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Hold what a person decided, written once.

    Attributes:
        approver: who: an AWS identity's ARN, or the operating system's user.
        reason: what the model is told; an edit's guidance, a rejection's cause.
        arguments: the arguments in the place of the model's; only with an edit.
        event: the hash of the audit event that says the same.
    """

    checkpoint_id: str
    choice: Choice
    approver: str
    at: datetime
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    event: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Hold what a named person found out about an action in doubt, written once: it took effect (DONE), or not."""

    checkpoint_id: str
    took_effect: bool
    approver: str
    at: datetime
    reason: str
    event: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """Hold a checkpoint with all that people said of it."""

    checkpoint: Checkpoint
    decision: Decision | None = None
    resolution: Resolution | None = None

    def state(self, now: datetime) -> State:
        """Tell what the checkpoint is worth at a moment."""
        checkpoint = self.checkpoint
        if checkpoint.progress is Progress.IN_DOUBT and self.resolution is not None:
            return State.DONE if self.resolution.took_effect else State.FAILED
        if checkpoint.progress is not Progress.OPEN:
            return State(checkpoint.progress)
        if self.decision is None:
            return State.PENDING if now < checkpoint.expires_at else State.EXPIRED
        return self._decided(self.decision, now)

    def _decided(self, decision: Decision, now: datetime) -> State:
        checkpoint = self.checkpoint
        # An answer from before the question, or from after its time, is no answer.
        if not checkpoint.created_at - SKEW <= decision.at < checkpoint.expires_at:
            return State.EXPIRED
        match decision.choice:
            case Choice.REJECT:
                return State.REJECTED
            case Choice.CANCEL:
                return State.CANCELLED
            case Choice.APPROVE | Choice.EDIT:
                return State.APPROVED if now < self.execute_by(decision) else State.EXPIRED

    def execute_by(self, decision: Decision) -> datetime:
        """Tell until when an approval may be carried out."""
        return decision.at + timedelta(minutes=self.checkpoint.execute_minutes)

    @property
    def effective(self) -> Mapping[str, Any]:
        """Give the arguments that a person approved."""
        if self.decision is not None and self.decision.arguments is not None:
            return self.decision.arguments
        return self.checkpoint.arguments
