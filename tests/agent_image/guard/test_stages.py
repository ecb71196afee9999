"""Others have a say before a tool runs, after it, and before an answer; the strictest word holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_image.contract import Choice
from agent_image.guard.verdict import ALLOWED, Say, Stages, Verdict
from tests.agent_image.grounds import Stage
from tests.agent_image.guard.gate_grounds import Effects, looking, paying, results, text_of, valid
from tests.agent_image.scripted import Says

ASK = Verdict(Say.ASK, "hook", "outside_hours", "It is late.")
DENY = Verdict(Say.DENY, "hook", "not_here", "Not in this country.")


@dataclass
class Saying:
    """A stage that says what it was given, and remembers what it was asked."""

    says: Verdict | Exception = ALLOWED
    asked: list[Any] = field(default_factory=list)

    def __call__(self, subject: Any) -> Verdict:
        self.asked.append(subject)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


def stage_with(effects: Effects, *turns: Any, **stages: Any) -> Stage:
    return Stage([*turns, Says("Done.")], tools=[effects.pay(), effects.look()], stages=Stages(**stages))


@pytest.mark.parametrize("order", [(ALLOWED, ASK, DENY), (DENY, ASK, ALLOWED), (ASK, DENY)])
def test_no_outdoes_ask_and_ask_outdoes_yes(order: tuple[Verdict, ...]) -> None:
    """Whatever the order, and every stage is asked."""
    effects = Effects()
    sayings = [Saying(says) for says in order]
    stage = stage_with(effects, looking(), before_tool=sayings)

    stage.ask()

    assert effects.done == []
    assert text_of(results(stage.messages())[0]) == "Not in this country."
    assert [len(one.asked) for one in sayings] == [1] * len(sayings)


def test_a_stage_may_ask_a_person_about_a_green_call() -> None:
    """The checkpoint says who wanted it."""
    effects = Effects()
    stage = stage_with(effects, looking(), before_tool=[Saying(ASK)])

    suspended = stage.ask()
    stage.decide(suspended["checkpoint_id"], Choice.APPROVE)
    answer = stage.go_on(suspended["checkpoint_id"])

    assert suspended["reasons"] == ["outside_hours"]
    assert answer["status"] == "completed"
    assert effects.done == [("look", "here")]


def test_a_stage_may_say_no_to_what_a_person_approved() -> None:
    """Any no holds, and the approval is used up."""
    effects = Effects()
    saying = Saying()
    stage = stage_with(effects, paying(), before_tool=[saying])
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.EDIT, arguments={"amount": 7})
    saying.says = DENY

    answer = stage.go_on(checkpoint)

    assert answer["status"] == "completed"
    assert effects.done == []
    assert saying.asked[-1].arguments == {"amount": 7}


def test_a_stage_that_fails_lets_nothing_run() -> None:
    """What cannot be judged does not run."""
    effects = Effects()
    stage = stage_with(effects, looking(), before_tool=[Saying(RuntimeError("x"))])

    stage.ask()

    assert effects.done == []


def test_a_yes_of_a_stage_does_not_open_a_red_gate() -> None:
    """It may be stricter than the policy, and never laxer."""
    effects = Effects()
    stage = stage_with(effects, paying(), before_tool=[Saying(ALLOWED)])

    assert stage.ask()["status"] == "suspended"


def test_a_stage_after_a_tool_may_hide_its_result_and_cannot_undo_it() -> None:
    """The tool has run; the model does not read what it said."""
    effects = Effects()
    stage = stage_with(effects, looking(), after_tool=[Saying(DENY)])

    stage.ask()

    assert effects.done == [("look", "here")]
    assert "saw" not in text_of(results(stage.messages())[0])


def test_a_stage_after_a_tool_may_add_a_word() -> None:
    """A context for the model."""
    effects = Effects()
    stage = stage_with(effects, looking(), after_tool=[Saying(Verdict(Say.ALLOW, "hook", "note", "Seen in May."))])

    stage.ask()

    assert text_of(results(stage.messages())[0]) == "saw here Seen in May."


def test_an_answer_that_a_stage_refuses_goes_back_so_often_and_no_more() -> None:
    """A check that is never content does not spend the whole budget."""
    saying = Saying(Verdict(Say.DENY, "hook", "incomplete", "Name the date."))
    stage = stage_with(Effects(), Says("First."), Says("Second."), stop=[saying], stop_rejections=2)

    answer = stage.ask()

    assert answer["answer"] == "Done."
    assert saying.asked == ["First.", "Second.", "Done."]
    assert [message["content"][0]["text"] for message in stage.messages() if message["role"] == "user"] == [
        "?",
        "Name the date.",
        "Name the date.",
    ]
    valid(stage.messages())


def test_the_count_of_refused_answers_begins_anew_with_a_question() -> None:
    """One difficult answer does not use up the checks of the next."""
    saying = Saying(Verdict(Say.DENY, "hook", "incomplete", "Name the date."))
    stage = stage_with(Effects(), stop=[saying], stop_rejections=1)

    stage.ask()
    stage.ask()

    assert len(saying.asked) == 4


def test_a_suspended_run_is_no_answer() -> None:
    """There is nothing to check yet."""
    saying = Saying(DENY)
    stage = stage_with(Effects(), paying(), stop=[saying])

    assert stage.ask()["status"] == "suspended"
    assert saying.asked == []
