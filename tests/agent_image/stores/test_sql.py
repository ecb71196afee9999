"""What an SQL store forgets, and what it leaves open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor
from opentelemetry.instrumentation.sqlite3 import SQLite3Instrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.records import NEW, Conflict, StoreUnavailable
from agent_image.stores.sql import PURGE_EVERY, PURGE_LIMIT, SqlRecords
from agent_image.stores.text import moment_text

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
KEY = f"{Item.SESSION}abc"


@contextmanager
def opened(folder: Path, now: datetime | None = NOW) -> Iterator[SqlRecords]:
    records = SqlRecords(f"sqlite:///{folder / 'guard.db'}", None if now is None else lambda: now)
    try:
        yield records
    finally:
        records.close()


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def keys(folder: Path) -> list[str]:
    """Read the file behind the store's back."""
    with closing(sqlite3.connect(folder / "guard.db")) as file:
        return [key for (key,) in file.execute("SELECT key FROM records ORDER BY key")]


def test_the_first_write_forgets_what_may_be_forgotten(tmp_path: Path) -> None:
    """A process that lives for one invocation forgets too; what must stay, stays."""
    with opened(tmp_path, None) as records:
        records.put(f"{Item.SESSION}past", {}, expected=NEW, forget_at=NOW - SECOND)
        records.put(f"{Item.SESSION}present", {}, expected=NEW, forget_at=NOW)
        records.put(f"{Item.SESSION}future", {}, expected=NEW, forget_at=NOW + SECOND)
        records.put(f"{Item.DECISION}kept", {}, expected=NEW)

    with opened(tmp_path) as records:
        records.put(KEY, {}, expected=NEW)

    expected = [f"{Item.DECISION}kept", KEY, f"{Item.SESSION}future", f"{Item.SESSION}present"]
    assert keys(tmp_path) == expected


def test_forgetting_is_bounded_and_comes_again(tmp_path: Path) -> None:
    """No write waits for a year's sessions to go; the oldest go first."""
    more = 10
    with opened(tmp_path, None) as records:
        records.put(KEY, {}, expected=NEW)
    rows = (
        (f"{Item.OUTBOX}{number:04}", moment_text(NOW - (10_000 - number) * SECOND))
        for number in reversed(range(PURGE_LIMIT + more))
    )
    with closing(sqlite3.connect(tmp_path / "guard.db")) as file, file:
        file.executemany("INSERT INTO records VALUES (?, 'outbox#', 1, NULL, ?, '{}')", rows)

    with opened(tmp_path) as records:
        for version in range(1, PURGE_EVERY + 1):
            records.put(KEY, {}, expected=version)
        left = keys(tmp_path)
        records.put(KEY, {}, expected=PURGE_EVERY + 1)

    assert left == [f"{Item.OUTBOX}{number:04}" for number in range(PURGE_LIMIT, PURGE_LIMIT + more)] + [KEY]
    assert keys(tmp_path) == [KEY]


def test_the_record_that_is_being_written_may_be_one_that_was_to_go(tmp_path: Path) -> None:
    """A session that comes back after its time is a conflict for who read it, never half of one."""
    with opened(tmp_path, None) as records:
        records.put(KEY, {}, expected=NEW, forget_at=NOW - SECOND)

    with opened(tmp_path) as records:
        found = records.get(KEY)
        assert found is not None
        with pytest.raises(Conflict):
            records.put(KEY, {}, expected=found.version)
        records.put(KEY, {"n": 1}, expected=NEW)


def test_a_store_for_reading_makes_nothing_of_forgetting(tmp_path: Path) -> None:
    """Whoever only looks, deletes nothing."""
    with opened(tmp_path, None) as records:
        records.put(KEY, {}, expected=NEW, forget_at=NOW - SECOND)

    with opened(tmp_path) as records:
        assert records.get(KEY) is not None
        assert list(records.due(Item.SESSION, before=None, limit=5)) == []

    assert keys(tmp_path) == [KEY]


def test_a_record_that_is_no_json_hides_no_other_on_a_list(tmp_path: Path) -> None:
    """It is listed with an empty document; whoever reads it by its key is told."""
    with opened(tmp_path) as records:
        records.put(KEY, {}, expected=NEW, due=NOW)
        records.put(f"{KEY}2", {"n": 2}, expected=NEW, due=NOW)
        with closing(sqlite3.connect(tmp_path / "guard.db")) as database:
            database.execute("UPDATE records SET document = 'x' WHERE key = ?", (KEY,))
            database.commit()

        found = records.due(Item.SESSION, before=None, limit=5)

        assert [(record.key, record.document) for record in found] == [(KEY, {}), (f"{KEY}2", {"n": 2})]
        with pytest.raises(StoreError):
            records.get(KEY)


def test_many_threads_and_many_openings_leave_no_connection(tmp_path: Path) -> None:
    """Strands runs hooks in a new thread each time."""
    with opened(tmp_path) as records:
        records.put(KEY, {}, expected=NEW)

    before = open_files()
    with opened(tmp_path) as records:
        for _ in range(20):
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(records.get, [KEY] * 8))
        within = open_files()
    for _ in range(30):
        with opened(tmp_path) as records:
            records.get(KEY)

    # One connection: the file, its log, and its index in shared memory.
    assert within - before <= 3
    assert open_files() == before


def test_a_failed_opening_leaves_no_connection_and_is_tried_again(tmp_path: Path) -> None:
    """A store that was in the way of somebody else's at the start is there later."""
    path = tmp_path / "guard.db"
    path.write_text("no database\n" * 1_000)
    before = open_files()
    with opened(tmp_path) as records:
        for _ in range(10):
            with pytest.raises(StoreUnavailable):
                records.get(KEY)
        assert open_files() == before

        path.unlink()
        assert records.get(KEY) is None


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Trace databases, as ADOT does."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentors: list[Any] = [SQLAlchemyInstrumentor(), SQLite3Instrumentor()]
    for one in instrumentors:
        one.instrument(tracer_provider=provider)
    try:
        yield exporter
    finally:
        for one in instrumentors:
            one.uninstrument()
        provider.shutdown()


def test_the_store_s_own_calls_are_not_in_the_trail(spans: InMemorySpanExporter, tmp_path: Path) -> None:
    """The trail is paid for by the byte, and holds what the agent did for an answer."""
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.cursor().execute("SELECT 1")
    seen = len(spans.get_finished_spans())
    with opened(tmp_path) as records:
        records.put(KEY, {}, expected=NEW, due=NOW)
        records.get(KEY)
        records.due(Item.SESSION, before=NOW, limit=1)

    assert seen
    assert [span.name for span in spans.get_finished_spans()][seen:] == []
