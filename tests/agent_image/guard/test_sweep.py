"""What nobody answered in time is closed by whoever comes along, and no action stays in between."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agent_image.contract import Choice, Item
from agent_image.guard.checkpoint import Progress
from agent_image.invocation import Sweep
from tests.agent_image.grounds import SESSION, Stage, closing
from tests.agent_image.guard.gate_grounds import Effects, paying
from tests.agent_image.scripted import Says

OTHER = "session-" + "1" * 32


def waiting_stage(**facts: Any) -> tuple[Stage, Effects, str]:
    effects = Effects()
    stage = Stage([paying(), Says("Done.")], tools=[effects.pay(**facts)])
    return stage, effects, stage.ask()["checkpoint_id"]


def swept(stage: Stage) -> dict[str, int]:
    counts: dict[str, int] = closing(stage.sweep(OTHER, Sweep()))["swept"]
    return counts


def progress(stage: Stage, checkpoint: str) -> Progress:
    case = stage.guard.store.case(checkpoint)
    assert case is not None
    return case.checkpoint.progress


def alerts(stage: Stage) -> list[str]:
    return [record.document["alert"]["kind"] for record in stage.records.due(Item.OUTBOX, before=None, limit=50)]


def claimed(stage: Stage, checkpoint: str) -> None:
    """Leave a checkpoint as a run does that died while it carried it out."""
    case = stage.guard.store.case(checkpoint)
    assert case is not None
    found = stage.guard.store.session(SESSION)
    taken = found.session.taken("lost", stage.clock(), stage.clock.now - stage.clock.now.replace(hour=11))
    stage.guard.store.put_session(taken, found.version, stage.clock())
    after = replace(case.checkpoint, progress=Progress.EXECUTING, owner="lost", fence=taken.fence, due_at=stage.clock())
    assert stage.guard.store.advance(case.checkpoint, after)


def test_a_sweep_closes_what_nobody_answered_in_time() -> None:
    """It says so in the trail and to people, and it is no rejection."""
    stage, effects, checkpoint = waiting_stage()
    stage.clock.turn(hours=4)

    assert swept(stage) == {"expired": 1}
    assert progress(stage, checkpoint) is Progress.EXPIRED
    assert stage.events[-1]["decision"] == "expired"
    assert stage.events[-1]["attributes"] == {"session.id": SESSION}
    assert "expired" in alerts(stage)
    assert swept(stage) == {}
    assert effects.done == []


def test_a_sweep_leaves_alone_what_may_still_be_answered() -> None:
    """One millisecond before the end is in time."""
    stage, _, checkpoint = waiting_stage()
    stage.clock.turn(hours=4, milliseconds=-1)

    assert swept(stage) == {}
    assert progress(stage, checkpoint) is Progress.OPEN


@pytest.mark.parametrize(
    ("choice", "closed"), [(Choice.REJECT, Progress.REJECTED), (Choice.CANCEL, Progress.CANCELLED)]
)
def test_a_sweep_closes_what_a_person_ended_and_nobody_resumed(choice: Choice, closed: Progress) -> None:
    """It does not hang in the queue for ever."""
    stage, _, checkpoint = waiting_stage()
    stage.decide(checkpoint, choice, reason="No.")
    stage.clock.turn(hours=4)

    swept(stage)

    assert progress(stage, checkpoint) is closed


def test_an_approval_may_be_carried_out_after_a_sweep_that_came_first() -> None:
    """The question is over; the answer is good for as long as it says."""
    stage, effects, checkpoint = waiting_stage()
    stage.clock.turn(hours=3, minutes=59)
    stage.decide(checkpoint, Choice.APPROVE)
    stage.clock.turn(minutes=2)

    assert swept(stage) == {}
    stage.go_on(checkpoint)

    assert len(effects.done) == 1


def test_an_approval_that_was_never_carried_out_is_closed_later() -> None:
    """Not at the question's end, but at its own."""
    stage, effects, checkpoint = waiting_stage()
    stage.clock.turn(hours=3, minutes=59)
    stage.decide(checkpoint, Choice.APPROVE)
    stage.clock.turn(minutes=2)
    swept(stage)
    stage.clock.turn(minutes=58)

    assert swept(stage) == {"expired": 1}
    assert effects.done == []


def test_many_approvals_in_between_keep_no_expiry_waiting() -> None:
    """A bounded sweep must not look at the same ones each time."""
    effects = Effects()
    stage = Stage([paying(), paying(), paying(), Says("Done.")], tools=[effects.pay()], settings={"sweep_limit": 2})
    first, second, third = (stage.ask(session=f"session-{n:032}")["checkpoint_id"] for n in range(3))
    stage.clock.turn(hours=3, minutes=59)
    for checkpoint in (first, second):
        stage.decide(checkpoint, Choice.APPROVE)
    stage.clock.turn(minutes=1)

    stage.ask(session=OTHER)
    stage.ask(session=OTHER)

    assert progress(stage, third) is Progress.EXPIRED


def test_an_action_whose_owner_is_gone_is_in_doubt_and_people_hear_of_it() -> None:
    """Nobody tries it again by themselves."""
    told: list[tuple[str, int]] = []
    stage, effects, checkpoint = waiting_stage(fence=lambda session, token: told.append((session, token)))
    stage.decide(checkpoint, Choice.APPROVE)
    claimed(stage, checkpoint)
    stage.clock.turn(hours=2)

    assert swept(stage) == {"in_doubt": 1}
    assert progress(stage, checkpoint) is Progress.IN_DOUBT
    assert told == [(SESSION, 3)]
    assert "in_doubt" in alerts(stage)
    assert effects.done == []


def test_an_action_whose_owner_is_at_work_is_left_alone() -> None:
    """A sweep takes nothing away from a living run."""
    stage, _, checkpoint = waiting_stage()
    stage.decide(checkpoint, Choice.APPROVE)
    claimed(stage, checkpoint)
    stage.clock.turn(minutes=1)

    assert swept(stage) == {}
    assert progress(stage, checkpoint) is Progress.EXECUTING


def test_every_invocation_sweeps_a_little_on_its_way() -> None:
    """Nobody has to set up a timer, though one may."""
    stage, _, checkpoint = waiting_stage()
    stage.clock.turn(hours=5)

    stage.ask(session=OTHER)

    assert progress(stage, checkpoint) is Progress.EXPIRED
    assert stage.delivered >= 1


def told(capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    return [line for line in lines if line.get("notice") == "swept"]


@pytest.mark.parametrize(
    ("hours", "past_half"),
    [
        pytest.param({"hours": 2, "milliseconds": -1}, 0, id="just before half of its four hours"),
        pytest.param({"hours": 2}, 1, id="at half of them"),
    ],
)
def test_a_sweep_says_what_waits_and_what_is_past_half_its_life(
    capfd: pytest.CaptureFixture[str], hours: dict[str, int], past_half: int
) -> None:
    """An alarm reads the line: nothing else counts what nobody has decided on."""
    stage, _, _ = waiting_stage()
    stage.clock.turn(**hours)

    swept(stage)

    assert told(capfd) == [{"notice": "swept", "waiting": 1, "past_half": past_half}]


def test_a_sweep_says_that_nothing_waits_any_more(capfd: pytest.CaptureFixture[str]) -> None:
    """What is closed is not counted, nor what a person has decided on; the line comes all the same."""
    stage, _, checkpoint = waiting_stage()
    stage.clock.turn(hours=3)
    stage.decide(checkpoint, Choice.REJECT, reason="No.")

    swept(stage)
    stage.clock.turn(hours=1)
    swept(stage)

    assert [(line["waiting"], line["past_half"]) for line in told(capfd)] == [(0, 0), (0, 0)]


def test_a_run_that_sweeps_on_its_way_does_not_say_that_a_sweep_ended(capfd: pytest.CaptureFixture[str]) -> None:
    """Else an alarm on the scheduled sweep would be quiet because somebody called."""
    stage, _, _ = waiting_stage()
    stage.clock.turn(hours=4)

    stage.ask()

    assert told(capfd) == []
