"""Hold what the guard knows of a session: who works on it, what it spent, where its audit ends, what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from agent_image.guard.budget import Budget

CONVERSATION: Final = "conversation"
"""The part of a session that holds what was said and read."""
MESSAGES: Final = "messages"
"""Under it lie the messages, as one JSON text."""
ADDRESSES: Final = "addresses"
"""Under it lie the whole addresses of what the model was reading; number 1 stands first."""


@dataclass(frozen=True, slots=True)
class Head:
    """Hold where a chain of audit events ends: the last one's number and hash."""

    seq: int = 0
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Hold a session's control state; its conversation is a record of its own.

    Attributes:
        owner: the run that holds the lease; None where none does.
        fence: the lease's token; it grows with each owner.
        lease_until: when the lease ends unless it is renewed.
        renewed_at: when it was taken or renewed last.
        head: where the audit's chain ends, as far as it is durable.
        watch: what the anomaly detectors remember.
        pending: the checkpoints that the last message waits for.
        sent_back: how many answers to the last question were sent back to the model.
    """

    id: str
    owner: str | None = None
    fence: int = 0
    lease_until: datetime | None = None
    renewed_at: datetime | None = None
    budget: Budget = field(default_factory=Budget)
    head: Head = field(default_factory=Head)
    watch: Mapping[str, Any] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    sent_back: int = 0

    def leased(self, now: datetime) -> bool:
        """Tell whether somebody works on the session. A clock that went backwards frees nothing."""
        if self.owner is None or self.lease_until is None or self.renewed_at is None:
            return False
        return now < self.lease_until or now < self.renewed_at

    def taken(self, owner: str, now: datetime, lease: timedelta) -> Session:
        """Give the session to a new owner, whose token outdoes all before; what a lost one reserved counts as spent."""
        return replace(
            self,
            owner=owner,
            fence=self.fence + 1,
            lease_until=now + lease,
            renewed_at=now,
            budget=self.budget.recovered(),
        )

    def renewed(self, now: datetime, lease: timedelta) -> Session:
        """Keep the lease."""
        return replace(self, lease_until=now + lease, renewed_at=now)

    def released(self) -> Session:
        """End the lease."""
        return replace(self, owner=None, lease_until=None, renewed_at=None)
