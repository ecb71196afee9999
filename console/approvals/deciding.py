"""Decide about a checkpoint: once, in time, in the audit before in the store, and honest about what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from agent_image.contract import Choice, EventName
from agent_image.errors import AuditError, StoreError
from agent_image.guard.approval_metrics import TOO_LATE
from agent_image.guard.checkpoint import Case, Decision, Resolution, State
from agent_image.guard.moments import Clock
from agent_image.guard.people import PeopleStore
from agent_image.guard.records import Conflict, StoreUnavailable
from console.approvals.finding import find
from console.approvals.rules import CONFLICT, EXPIRED, INVALID_EDIT, Refusal, past, refused, unresolvable
from console.approvals.trail import Attempt, Trail
from console.approvals.wish import Wish
from console.errors import BadInputError, ConsoleError

RESOLVE: Final = "resolve"
"""The kind of an event that says what became of an action in doubt."""
_RELEASED: Final = frozenset({State.APPROVED, State.EXECUTING, State.DONE, State.FAILED, State.IN_DOUBT})
_FOLLOWS: Final[Mapping[Choice, frozenset[State]]] = MappingProxyType(
    {
        Choice.APPROVE: _RELEASED,
        Choice.EDIT: _RELEASED,
        Choice.REJECT: frozenset({State.REJECTED}),
        Choice.CANCEL: frozenset({State.CANCELLED}),
    }
)
"""What a checkpoint may be worth right after a decision that counts."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Hold what a person decides with.

    Attributes:
        approver: who decides; nobody can say it but AWS, or the operating system.
        new_id: makes an id that nobody has.
    """

    people: PeopleStore
    trail: Trail
    approver: str
    clock: Clock
    new_id: Callable[[], str]


def decide(desk: Desk, named: str, wish: Wish) -> Case:
    """Decide about the checkpoint that is named; give what the store then says of it.

    Raises:
        BadInputError: nothing is named, or the tool does not take an edit's arguments.
        ConsoleError: nothing was decided, or nothing comes of it; the message says why.
        AgentError: the store or the audit cannot be read or written.
    """
    case = find(desk.people, named)
    attempt = _attempt(desk, case, wish)
    now = desk.clock()
    refusal = refused(case, wish, desk.approver, now)
    if refusal is not None:
        raise _refusal(desk, attempt, refusal, now)
    sealed = desk.trail.begin(attempt, now)
    decision = Decision(
        checkpoint_id=case.checkpoint.id,
        choice=wish.choice,
        approver=desk.approver,
        at=now,
        reason=wish.reason,
        arguments=wish.arguments,
        event=sealed.hash,
    )
    after = _written(desk, case, lambda: desk.people.decide(decision))
    later = desk.clock()
    if after.decision is None or after.decision.event != sealed.hash:
        raise _came_to_nothing(desk, attempt, past(after, later), later)
    if (state := after.state(later)) not in _FOLLOWS[wish.choice]:
        code = EXPIRED if state is State.EXPIRED else CONFLICT
        text = f"your decision came too late: the agent had closed {case.checkpoint.id} before, and it is {state}"
        raise _came_to_nothing(desk, attempt, Refusal(code, text), later)
    return after


def resolve(desk: Desk, named: str, *, took_effect: bool, reason: str) -> Case:
    """Say what became of an action in doubt; give what the store then says of it.

    Raises:
        BadInputError: nothing is named.
        ConsoleError: it is not in doubt, or another was faster.
        AgentError: the store or the audit cannot be read or written.
    """
    case = find(desk.people, named)
    attempt = Attempt(
        id=desk.new_id(),
        checkpoint=case.checkpoint,
        name=EventName.GATE,
        kind=RESOLVE,
        decision=(State.DONE if took_effect else State.FAILED).value,
        approver=desk.approver,
        reason=reason,
    )
    now = desk.clock()
    refusal = unresolvable(case, now)
    if refusal is not None:
        raise _refusal(desk, attempt, refusal, now)
    sealed = desk.trail.begin(attempt, now)
    resolution = Resolution(
        checkpoint_id=case.checkpoint.id,
        took_effect=took_effect,
        approver=desk.approver,
        at=now,
        reason=reason,
        event=sealed.hash,
    )
    after = _written(desk, case, lambda: desk.people.resolve(resolution))
    later = desk.clock()
    if after.resolution is None or after.resolution.event != sealed.hash:
        again = unresolvable(after, later) or Refusal(CONFLICT, f"{case.checkpoint.id} is still in doubt")
        raise _came_to_nothing(desk, attempt, again, later)
    return after


def _attempt(desk: Desk, case: Case, wish: Wish) -> Attempt:
    return Attempt(
        id=desk.new_id(),
        checkpoint=case.checkpoint,
        name=EventName.DECISION,
        kind=wish.choice.value,
        decision=wish.choice.value,
        approver=desk.approver,
        reason=wish.reason,
        arguments=wish.arguments,
    )


def _written(desk: Desk, case: Case, write: Callable[[], None]) -> Case:
    """Write once, and read what then is there: that alone tells who came first."""
    unknown = False
    try:
        write()
    except Conflict:
        pass
    except StoreUnavailable:
        unknown = True
    try:
        after = desk.people.case(case.checkpoint.id)
    except StoreError:
        message = (
            f"the store broke off: whether {case.checkpoint.id} is decided is not known; "
            f"look: rastro approvals show {case.checkpoint.id}"
        )
        raise ConsoleError(message) from None
    if after is None:
        message = f"the store lost {case.checkpoint.id} meanwhile"
        raise ConsoleError(message)
    if unknown and after.decision == case.decision and after.resolution == case.resolution:
        message = (
            f"the store did not take it, as far as can be seen; look again: rastro approvals show {case.checkpoint.id}"
        )
        raise ConsoleError(message)
    return after


def _refusal(desk: Desk, attempt: Attempt, refusal: Refusal, now: datetime) -> ConsoleError:
    """Turn an attempt away before anything is written; one that only came too late was an attempt all the same."""
    if refusal.code in TOO_LATE:
        with suppress(AuditError):
            desk.trail.begin(attempt, now)
    return _came_to_nothing(desk, attempt, refusal, desk.clock())


def _came_to_nothing(desk: Desk, attempt: Attempt, refusal: Refusal, now: datetime) -> ConsoleError:
    """Say why nothing came of an attempt, here and in the audit."""
    kind = BadInputError if refusal.code == INVALID_EDIT else ConsoleError
    try:
        desk.trail.refuse(attempt, refusal, now)
    except AuditError as error:
        return kind(f"{refusal.text}\n(the audit does not hold this attempt: {error.message})")
    return kind(refusal.text)
