"""Steps of the schema are numbered, taken once, all or none, and never by older code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import SQLAlchemyError

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.records import StoreUnavailable
from agent_image.stores.engine import engine_at
from agent_image.stores.refusal import FOREIGN
from agent_image.stores.schema import RECORDS, STEPS, migrate
from agent_image.stores.sql import SqlRecords

NEXT = ("ALTER TABLE records ADD COLUMN colour TEXT", "CREATE TABLE extra (x TEXT)")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    engine = engine_at(f"sqlite:///{tmp_path / 'guard.db'}")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def taken(connection: Connection) -> list[int]:
    return list(connection.exec_driver_sql("SELECT version FROM schema_version ORDER BY version").scalars())


def test_the_steps_make_the_table_that_the_code_reads(connection: Connection) -> None:
    """Names and order of the columns are said twice, and mean one thing."""
    migrate(connection)

    assert [column["name"] for column in inspect(connection).get_columns("records")] == [one.name for one in RECORDS.c]


def test_a_step_is_taken_once(connection: Connection) -> None:
    """Opening again changes nothing."""
    migrate(connection)
    migrate(connection)

    assert taken(connection) == [1]


def test_a_later_step_keeps_what_is_there(connection: Connection) -> None:
    """A store of an earlier version is brought up to date as it is opened."""
    migrate(connection)
    connection.exec_driver_sql("INSERT INTO records VALUES ('session#1', 'session#', 3, NULL, NULL, '{}')")

    migrate(connection, (*STEPS, NEXT))

    assert taken(connection) == [1, 2]
    assert connection.exec_driver_sql("SELECT key, version, colour FROM records").all() == [("session#1", 3, None)]


def test_a_step_that_fails_leaves_nothing(connection: Connection) -> None:
    """All of what was missing, or none of it."""
    migrate(connection)
    with pytest.raises(SQLAlchemyError):
        migrate(connection, (*STEPS, (*NEXT, "CREATE TABLE extra (x TEXT)")))

    assert taken(connection) == [1]
    assert not inspect(connection).has_table("extra")
    migrate(connection, (*STEPS, NEXT))
    assert taken(connection) == [1, 2]


def test_another_program_s_tables_are_left_alone(connection: Connection, tmp_path: Path) -> None:
    """A table that happens to have our name is not taken for ours, and nothing is added beside it."""
    connection.exec_driver_sql("CREATE TABLE records (song TEXT)")

    records = SqlRecords(f"sqlite:///{tmp_path / 'guard.db'}")
    with pytest.raises(StoreError) as refused:
        records.get(f"{Item.CHECKPOINT}1")
    records.close()

    assert refused.value.code == FOREIGN
    assert inspect(connection).get_table_names() == ["records"]


def test_older_code_refuses_a_newer_store(connection: Connection, tmp_path: Path) -> None:
    """It would write what newer code cannot rely on; trying again does not help, so the error is of another type."""
    migrate(connection, (*STEPS, NEXT))

    records = SqlRecords(f"sqlite:///{tmp_path / 'guard.db'}")
    with pytest.raises(StoreError) as refused:
        records.due(Item.CHECKPOINT, before=None, limit=1)
    records.close()

    assert refused.value.code == "store_newer"
    assert not isinstance(refused.value, StoreUnavailable)
    assert taken(connection) == [1, 2]
