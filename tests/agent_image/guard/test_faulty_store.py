"""A store that fails ends the run with a code: nothing runs that could not be kept, and nothing is lost that was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from agent_image.contract import Choice, Item, Status
from agent_image.guard.checkpoint import State
from agent_image.guard.records import Record, StoreUnavailable
from agent_image.invocation import Prompt
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.grounds import SESSION, Stage, events_of
from tests.agent_image.guard.gate_grounds import Effects, looking, paying, valid
from tests.agent_image.scripted import CallsAll, Says


class Faulty(MemoryRecords):
    """Fail at the n-th call of one method, and at each that follows while it is broken."""

    def __init__(self) -> None:
        super().__init__()
        self.method = ""
        self.left = 0
        self.failed = 0

    def break_(self, method: str, after: int) -> None:
        self.method, self.left = method, after

    def mend(self) -> None:
        self.method = ""

    def _count(self, method: str) -> None:
        if method != self.method:
            return
        if self.left == 0:
            self.failed += 1
            raise StoreUnavailable("unavailable", "The store did not answer.")
        self.left -= 1

    def get(self, key: str) -> Record | None:
        self._count("get")
        return super().get(key)

    def put(self, key: str, document: Any, **how: Any) -> None:
        self._count("put")
        super().put(key, document, **how)

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        self._count("due")
        return super().due(item, before=before, limit=limit)


@pytest.mark.parametrize("method", ["get", "put", "due"])
@pytest.mark.parametrize("after", range(24))
def test_a_store_that_fails_at_any_call_runs_nothing_twice_and_nothing_unapproved(method: str, after: int) -> None:
    """Whichever call fails, the answer is a code, and the session goes on once the store is back."""
    effects = Effects()
    records = Faulty()
    calls = CallsAll((looking("a", "1"), paying(5, "2")))
    stage = Stage([calls, Says("Done.")], tools=[effects.pay(), effects.look()], records=records)
    records.break_(method, after)

    names = [event.name for event in events_of(stage.prompt(SESSION, Prompt("?")))]

    assert [name for name in names if name in set(Status)] == names[-1:]
    first = {"status": names[-1]}
    assert first["status"] in {"suspended", "failed", "completed"}
    assert [name for name, _ in effects.done if name == "pay"] == []
    records.mend()
    stage.clock.turn(minutes=2)  # the lease of a run that could not let go

    again = stage.ask()
    waits = again if again["status"] == "suspended" else stage.ask()
    if waits["status"] == "suspended":
        stage.decide(waits["checkpoint_id"], Choice.APPROVE)
        assert stage.go_on(waits["checkpoint_id"])["status"] == "completed"
    assert [name for name, _ in effects.done].count("pay") <= 1
    valid(stage.messages())


@pytest.mark.parametrize("method", ["get", "put"])
@pytest.mark.parametrize("after", range(14))
def test_a_store_that_fails_while_an_approval_is_carried_out_leaves_no_second_run(method: str, after: int) -> None:
    """One effect at most, and where nobody can know, a doubt."""
    effects = Effects()
    records = Faulty()
    stage = Stage([paying(), Says("Done.")], tools=[effects.pay()], records=records)
    checkpoint = stage.ask()["checkpoint_id"]
    stage.decide(checkpoint, Choice.APPROVE)
    records.break_(method, after)

    first = stage.go_on(checkpoint)

    records.mend()
    done = len(effects.done)
    stage.clock.turn(minutes=2)
    second = stage.go_on(checkpoint)
    case = stage.guard.store.case(checkpoint)
    assert case is not None
    state = case.state(stage.clock())
    assert len(effects.done) <= 1
    if first["status"] == "failed" and done:
        assert state in {State.IN_DOUBT, State.DONE}
        assert second["status"] in {"suspended", "completed", "failed"}
    if state is State.IN_DOUBT:
        assert second["state"] == "in_doubt"
    if second["status"] == "completed":
        assert len(effects.done) == 1
    assert stage.guard.store.session(SESSION).session.owner is None


def test_the_faults_of_these_tests_are_really_met() -> None:
    """The ranges above reach every call of a run, and go beyond."""
    for method, calls in (("get", 24), ("put", 24)):
        records = Faulty()
        records.break_(method, 10**6)
        stage = Stage([looking(), Says("Done.")], tools=[Effects().look()], records=records)
        stage.ask()
        assert 2 < 10**6 - records.left < calls
