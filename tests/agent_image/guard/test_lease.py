"""A session has one owner at a time, and who lost it writes nothing more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from agent_image.errors import BUSY, AgentError
from agent_image.guard.budget import Amount
from agent_image.guard.lease import Heartbeat, Lease, LeaseLost
from agent_image.guard.records import StoreUnavailable
from agent_image.guard.store import GuardStore
from agent_image.stores.memory import MemoryRecords
from tests.agent_image.grounds import Clock

MINUTE = timedelta(minutes=1)


@pytest.fixture
def store() -> GuardStore:
    return GuardStore(MemoryRecords())


@pytest.fixture
def clock() -> Clock:
    return Clock()


def lease(store: GuardStore, clock: Callable[[], datetime], owner: str = "a") -> Lease:
    return Lease(store, "s", owner, clock, MINUTE)


def test_a_second_owner_is_told_that_the_session_is_busy(store: GuardStore, clock: Clock) -> None:
    """Until the first one lets go, or is silent for too long."""
    held = lease(store, clock)

    with pytest.raises(AgentError) as busy:
        lease(store, clock, "b")

    assert busy.value.code == BUSY
    held.release(lambda session: session)
    assert lease(store, clock, "b").fence == 2


@pytest.mark.parametrize(("seconds", "free"), [(59.999, False), (60, True)])
def test_a_silent_owner_loses_the_session_when_its_lease_is_over(
    store: GuardStore, clock: Clock, seconds: float, *, free: bool
) -> None:
    """Not a moment before."""
    lease(store, clock)
    clock.turn(seconds=seconds)

    if free:
        assert lease(store, clock, "b").fence == 2
    else:
        with pytest.raises(AgentError, match=BUSY):
            lease(store, clock, "b")


def test_who_was_overtaken_writes_nothing_more(store: GuardStore, clock: Clock) -> None:
    """Neither a change nor a release."""
    first = lease(store, clock)
    clock.turn(minutes=2)
    second = lease(store, clock, "b")

    for write in (first.update, first.release):
        with pytest.raises(LeaseLost):
            write(lambda session: replace(session, pending=("mine",)))

    assert store.session("s").session == second.session


def test_each_write_keeps_the_lease(store: GuardStore, clock: Clock) -> None:
    """Who works is alive."""
    held = lease(store, clock)
    for _ in range(5):
        clock.turn(seconds=50)
        held.update(lambda session: session)

    with pytest.raises(AgentError, match=BUSY):
        lease(store, clock, "b")


def test_what_is_noted_is_written_with_the_next_change(store: GuardStore, clock: Clock) -> None:
    """Not alone, while the lease holds; and where it may be over, at once."""
    held = lease(store, clock)
    before = store.session("s")

    held.note(lambda session: replace(session, sent_back=1))
    assert (held.session.sent_back, store.session("s")) == (1, before)
    held.update(lambda session: replace(session, pending=("x",)))
    assert store.session("s").session == held.session
    clock.turn(minutes=2)
    held.note(lambda session: replace(session, sent_back=2))

    assert store.session("s").session.sent_back == 2
    with pytest.raises(AgentError, match=BUSY):
        lease(store, clock, "b")


def test_who_was_overtaken_notes_nothing_more(store: GuardStore, clock: Clock) -> None:
    """A clock that stands still does not hide that the session is lost."""
    held = lease(store, clock)
    clock.turn(minutes=2)
    lease(store, clock, "b")

    for _ in range(2):
        with pytest.raises(LeaseLost):
            held.note(lambda session: session)


def test_a_clock_that_went_backwards_frees_nothing(store: GuardStore, clock: Clock) -> None:
    """A machine with a wrong clock must not take a session away."""
    lease(store, clock)
    clock.turn(days=-1)

    with pytest.raises(AgentError, match=BUSY):
        lease(store, clock, "b")


def test_of_many_at_once_one_gets_the_session(store: GuardStore, clock: Clock) -> None:
    """The others are told."""
    got, told = [], []
    ready = threading.Barrier(16)

    def take(name: str) -> None:
        ready.wait()
        try:
            got.append(lease(store, clock, name))
        except AgentError as error:
            told.append(error.code)

    threads = [threading.Thread(target=take, args=(str(n),)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(got) == 1
    assert told == [BUSY] * 15


def test_what_a_lost_owner_had_set_aside_counts_as_spent(store: GuardStore, clock: Clock) -> None:
    """Its calls may have been made."""
    first = lease(store, clock)
    first.update(lambda session: replace(session, budget=session.budget.reserve("x", Amount(5, 6, 1))))
    clock.turn(minutes=2)

    budget = lease(store, clock, "b").session.budget

    assert budget.spent == Amount(5, 6, 1)
    assert budget.reserved == {}


def test_a_heartbeat_keeps_a_lease_and_ends_with_it() -> None:
    """A tool that takes long does not lose the session; one that lost it stops beating."""
    times = (datetime(2026, 1, 31, 12) + n * timedelta(milliseconds=20) for n in count())  # noqa: DTZ001 - only compared
    renewed = threading.Event()
    seen: set[int] = set()

    class Counted(GuardStore):
        def put_session(self, session: object, expected: int, now: datetime) -> object:  # type: ignore[override]
            seen.add(expected)
            if len(seen) > 3:
                renewed.set()
            return super().put_session(session, expected, now)  # type: ignore[arg-type]

    counted = Counted(MemoryRecords())
    held = Lease(counted, "s", "a", times.__next__, timedelta(milliseconds=30))
    with Heartbeat(held, timedelta(milliseconds=30)):
        assert renewed.wait(30)


def test_a_heartbeat_outlives_a_store_that_does_not_answer(clock: Clock) -> None:
    """The next beat may find it back."""
    beats: list[int] = []
    twice = threading.Event()

    class Faulty(GuardStore):
        def put_session(self, session: object, expected: int, now: datetime) -> object:  # type: ignore[override]
            if expected:
                beats.append(expected)
                if len(beats) > 1:
                    twice.set()
                raise StoreUnavailable("unavailable", "No.")
            return super().put_session(session, expected, now)  # type: ignore[arg-type]

    held = Lease(Faulty(MemoryRecords()), "s", "a", clock, MINUTE)
    with Heartbeat(held, timedelta(milliseconds=15)):
        assert twice.wait(30)


def test_a_write_whose_answer_was_lost_is_known_for_one_s_own(clock: Clock) -> None:
    """The store had kept it: the session is not lost, and the next write goes on from there."""

    class Forgetful(MemoryRecords):
        forgets = False

        def put(self, key: str, document: Any, **how: Any) -> None:
            super().put(key, document, **how)
            if self.forgets:
                self.forgets = False
                raise StoreUnavailable("unavailable", "The store did not answer.")

    records = Forgetful()
    held = lease(GuardStore(records), clock)
    records.forgets = True
    with pytest.raises(StoreUnavailable):
        held.update(lambda session: replace(session, pending=("x",)))

    held.update(lambda session: replace(session, pending=("y",)))

    assert GuardStore(records).session("s").session.pending == ("y",)
    held.release(lambda session: session)
