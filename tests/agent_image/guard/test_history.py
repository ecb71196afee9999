"""What came of a call stays in the history, also where the run that was told of it failed right after."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from agent_image.contract import Choice
from agent_image.guard.records import Record
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.gate_grounds import Effects, looking, paying, results, text_of, valid
from tests.agent_image.scripted import Calls, Raises, Says, Turn


def waiting_stage(*turns: Turn) -> tuple[Stage, str]:
    stage = Stage([paying(), *turns], tools=[Effects().pay()])
    return stage, stage.ask()["checkpoint_id"]


def told_of(stage: Stage) -> list[str]:
    """Give the texts of the results in the history."""
    messages = stage.messages()
    valid(messages)
    return [text_of(result) for result in results(messages)]


def test_a_task_that_a_person_ended_is_known_to_be_ended() -> None:
    """The next question's model does not read that nobody knows what became of it."""
    stage, checkpoint = waiting_stage(Says("Yes."))
    stage.decide(checkpoint, Choice.CANCEL)
    assert stage.go_on(checkpoint)["error"]["code"] == "cancelled"

    assert stage.ask("And now?")["status"] == "completed"

    assert told_of(stage) == ["A person ended this task. Do nothing more."]


@pytest.mark.parametrize(
    ("choice", "told"),
    [(Choice.REJECT, "A person rejected this call. Reason: No."), (None, "Nobody approved this call in time")],
    ids=["reject", "expire"],
)
def test_an_answer_outlives_the_model_that_failed_on_it(choice: Choice | None, told: str) -> None:
    """The person's word was read once; a throttled model is no reason to forget it."""
    stage, checkpoint = waiting_stage(Raises(RuntimeError("x")), Says("Yes."))
    if choice is None:
        stage.clock.turn(hours=5)
    else:
        stage.decide(checkpoint, choice, reason="No.")
    assert stage.go_on(checkpoint)["status"] == "failed"

    assert stage.ask("And now?")["status"] == "completed"

    (result,) = told_of(stage)
    assert result.startswith(told)


def test_a_recorded_effect_outlives_the_model_that_failed_on_it() -> None:
    """The run that carried it out failed on its model, and so did the one after it: the result is in the history."""
    stage, checkpoint = waiting_stage(Raises(RuntimeError("x")), Raises(RuntimeError("y")), Says("Yes."))
    stage.decide(checkpoint, Choice.APPROVE)
    assert stage.go_on(checkpoint)["status"] == "failed"
    assert stage.ask("And now?")["status"] == "failed"

    assert stage.ask("And now?")["status"] == "completed"

    (result,) = told_of(stage)
    assert result.startswith("paid")


class Dying(MemoryRecords):
    """Records of a process that dies as soon as its answer is kept."""

    dies = False

    def put(self, key: str, document: Any, **how: Any) -> None:
        if self.dies and "Answered." in document.get("messages", ""):
            super().put(key, document, **how)
            raise Died
        super().put(key, document, **how)


class Died(BaseException):
    """Say that the process is gone."""


def test_an_answer_that_was_kept_is_given_again() -> None:
    """The process died between its answer and its end: whoever resumes again gets that answer, and no second one."""
    records = Dying()
    stage = Stage(
        [looking(), Says("Answered."), Says("Again.")],
        tools=[Effects().look()],
        records=records,
        settings={"budget_steps": 2},
    )
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    records.dies = True
    with pytest.raises(Died):
        stage.go_on(checkpoint)
    records.dies = False
    stage.clock.turn(minutes=2)

    assert stage.go_on(checkpoint)["answer"] == "Answered."

    assert len(stage.model.seen) == 2
    valid(stage.messages())
    assert stage.guard.store.session(SESSION).session.pending == ()
    assert stage.go_on(checkpoint)["error"]["code"] == "already_resumed"


class Stopping(MemoryRecords):
    """Records of a process that dies before it writes a call's beginning, or right after."""

    dies: str | None = None
    dead = False

    def get(self, key: str) -> Record | None:
        self._live()
        return super().get(key)

    def put(self, key: str, document: Any, **how: Any) -> None:
        self._live()
        dies = self.dies if key.endswith("#batch") else None
        self.dead = dies is not None
        if dies != "before":
            super().put(key, document, **how)
        self._live()

    def _live(self) -> None:
        if self.dead:
            raise Died


@pytest.mark.parametrize(
    ("dies", "told"),
    [("before", "This call was not finished, and had no effect."), ("after", "This call was interrupted")],
)
def test_only_a_call_that_began_may_have_taken_effect(dies: str, told: str) -> None:
    """What a beginning was never written of did not run: the model may try it again."""
    records = Stopping()
    stage = Stage([Calls("draft", '{"text": "x"}'), Says("Yes.")], tools=[Effects().draft()], records=records)
    records.dies = dies
    with suppress(Died):
        stage.ask()
    records.dies, records.dead = None, False
    stage.clock.turn(minutes=2)

    assert stage.ask("And now?")["status"] == "completed"

    (result,) = told_of(stage)
    assert result.startswith(told)
