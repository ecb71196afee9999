"""A store that cannot do what was asked says so by one type of error, in words of its own, on every method."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.records import NEW, Conflict, Records, StoreUnavailable
from agent_image.stores.dynamodb import DynamoRecords
from agent_image.stores.large import LargeState
from agent_image.stores.memory import MemoryRecords
from agent_image.stores.refusal import FOREIGN
from agent_image.stores.sql import SqlRecords
from tests.conformance.place import Place, in_dynamodb, in_postgresql, in_sqlite
from tests.loopback.agent_process import free_port
from tests.loopback.postgres import Postgres
from tests.loopback.table import client_at

KEY = f"{Item.SESSION}abc"
CANARY = "CANARY"


def put(records: Records) -> None:
    records.put(KEY, {"said": CANARY}, expected=NEW)


METHODS: dict[str, Callable[[Records], object]] = {
    "get": lambda records: records.get(KEY),
    "put": put,
    "change": lambda records: records.put(KEY, {"said": CANARY}, expected=3),
    "long": lambda records: records.put(KEY, {"said": CANARY * 100_000}, expected=NEW),
    "due": lambda records: records.due(Item.CHECKPOINT, before=None, limit=3),
}


def said(error: StoreError) -> str:
    """Give all that a log could hold of an error, what came before it included."""
    assert error.__cause__ is None
    assert error.__suppress_context__
    return f"{error!r} {error.message} {error.__context__!r} {error.__context__}"


def no_database(folder: Path) -> Records:
    (folder / "guard.db").write_text("this is no database\n" * 500)
    return SqlRecords(f"sqlite:///{folder / 'guard.db'}")


def no_folder(folder: Path) -> Records:
    (folder / "file").touch()
    return SqlRecords(f"sqlite:///{folder / 'file' / 'guard.db'}")


def no_server(_: Path) -> Records:
    return SqlRecords(f"postgresql://nobody:{CANARY}@127.0.0.1:{free_port()}/rastro", patience_seconds=2)


def no_table(_: Path) -> Records:
    url = f"http://127.0.0.1:{free_port()}"
    return DynamoRecords("t", client_at(url, "dynamodb"), LargeState("b", client_at(url, "s3")), pause=lambda _: None)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("broken", [no_database, no_folder, no_server, no_table])
def test_every_method_says_that_the_store_cannot_be_used(
    broken: Callable[[Path], Records], method: Callable[[Records], object], tmp_path: Path
) -> None:
    """The guard refuses red calls on this error, and the message may be shown: it holds no document and no password."""
    records = broken(tmp_path)
    with pytest.raises(StoreUnavailable) as failed:
        method(records)
    records.close()

    assert failed.value.code == (FOREIGN if broken is no_database else "unavailable")
    assert CANARY not in said(failed.value)


def test_a_server_that_comes_back_is_used_again(server: Postgres) -> None:
    """What was written is there, and whoever asked in between was told."""
    with in_postgresql(server).opened() as records:
        put(records)
        server.stop()
        try:
            for method in METHODS.values():
                with pytest.raises(StoreUnavailable):
                    method(records)
        finally:
            server.start()

        found = records.get(KEY)
        assert found is not None
        records.put(KEY, {"n": 2}, expected=found.version)


def test_a_server_that_was_away_for_a_moment_is_not_noticed(server: Postgres) -> None:
    """Connections of before are dead: the store finds out by itself, before it sends a statement on one."""
    with in_postgresql(server).opened() as records:
        put(records)
        server.stop()
        server.start()

        records.put(KEY, {"n": 2}, expected=1)


@pytest.fixture
def locked(tmp_path: Path) -> Place:
    """Hold a SQLite store that another process has been writing to for too long."""
    url = f"sqlite:///{tmp_path / 'guard.db'}"
    return Place(lambda: SqlRecords(url, patience_seconds=0), url)


def test_a_locked_database_is_busy_and_then_free_again(locked: Place, tmp_path: Path) -> None:
    """`database is locked` is no reason to think that anything was written; reading goes on."""
    with locked.opened() as records, closing(sqlite3.connect(tmp_path / "guard.db", isolation_level=None)) as other:
        put(records)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable) as failed:
            records.put(KEY, {"said": CANARY}, expected=1)
        found = records.get(KEY)
        other.execute("ROLLBACK")

        assert failed.value.code == "throttled"
        assert CANARY not in said(failed.value)
        assert found is not None
        assert found.version == 1
        records.put(KEY, {"n": 2}, expected=1)


@pytest.fixture
def small_disk() -> Iterator[None]:
    """Let files of SQLite have twelve pages and no more: what SQLite answers is what it answers on a full disk."""

    def limit(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 12")

    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)


@pytest.mark.usefixtures("small_disk")
def test_a_full_disk_is_said_and_does_no_harm(tmp_path: Path) -> None:
    """What was not written leaves nothing behind, and smaller writes go on."""
    with in_sqlite(tmp_path).opened() as records:
        put(records)
        with pytest.raises(StoreUnavailable) as failed:
            records.put(KEY, {"said": "x" * 200_000}, expected=1)

        found = records.get(KEY)
        assert failed.value.code == "full"
        assert found is not None
        assert found.document == {"said": CANARY}
        records.put(KEY, {"n": 2}, expected=1)


def test_a_memory_without_room_is_full() -> None:
    """What must not be forgotten is never dropped for what is new."""
    records = MemoryRecords(room=10_000)
    put(records)
    with pytest.raises(StoreUnavailable) as failed:
        records.put(f"{Item.SESSION}long", {"said": "x" * 10_000}, expected=NEW)

    assert failed.value.code == "full"
    assert records.get(f"{Item.SESSION}long") is None
    assert records.get(KEY) is not None
    with pytest.raises(Conflict):
        put(records)


def test_a_table_that_is_missing_is_said(aws: str) -> None:
    """A name that was mistyped is not a network that is down."""
    place = in_dynamodb(aws)
    with place.opened():
        missing = DynamoRecords("missing", client_at(aws, "dynamodb"), None, pause=lambda _: None)
        with pytest.raises(StoreError) as failed:
            missing.get(KEY)

    assert failed.value.code == "not_found"
