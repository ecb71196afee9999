"""A sweep gets to the end of the list, whatever stands in between."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from agent_image.contract import Choice, Item
from agent_image.errors import AgentError
from agent_image.guard.checkpoint import Progress, Resolution
from agent_image.guard.people import PeopleStore
from agent_image.invocation import Sweep
from tests.agent_image.grounds import Stage, closing
from tests.agent_image.guard.gate_grounds import Effects, paying, results, text_of
from tests.agent_image.scripted import Says

NOBODY = "session-" + "9" * 32


def stage_with(sessions: int, **rules: Any) -> tuple[Stage, list[str]]:
    """Let some sessions ask for a payment each, and wait."""
    stage = Stage([paying()] * sessions + [Says("Done.")], tools=[Effects().pay(**rules)], settings={"sweep_limit": 2})
    return stage, [stage.ask(session=session(number))["checkpoint_id"] for number in range(sessions)]


def session(number: int) -> str:
    return f"session-{number:032}"


def claimed(stage: Stage, checkpoint: str) -> None:
    """Leave the first session as a run does that died while it carried its checkpoint out."""
    case, found = stage.guard.store.case(checkpoint), stage.guard.store.session(session(0))
    assert case is not None
    taken = found.session.taken("lost", stage.clock(), timedelta(minutes=1))
    stage.guard.store.put_session(taken, found.version, stage.clock())
    executing = case.checkpoint.advanced(Progress.EXECUTING, stage.clock(), owner="lost", fence=taken.fence)
    assert stage.guard.store.advance(case.checkpoint, executing)


def progress(stage: Stage, checkpoint: str) -> Progress:
    case = stage.guard.store.case(checkpoint)
    assert case is not None
    return case.checkpoint.progress


def swept(stage: Stage) -> dict[str, Any]:
    return closing(stage.sweep(NOBODY, Sweep()))


def test_one_sweep_closes_what_lies_behind_what_may_still_run() -> None:
    """A page of approvals in between is not the end of the list."""
    stage, (first, second, third) = stage_with(3)
    stage.clock.turn(hours=3, minutes=59)
    for checkpoint in (first, second):
        stage.decide(checkpoint, Choice.APPROVE)
    stage.clock.turn(minutes=1)

    assert swept(stage)["swept"] == {"expired": 1}
    assert progress(stage, third) is Progress.EXPIRED


@pytest.mark.parametrize("raised", [OSError("the tool is down"), AgentError("tool_down", "The tool is down.")])
def test_a_tool_that_cannot_be_told_keeps_nothing_else_waiting(
    raised: Exception, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its action stays as it is and is looked at again; others are closed, and questions are answered."""
    down = [raised]

    def fence(session_id: str, token: int) -> None:
        del session_id, token
        if down:
            raise down[0]

    stage, (lost, other) = stage_with(2, fence=fence)
    stage.decide(lost, Choice.APPROVE)
    claimed(stage, lost)
    stage.clock.turn(hours=5)

    assert stage.ask(session=NOBODY)["status"] == "completed"
    assert progress(stage, other) is Progress.EXPIRED
    assert progress(stage, lost) is Progress.EXECUTING
    notices = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    assert [one["checkpoint"] for one in notices if one["notice"] == "sweep_failed"] == [lost]

    down.clear()
    stage.clock.turn(hours=1)
    assert swept(stage)["swept"] == {"in_doubt": 1}
    assert progress(stage, lost) is Progress.IN_DOUBT


def broken(stage: Stage, key: str) -> None:
    """Leave a record that nobody can read, where it stood."""
    found = stage.records.get(key)
    version, due = (0, None) if found is None else (found.version, found.due)
    stage.records.put(key, {"broken": True}, expected=version, due=due)


@pytest.mark.parametrize("item", [Item.CHECKPOINT, Item.DECISION])
def test_a_record_that_cannot_be_read_hides_no_other(item: Item, capfd: pytest.CaptureFixture[str]) -> None:
    """People see the other checkpoints, and a sweep closes them; what cannot be read is said."""
    stage, (unread, other) = stage_with(2)
    broken(stage, f"{item}{unread}")

    assert [case.checkpoint.id for case in PeopleStore(stage.records).waiting(10)] == [other]
    stage.clock.turn(hours=5)
    assert swept(stage)["swept"] == {"expired": 1}
    assert f'"notice":"checkpoint_unreadable","key":"{Item.CHECKPOINT}{unread}"' in capfd.readouterr().err


def test_a_session_that_cannot_be_read_keeps_no_other_waiting() -> None:
    """Nobody can tell whether its action has an owner; the next one is closed all the same."""
    stage, (lost, other) = stage_with(2)
    stage.decide(lost, Choice.APPROVE)
    claimed(stage, lost)
    broken(stage, f"{Item.SESSION}{session(0)}")
    stage.clock.turn(hours=5)

    assert swept(stage)["swept"] == {"expired": 1}
    assert progress(stage, other) is Progress.EXPIRED
    assert progress(stage, lost) is Progress.EXECUTING


@pytest.mark.parametrize(("took_effect", "closed"), [(True, Progress.DONE), (False, Progress.FAILED)])
def test_a_sweep_closes_what_a_person_has_found_out(
    took_effect: bool,  # noqa: FBT001 - a column of the table above
    closed: Progress,
) -> None:
    """Nobody may ever resume it; it waits for nobody any more, and whoever resumes gets what the person found."""
    stage, (lost,) = stage_with(1)
    stage.decide(lost, Choice.APPROVE)
    claimed(stage, lost)
    stage.clock.turn(hours=5)
    swept(stage)
    found = Resolution(checkpoint_id=lost, took_effect=took_effect, approver="ana", at=stage.clock(), reason="Seen.")
    stage.people.resolve(found)
    stage.clock.turn(days=2)

    assert swept(stage)["swept"] == {closed.value: 1}
    assert progress(stage, lost) is closed
    assert stage.people.waiting(10) == []

    stage.go_on(lost, session(0))
    (result,) = results(stage.messages(session(0)))
    assert text_of(result).endswith("Seen.")
    assert result["status"] == ("success" if took_effect else "error")
