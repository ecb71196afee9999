"""The agent's side of the store cannot decide, and the people's side can do nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from agent_image.contract import Item
from agent_image.guard.people import PeopleStore
from agent_image.guard.store import SESSION_KEPT, Cases, GuardStore
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.grounds import Stage
from tests.agent_image.guard.gate_grounds import Effects, paying
from tests.agent_image.scripted import Says


def verbs(port: type) -> set[str]:
    return {name for name in dir(port) if not name.startswith("_")}


def test_the_agent_s_port_has_no_verb_that_decides() -> None:
    """Who has taken the agent over finds nothing to call."""
    assert verbs(GuardStore) - verbs(Cases) == {"advance", "open", "part", "put_part", "put_session", "session"}


def test_people_decide_and_resolve_and_read() -> None:
    """They write nothing else."""
    assert verbs(PeopleStore) - verbs(Cases) == {"decide", "resolve"}


class Watched(MemoryRecords):
    """Remember the prefixes that were written, and until when it is to be kept."""

    def __init__(self) -> None:
        super().__init__()
        self.written: set[str] = set()
        self.kept: list[datetime] = []

    def put(self, key: str, document: Any, **how: Any) -> None:
        self.kept += [how["forget_at"]] if how.get("forget_at") else []
        self.written.add(key[: key.index("#") + 1])
        super().put(key, document, **how)


def test_a_whole_run_writes_no_decision() -> None:
    """Asked, resumed too early, asked again: nothing of it is an answer."""
    records = Watched()
    stage = Stage([paying(), Says("Done.")], tools=[Effects().pay()], records=records)
    checkpoint = stage.ask()["checkpoint_id"]
    stage.go_on(checkpoint)
    stage.ask("Well?")
    stage.clock.turn(hours=5)
    stage.go_on(checkpoint)

    assert records.written == {Item.SESSION, Item.CHECKPOINT, Item.OUTBOX}


def test_a_session_is_kept_no_longer_than_it_says_and_all_its_writes_of_a_day_as_long() -> None:
    """What stands in an index is written only when it changes."""
    records = Watched()
    store, midnight = GuardStore(records), datetime(2026, 6, 10, tzinfo=UTC)

    session = store.put_session(store.session("s").session, 0, midnight)
    store.put_session(session.session, session.version, midnight + timedelta(hours=23.9))
    store.put_part("s", "batch", {}, 0, midnight + timedelta(days=1))

    assert records.kept == [midnight + SESSION_KEPT] * 2 + [midnight + SESSION_KEPT + timedelta(days=1)]
