"""Of those who write over one version, one wins: threads of a process, and processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from threading import Barrier
from typing import TypeVar

from agent_image.contract import Item
from agent_image.guard.records import NEW, Conflict, Records
from tests.conformance.place import Place
from tests.conformance.processes import workers

KEY = f"{Item.CHECKPOINT}abc"
THREADS = 8
ROUNDS = 25
PROCESSES = 6

T = TypeVar("T")


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    barrier = Barrier(len(calls))

    def wait(call: Callable[[], T]) -> T:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(wait, calls))


def writer(records: Records, number: int, expected: int) -> Callable[[], bool]:
    def write() -> bool:
        try:
            records.put(KEY, {"by": number}, expected=expected)
        except Conflict:
            return False
        return True

    return write


def test_of_threads_that_write_over_one_version_one_wins(place: Place) -> None:
    """The first version is raced for like every other, through one handle and through several."""
    with place.opened() as one, place.opened() as another:
        for expected in range(NEW, ROUNDS):
            won = at_once([writer(one if number % 2 else another, number, expected) for number in range(THREADS)])

            found = one.get(KEY)
            assert sum(won) == 1
            assert found is not None
            assert (found.version, found.document) == (expected + 1, {"by": won.index(True)})


def test_no_write_of_many_threads_is_lost(place: Place) -> None:
    """Each reads, counts and writes, and tries again where another came first."""
    with place.opened() as records:
        records.put(KEY, {"count": 0}, expected=NEW)

        def count() -> None:
            while True:
                found = records.get(KEY)
                assert found is not None
                try:
                    records.put(KEY, {"count": found.document["count"] + 1}, expected=found.version)
                except Conflict:
                    continue
                return

        at_once([count] * THREADS)

        found = records.get(KEY)
        assert found is not None
        assert (found.version, found.document) == (THREADS + 1, {"count": THREADS})


def test_of_processes_that_write_over_one_version_one_wins(shared: Place) -> None:
    """Sixteen resume one checkpoint: here fewer, and more often."""
    with workers(shared, PROCESSES) as writers, shared.opened() as records:
        assert {worker.heard() for worker in writers} == {"ready"}
        for expected in range(NEW, ROUNDS):
            for number, worker in enumerate(writers):
                worker.order(do="put", key=KEY, document={"by": number}, expected=expected)
            ends = [worker.heard() for worker in writers]

            found = records.get(KEY)
            assert sorted(ends) == ["conflict"] * (PROCESSES - 1) + ["written"]
            assert found is not None
            assert (found.version, found.document) == (expected + 1, {"by": ends.index("written")})


def test_threads_that_open_a_new_store_at_once_all_write(shared: Place) -> None:
    """Each with a handle of its own, so that their openings meet more closely than processes' do."""
    with ExitStack() as stack:
        handles = [stack.enter_context(shared.opened()) for _ in range(THREADS)]
        keys = [f"{KEY}{number}" for number in range(THREADS)]

        at_once([partial(handle.put, key, {}, expected=NEW) for handle, key in zip(handles, keys, strict=True)])

        assert all(handle.get(key) for handle in handles for key in keys)


def test_processes_that_open_a_new_store_at_once_all_write(shared: Place) -> None:
    """Whoever comes first makes the tables, and nobody is told that the store is busy."""
    number = 16
    with workers(shared, number) as writers, shared.opened() as records:
        assert {worker.heard() for worker in writers} == {"ready"}
        for one, worker in enumerate(writers):
            worker.order(do="put", key=f"{KEY}{one}", document={"by": one}, expected=NEW)

        assert [worker.heard() for worker in writers] == ["written"] * number
        assert [record.document for one in range(number) if (record := records.get(f"{KEY}{one}"))] == [
            {"by": one} for one in range(number)
        ]
