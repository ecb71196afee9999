"""Processes that find PostgreSQL without tables make them one after another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Connection, insert

from agent_image.stores.engine import engine_at
from agent_image.stores.schema import STEPS, VERSIONS, migrate
from tests.loopback.postgres import Postgres

WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
TAKEN = "SELECT version FROM schema_version"


def test_whoever_comes_second_waits_and_finds_the_work_done(server: Postgres) -> None:
    """The first one stands still in the middle of its steps until the other is seen to wait."""
    engine = engine_at(server.emptied())

    def second() -> list[int]:
        with engine.connect() as connection:
            migrate(connection)
            return list(connection.exec_driver_sql(TAKEN).scalars())

    with engine.connect() as first, engine.connect() as watch, ThreadPoolExecutor(1) as pool:
        begin_as_the_first(first)
        other = pool.submit(second)
        while not watch.exec_driver_sql(WAITING).scalar() and not other.done():
            pass
        waited = not other.done()
        finish_as_the_first(first)

        assert waited
        assert other.result() == list(range(1, len(STEPS) + 1))
    engine.dispose()


def begin_as_the_first(connection: Connection) -> None:
    for statement in ("BEGIN", "SELECT pg_advisory_xact_lock(7274)", "CREATE TABLE schema_version (version INTEGER)"):
        connection.exec_driver_sql(statement)


def finish_as_the_first(connection: Connection) -> None:
    for number, step in enumerate(STEPS, 1):
        for statement in step:
            connection.exec_driver_sql(statement)
        connection.execute(insert(VERSIONS), {"version": number})
    connection.exec_driver_sql("COMMIT")
