"""A card shows one call as its approver has to see it, and nothing in it speaks for anybody else."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agent_image.contract import Choice, Level
from agent_image.guard.checkpoint import Action, Case, Checkpoint, Decision, Progress, Resolution
from console.approvals.cards import asked, card, ends_at, reason
from console.card import plain
from tests.console.approvals.cases import ARGUMENTS, NOON, checkpoint

OPEN = checkpoint()
EVIL = "\x1b[2J\x1b]0;owned\x07\u202e\nzone        green\r\x9b31m"
STEERING = {"\x1b", "\x07", "\u202e", "\r", "\x9b"}


def decision(choice: Choice = Choice.APPROVE, **changes: Any) -> Decision:
    return Decision(
        **{"checkpoint_id": OPEN.id, "choice": choice, "approver": "ana", "at": NOON + timedelta(minutes=1), **changes}
    )


def shown(found: Checkpoint = OPEN, given: Decision | None = None, option: str = "", minutes: int = 2) -> str:
    return plain(card(Case(found, given), NOON + timedelta(minutes=minutes), option))


def test_everything_that_an_approver_needs_is_there() -> None:
    """The call, who judged it so and why, what it came from, until when, and how to answer."""
    text = shown(replace(OPEN, requester="bo", reasons=("zone_red", "red_when:amount", "my_hook")), option=" --state x")

    assert text.splitlines() == [
        "refund_order: pending, 3 h 58 min left",
        "",
        f"checkpoint  {OPEN.id}",
        "tool        refund_order",
        "arguments   {",
        '              "order_id": "5501",',
        '              "amount": 150',
        "            }",
        "zone        red",
        "level       3 (may be approved, edited or rejected)",
        "reasons     zone_red (the tool is red)",
        "            red_when:amount (the argument amount makes the call red)",
        "            my_hook",
        "cost        0.000123456 USD spent by the session when it asked",
        "requester   bo",
        f"session     {OPEN.session_id}",
        "run         run-1",
        f"policy      {OPEN.policy}",
        "created     2026-01-31T12:00:00.000Z",
        "expires     2026-01-31T16:00:00.000Z",
        "execute by  1 h after its approval",
        "",
        f"approve  rastro approvals approve {OPEN.id} --resume --state x",
        f"edit     rastro approvals edit {OPEN.id} --arguments '{{…}}' --resume --state x",
        f"reject   rastro approvals reject {OPEN.id} --reason '…' --resume --state x",
    ]


def test_what_was_decided_is_there_with_the_command_that_goes_on() -> None:
    """By whom, when, why; edited arguments beside the model's."""
    given = decision(Choice.EDIT, arguments={"order_id": "5501", "amount": 10}, reason="less")

    text = shown(OPEN, given)

    assert text.startswith("refund_order: approved, to be carried out within 59 min\n")
    assert "edited to   {\n" in text
    assert '              "amount": 10\n' in text
    assert "execute by  2026-01-31T13:01:00.000Z\n" in text
    assert "decision    edited and approved by ana at 2026-01-31T12:01:00.000Z\nreason      less\n" in text
    assert text.endswith(f"resume  rastro approvals resume {OPEN.id}\n")


@pytest.mark.parametrize(
    ("given", "progress", "badge"),
    [
        (decision(Choice.REJECT), Progress.OPEN, "rejected"),
        (decision(Choice.CANCEL), Progress.CANCELLED, "cancelled"),
        (decision(), Progress.EXECUTING, "executing"),
        (decision(), Progress.DONE, "done"),
        (None, Progress.EXPIRED, "expired"),
    ],
)
def test_the_state_is_said_first(given: Decision | None, progress: Progress, badge: str) -> None:
    """And no command that could not work."""
    text = shown(replace(OPEN, progress=progress), given)

    assert text.startswith(f"refund_order: {badge}\n")
    assert "approvals approve" not in text
    assert "approvals resume" in text


def test_what_is_over_is_shown_as_expired() -> None:
    """Though nobody has closed it yet."""
    assert shown(minutes=240).startswith("refund_order: expired\n")
    assert shown(given=decision(), minutes=61).startswith("refund_order: expired\n")


def test_a_call_at_level_two_offers_no_edit() -> None:
    """It may be approved or rejected."""
    text = shown(replace(OPEN, level=Level.BLOCK))

    assert "level       2 (may be approved or rejected)\n" in text
    assert "approvals edit" not in text


def test_a_budget_says_what_it_asks_for() -> None:
    """It is no tool, and cannot be edited."""
    budget = replace(OPEN, action=Action.BUDGET, tool="budget", arguments={"spent_usd": "0.5"}, reasons=("budget_usd",))

    text = shown(budget)

    assert text.startswith("the session's going on beyond its budget: pending")
    assert "reasons     budget_usd (the session is over its budget in USD)\n" in text
    assert "approvals edit" not in text
    assert "WARNING" not in text


def test_what_was_tampered_with_is_said_loudly() -> None:
    """The warning stands before the facts, and approving is not offered."""
    text = shown(replace(OPEN, arguments={"order_id": "5501", "amount": 9999}))

    assert text.splitlines()[1].startswith("WARNING: the arguments below are not those that this checkpoint's id was")
    assert "approvals approve" not in text
    assert "approvals edit" not in text
    assert "approvals reject" in text


def test_arguments_that_have_no_form_are_not_those_of_the_id() -> None:
    """Whoever put half of a character there has changed them; the card is shown all the same."""
    assert "WARNING" in shown(replace(OPEN, arguments={"order_id": "\ud800"}))


def test_a_doubt_offers_both_answers() -> None:
    """Somebody has to look; afterwards it says what they found."""
    doubtful = replace(OPEN, progress=Progress.IN_DOUBT)
    found = Resolution(checkpoint_id=OPEN.id, took_effect=True, approver="bo", at=NOON, reason="the bank says so")

    before = shown(doubtful, decision())
    after = plain(card(Case(doubtful, decision(), found), NOON, ""))

    assert "WARNING: nobody knows whether this took effect." in before
    assert f"it did      rastro approvals resolve {OPEN.id} --took-effect --reason '…' --resume\n" in before
    assert f"it did not  rastro approvals resolve {OPEN.id} --no-effect --reason '…' --resume\n" in before
    assert "WARNING" not in after
    assert "resolution  it took effect by bo at 2026-01-31T12:00:00.000Z\nreason      the bank says so\n" in after


def test_a_card_holds_no_word_of_anybody_else() -> None:
    """No text begins a line of its own, or steers the terminal; the arguments stay exactly what they are."""
    arguments = {"order_id": EVIL, EVIL: [EVIL]}
    evil = replace(
        OPEN,
        tool=EVIL,
        arguments=arguments,
        reasons=(EVIL,),
        requester=EVIL,
        run=EVIL,
        session_id=EVIL,
        agent=EVIL,
        policy=EVIL,
        cost_usd=EVIL,
    )

    text = shown(evil, decision(approver=EVIL, reason=EVIL))

    assert not STEERING & set(text)
    assert [line for line in text.splitlines() if line.startswith("zone")] == ["zone        red"]
    begin, end = text.index("arguments   {") + len("arguments   "), text.index("zone        red")
    assert json.loads(text[begin:end]) == arguments


def test_exact_arguments_are_shown_whatever_their_size() -> None:
    """Nothing is cut: what is approved is what runs."""
    arguments = {"text": "x" * 50_000 + "END", "big": 10**30, "exact": 0.1, "word": "João 👩"}

    text = shown(checkpoint(arguments=arguments))

    begin, end = text.index("arguments   {") + len("arguments   "), text.index("zone        red")
    assert json.loads(text[begin:end]) == arguments


@pytest.mark.parametrize(
    ("found", "given", "ends"),
    [
        (OPEN, None, OPEN.expires_at),
        (OPEN, decision(), NOON + timedelta(minutes=61)),
        (OPEN, decision(Choice.REJECT), OPEN.expires_at),
        (replace(OPEN, progress=Progress.EXECUTING), decision(), None),
        (replace(OPEN, progress=Progress.IN_DOUBT), decision(), None),
        (replace(OPEN, progress=Progress.DONE), decision(), None),
    ],
)
def test_what_ends_by_itself_says_when(found: Checkpoint, given: Decision | None, ends: object) -> None:
    """A question at its end, an approval when it may not be carried out any more."""
    assert ends_at(Case(found, given)) == ends


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("edited_retry", "edited_retry (a call that was refused has come back with other arguments)"),
        ("unclassified", "unclassified (nobody classified the tool)"),
        ("hook_asked", "hook_asked (a check of the deployment asks; its words are in the audit)"),
        ("hook_edited", "hook_edited (a check changed what the model asked for)"),
        ("unpriced_model", "unpriced_model (the model has no price, so nobody knows what it costs)"),
        ("red_when:order.total", "red_when:order.total (the argument order.total makes the call red)"),
        ("something_new", "something_new"),
    ],
)
def test_a_reason_is_told_in_words(code: str, said: str) -> None:
    """Beside its code; one that nobody knows stands alone."""
    assert reason(code) == said


def waiting(**changes: Any) -> dict[str, Any]:
    return {
        "checkpoint_id": OPEN.id,
        "state": "pending",
        "tool": "refund_order",
        "arguments": dict(ARGUMENTS),
        "zone": "red",
        "reasons": ["zone_red"],
        "expires_at": "2026-01-31T16:00:00.000Z",
        **changes,
    }


def test_an_answer_that_waits_is_a_card_with_its_commands() -> None:
    """What waits, until when, and how to look at it and decide."""
    text = plain(asked(waiting(), " --environment prod"))

    assert text.startswith("refund_order: pending, a person has to decide\n\ncheckpoint  ")
    assert '              "amount": 150\n' in text
    assert "expires     2026-01-31T16:00:00.000Z\n" in text
    assert f"show     rastro approvals show {OPEN.id} --environment prod\n" in text
    assert f"approve  rastro approvals approve {OPEN.id} --resume --environment prod\n" in text


@pytest.mark.parametrize("checkpoint_id", ["c-1", f"{OPEN.id}; rm -rf ~", "$(id)", EVIL, OPEN.id[:-1], None, 5])
def test_nothing_but_an_id_stands_in_a_command(checkpoint_id: object) -> None:
    """Whoever copies it runs it."""
    found = asked(waiting(checkpoint_id=checkpoint_id), "")

    assert found.commands == ()
    assert not STEERING & set(plain(found))


@pytest.mark.parametrize(
    "found", [{}, waiting(reasons="zone_red"), waiting(reasons=[]), waiting(reasons=[5, None]), waiting(arguments=EVIL)]
)
def test_an_answer_of_another_shape_is_shown_as_far_as_it_goes(found: dict[str, Any]) -> None:
    """An agent may be of another version."""
    assert not STEERING & set(plain(asked(found, "")))


def test_a_command_can_be_pasted_into_a_shell() -> None:
    """Words of it are those that the command takes."""
    _, command = card(Case(OPEN), NOON, " --state 'a b'").commands[0]

    assert shlex.split(command) == ["rastro", "approvals", "approve", OPEN.id, "--resume", "--state", "a b"]
