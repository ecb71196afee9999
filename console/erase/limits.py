"""Say what an erasing does not reach, and what can be done about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from agent_image.guard.audit import TEXT_LIMIT
from console.erase.erasing import Fate, Plan
from console.erase.readers import Readers

STATE_DAYS: Final = 120
"""Days that a long part of a session stays in the archive bucket, whether or not anything leads to it."""
BACKUP_DAYS: Final = 35
"""Days that the table's point-in-time recovery goes back."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Hold what is known of the place of the trail.

    Attributes:
        name: the log group, or the file of the spans.
        content: the regime holds texts now.
        retention: how long the group keeps its lines; None where that is nobody's matter or nobody knows.
        elsewhere: where spans go, if not there.
    """

    name: str
    content: bool = False
    retention: timedelta | None = None
    elsewhere: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """Say one thing that is not reached: a code, and a sentence that says what to do."""

    code: str
    text: str


def limits(plan: Plan, readers: Readers, trail: Trail, *, in_aws: bool) -> tuple[Limit, ...]:
    """List what stays."""
    return (
        Limit(
            "index",
            "the index and the source are not touched: the passage can be retrieved again, and its words then stand in "
            "that session; take it out of the source and ingest again",
        ),
        Limit(
            "neighbours",
            "passages that overlap with it have fingerprints of their own and keep what they share; so do answers that "
            "tell it in other words or in part",
        ),
        *_sessions(plan),
        Limit(
            "audit",
            f"the audit keeps up to {TEXT_LIMIT} characters, redacted, of what a tool answered; its lines are never "
            "changed",
        ),
        *_spans(readers, trail),
        *(_aws() if in_aws else _laptop()),
        Limit("copies", "exports and copies that somebody made, such as pages of rastro trace, are not known here"),
    )


def _sessions(plan: Plan) -> Iterator[Limit]:
    if left := sum(one.left for one in plan.sessions):
        yield Limit(
            "arguments",
            f"{left:,} of a call's arguments, or of a model's signed reasoning, hold the words and stay: approvals are "
            "bound to arguments; they expire with their session, 30 days after its last turn, and with their "
            "checkpoint, 90 days after it was closed",
        )
    if lost := sum(one.fate is Fate.NOT_LOCATED for one in plan.sessions):
        yield Limit(
            "not_located",
            f"{lost:,} of the sessions were reading the passage, and no copy could be found in what they keep: it may "
            "stand there in a form that was changed",
        )


def _spans(readers: Readers, trail: Trail) -> Iterator[Limit]:
    if readers.words or trail.content:
        where = f"spans and event lines in {trail.name} hold words in regime content, and are never changed"
        if trail.retention is None:
            until = "nothing there expires by itself"
        elif readers.words_at is None:
            until = f"they expire {trail.retention.days} days after they were written"
        else:
            until = f"the last that was found expires on {readers.words_at + trail.retention:%Y-%m-%d}"
        yield Limit("trail", f"{where}; {until}")
    if trail.elsewhere:
        yield Limit("destination", f"spans go to {trail.elsewhere}: what lies there was not looked at")


def _aws() -> Iterator[Limit]:
    yield Limit(
        "state",
        "earlier forms of a conversation that was too long for the table lie under state/ in the archive bucket, "
        f"where nothing leads to them; they expire after {STATE_DAYS} days",
    )
    yield Limit(
        "backups",
        f"backups of the table go back {BACKUP_DAYS} days; copies of the archive bucket, and its versions if somebody "
        "turned them on, keep what they hold",
    )


def _laptop() -> Iterator[Limit]:
    yield Limit(
        "disk",
        "the store's file keeps what was written over in it until the room is used again; delete the state folder to "
        "be rid of it",
    )
