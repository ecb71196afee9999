"""Memory is bounded: what may be forgotten goes first, the soonest first."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from agent_image.contract import Item
from agent_image.guard.records import NEW, Conflict
from agent_image.stores.memory import MemoryRecords

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def many_switches() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def session(number: int) -> str:
    return f"{Item.SESSION}{number}"


def test_what_may_be_forgotten_soonest_goes_first() -> None:
    """Sessions that nobody went on with make room for the new ones; the order of their birth does not matter."""
    records = MemoryRecords(room=10_000)
    for number, days in enumerate((5, 1, 4, 2, 3)):
        records.put(session(number), {"x": "x" * 1_400}, expected=NEW, forget_at=NOW + days * DAY)

    records.put(session(9), {"x": "x" * 1_400}, expected=NEW, forget_at=NOW)

    assert [number for number in (0, 1, 2, 3, 4, 9) if records.get(session(number))] == [0, 2, 4, 9]


def test_what_waits_for_people_stays() -> None:
    """A pending checkpoint and a decision may not be forgotten, however many sessions come."""
    records = MemoryRecords(room=20_000)
    records.put(f"{Item.CHECKPOINT}1", {}, expected=NEW, due=NOW)
    records.put(f"{Item.DECISION}1", {}, expected=NEW)
    for number in range(200):
        records.put(session(number), {"x": "x" * 500}, expected=NEW, forget_at=NOW + number * DAY)

    assert len(records.due(Item.CHECKPOINT, before=None, limit=10)) == 1
    assert records.get(f"{Item.DECISION}1") is not None
    assert records.get(session(199)) is not None
    assert records.get(session(0)) is None


def test_a_forgotten_record_waits_for_nobody() -> None:
    """Its place on the list goes with it."""
    records = MemoryRecords(room=3_000)
    records.put(f"{Item.OUTBOX}1", {"x": "x" * 1_000}, expected=NEW, due=NOW, forget_at=NOW)
    records.put(f"{Item.OUTBOX}2", {"x": "x" * 1_000}, expected=NEW, due=NOW, forget_at=NOW + DAY)

    assert [record.key for record in records.due(Item.OUTBOX, before=None, limit=10)] == [f"{Item.OUTBOX}2"]


def test_a_record_that_is_written_again_and_again_takes_its_room_once() -> None:
    """A session of many steps fills nothing."""
    records = MemoryRecords(room=5_000)
    for version in range(100):
        records.put(session(1), {"x": "x" * 2_000}, expected=version)

    found = records.get(session(1))
    assert found is not None
    assert found.version == 100


@pytest.mark.usefixtures("many_switches")
def test_nothing_comes_between_the_look_and_the_write() -> None:
    """Of threads that write over one version one wins, each time."""
    records, rounds, threads = MemoryRecords(), 3_000, 4
    barrier = Barrier(threads)

    def race(_: int) -> int:
        won = 0
        for version in range(rounds):
            barrier.wait()
            with suppress(Conflict):
                records.put(session(1), {}, expected=version)
                won += 1
        return won

    with ThreadPoolExecutor(threads) as pool:
        assert sum(pool.map(race, range(threads))) == rounds
