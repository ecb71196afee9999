"""How people decide: shares of what was closed, time to answer, and what still waits."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from agent_image.contract import EventName
from agent_image.guard.approval_metrics import Waiting, approvals
from agent_image.guard.figures import Spread
from tests.agent_image.guard.chains import START
from tests.agent_image.guard.test_metrics import told


def asked(checkpoint: str, at: int = 0) -> dict[str, Any]:
    return told(EventName.GATE, at=at, checkpoint_id=checkpoint, decision="asked", tool="refund_order", zone="red")


def said(checkpoint: str, choice: str, at: int = 0, **fields: Any) -> dict[str, Any]:
    values = {"checkpoint_id": checkpoint, "decision": choice, "approver": "ana", **fields}
    return told(EventName.DECISION, at=at, **values)


def carried(checkpoint: str, ruling: str, name: EventName = EventName.GATE) -> dict[str, Any]:
    return told(name, checkpoint_id=checkpoint, decision=ruling, tool="refund_order")


def test_rates_are_shares_of_what_was_closed() -> None:
    """An approval that changed the call is an edit; what expired was not rejected."""
    choices = {"a": "approve", "b": "approve", "c": "edit", "d": "reject", "e": "cancel"}
    events = [asked(one) for one in "abcdefg"]
    events += [said(one, choice) for one, choice in choices.items()]
    events += [carried("f", "expired")]

    found = approvals(events)

    assert (found.opened, found.closed) == (7, 6)
    assert found.approval_rate == Decimal(2) / 6
    assert found.edit_rate == found.rejection_rate == found.cancel_rate == found.expiry_rate == Decimal(1) / 6
    assert [one.checkpoint_id for one in found.waiting] == ["g"]


def test_the_agent_s_own_events_say_what_became_of_it() -> None:
    """Where the decisions' own lines are not at hand: no time is made up."""
    events = [asked("a"), carried("a", "approved", EventName.TOOL_CALL), asked("b"), carried("b", "rejected")]
    found = approvals(events)

    assert (found.approval_rate, found.rejection_rate) == (Decimal("0.5"), Decimal("0.5"))
    assert found.decided_after_ms == Spread()


def test_time_to_answer_is_from_the_question_to_the_decision() -> None:
    """As the decision says, or from the two moments; being asked again starts no new clock."""
    events = [
        asked("a"),
        asked("a", at=50),
        said("a", "approve", at=60),
        asked("b"),
        said("b", "edit", waited_ms=20_000),
    ]

    assert approvals(events).decided_after_ms == Spread(2, Decimal(40_000), 20_000, 60_000, 60_000, 60_000)


def test_who_comes_too_late_decides_nothing() -> None:
    """Two people say what they decide, one of them hears that the other was first."""
    events = [
        asked("a"),
        said("a", "approve", at=10, approver="bo"),
        said("a", "reject", at=11, approver="ana"),
        said("a", "approve", at=12, approver="bo", code="conflict"),
        asked("b"),
        said("b", "approve", at=90, code="expired"),
        carried("b", "expired"),
    ]
    found = approvals(events)

    assert (found.rejection_rate, found.approval_rate, found.expiry_rate) == (Decimal("0.5"), Decimal(), Decimal("0.5"))
    assert (found.too_late, found.decided_after_ms.count) == (2, 1)


def test_who_decided_may_try_again_in_vain() -> None:
    """The first decision stands, in whichever order the lines are read."""
    events = [
        said("a", "reject", at=30, approver="ana", code="conflict"),
        said("a", "reject", at=29, approver="ana"),
        said("a", "approve", at=10, approver="ana"),
        asked("a"),
    ]
    assert approvals(events).approval_rate == 1

    known = [asked("a"), said("a", "edit", code="won"), said("a", "reject", at=5, code="conflict")]
    assert approvals(known).edit_rate == 1


def test_what_waits_has_an_age() -> None:
    """The oldest first, at the moment that is asked about, or at the last event's."""
    events = [asked("a", at=0), asked("b", at=100), asked("c", at=400), said("b", "approve", at=400)]

    assert approvals(events).waiting == (Waiting("a", "refund_order", 400), Waiting("c", "refund_order", 0))
    later = approvals(events, START + timedelta(hours=1))
    assert [one.age_seconds for one in later.waiting] == [3600, 3200]
    assert (later.waiting_seconds.largest, later.waiting_seconds.p50) == (3600, 3200)


def test_doubt_is_counted_and_closes_nothing() -> None:
    """Somebody has to find out."""
    found = approvals([asked("a"), said("a", "approve"), carried("a", "in_doubt"), carried("a", "in_doubt")])

    assert (found.in_doubt, found.closed) == (1, 1)


def test_a_moment_that_cannot_be_read_is_none() -> None:
    """Neither a naive one."""
    naive = {**asked("a"), "ts": "2024-06-10T14:30:00"}
    broken = {**asked("b"), "ts": "yesterday"}
    found = approvals([naive, broken, said("a", "approve"), said("b", "approve")])

    assert (found.closed, found.decided_after_ms) == (2, Spread())
