"""A run that could not let go of its session is told of by the one that comes after it, and the audit verifies."""

from __future__ import annotations

from datetime import datetime

import pytest

from agent_image.contract import EventName, Item
from agent_image.guard.audit_lines import line
from agent_image.guard.records import Document, StoreUnavailable
from agent_image.guard.signs import Verification
from agent_image.guard.verify import verify
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.grounds import SESSION, Stage
from tests.agent_image.guard.gate_grounds import Effects, paying
from tests.agent_image.scripted import Says


class Holding(MemoryRecords):
    """Records that lose every write that lets go of a session, while told to."""

    holds = False

    def put(
        self,
        key: str,
        document: Document,
        *,
        expected: int,
        due: datetime | None = None,
        forget_at: datetime | None = None,
    ) -> None:
        if self.holds and key == f"{Item.SESSION}{SESSION}" and document["owner"] is None:
            raise StoreUnavailable("store_unavailable", "The store did not answer.")
        super().put(key, document, expected=expected, due=due, forget_at=forget_at)


@pytest.fixture
def held() -> tuple[Stage, Holding, str]:
    """Hold a session whose last run said that it ended, and then could not let go."""
    records = Holding()
    stage = Stage([paying(), Says("Done.")], tools=[Effects().pay()], records=records)
    checkpoint: str = stage.ask()["checkpoint_id"]
    stage.clock.turn(minutes=241)
    stage.go_on(checkpoint)
    records.holds = True
    assert stage.ask()["status"] == "completed"
    records.holds = False
    stage.clock.turn(minutes=2)
    return stage, records, checkpoint


def verified(stage: Stage) -> Verification:
    lines = [line("audit", number, bytes(raw).rstrip()) for number, raw in enumerate(stage.outlet.lines, 1)]  # type: ignore[attr-defined]
    return verify(lines, {SESSION: stage.guard.store.session(SESSION).session.head})


def test_the_next_run_says_that_it_found_the_session_held(held: tuple[Stage, Holding, str]) -> None:
    """So the end that nobody anchored is explained, and the audit verifies."""
    stage, _, _ = held

    stage.ask()

    begun = [event for event in stage.events if event["event"] == EventName.RUN_STARTED]
    assert [event.get("reasons") for event in begun[-2:]] == [None, ["recovered"]]
    assert verified(stage).faults == ()


def test_a_run_that_has_nothing_to_go_on_with_says_so_too(held: tuple[Stage, Holding, str]) -> None:
    """It took the session over like any other, so nobody after it would know."""
    stage, _, checkpoint = held

    assert stage.go_on(checkpoint)["error"]["code"] == "already_resumed"
    stage.ask()

    assert verified(stage).faults == ()
