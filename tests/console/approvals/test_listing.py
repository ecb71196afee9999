"""What is open is listed, what ends first first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from agent_image.contract import Choice
from agent_image.guard.checkpoint import Case, Decision, Progress
from console.approvals.listing import ordered, summary, table
from tests.console.approvals.cases import NOON, checkpoint

NOW = NOON + timedelta(hours=2)
PENDING = Case(checkpoint(1))
LATER = Case(replace(checkpoint(2), expires_at=NOON + timedelta(hours=9), requester="bo"))
DOUBT = Case(replace(checkpoint(3), progress=Progress.IN_DOUBT))
OVER = Case(replace(checkpoint(4), expires_at=NOON + timedelta(hours=1)))
APPROVED = Case(
    checkpoint(5),
    Decision(
        checkpoint_id=checkpoint(5).id, choice=Choice.APPROVE, approver="ana", at=NOON + timedelta(hours=1, minutes=30)
    ),
)
CASES = [LATER, DOUBT, PENDING, OVER, APPROVED]


def test_what_ends_first_comes_first() -> None:
    """What only a person ends comes last."""
    assert ordered(CASES) == [OVER, APPROVED, PENDING, LATER, DOUBT]


def test_each_row_says_what_it_is_and_how_long_it_has() -> None:
    """A beginning of the id that names it, age, time left, reasons, cost, who asked."""
    found = table(CASES, NOW)

    assert [row[0] for row in found.rows] == [case.checkpoint.id[:12] for case in ordered(CASES)]
    assert [row[3:6] for row in found.rows] == [
        ("expired", "2 h", "over"),
        ("approved", "2 h", "30 min"),
        ("pending", "2 h", "2 h"),
        ("pending", "2 h", "7 h"),
        ("in_doubt", "2 h", ""),
    ]
    assert found.rows[3][1:3] == ("refund_order", "red")
    assert found.rows[3][6:] == ("zone_red", "0.000123456", "bo")


def test_the_states_are_counted() -> None:
    """In one line; what is not shown is not kept back."""
    assert [*summary(CASES, NOW)] == ["2 pending, 1 approved, 1 in_doubt, 1 expired"]
    assert [line.endswith("; there are more, --limit shows them") for line in summary(CASES, NOW, more=True)] == [True]
    assert [*summary([], NOW)] == ["nothing waits for a person"]


def test_what_cannot_be_read_is_not_nothing() -> None:
    """It may wait for a person; its name, which anybody may have written, begins no line of its own."""
    alone, beside = summary([], NOW, unreadable=["c1"]), summary(CASES, NOW, unreadable=["c1", "c\n2"])

    assert [*alone] == ["1 checkpoint cannot be read, and may wait for a person: c1"]
    assert [*beside][1] == "2 checkpoints cannot be read, and may wait for a person: c1 c\\n2"
