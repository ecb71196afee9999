"""Declare the tables of an SQL store, and bring a database to them: numbered steps, each taken once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, Table, Text, func, insert, inspect, select

from agent_image.errors import StoreError
from agent_image.stores.refusal import FOREIGN, refusal

_METADATA: Final = MetaData()
VERSIONS: Final = Table("schema_version", _METADATA, Column("version", Integer, primary_key=True, autoincrement=False))
"""Says which steps were taken."""
RECORDS: Final = Table(
    "records",
    _METADATA,
    Column("key", Text, primary_key=True),
    Column("item", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("due", Text),
    Column("forget_at", Text),
    Column("document", Text, nullable=False),
)
"""Holds the records, as the newest step leaves it. Documents come last: SQLite reads a row from its left."""

Step = tuple[str, ...]
"""The statements of one step, which every database understands."""

STEPS: Final[tuple[Step, ...]] = (
    (
        """CREATE TABLE records (
            key TEXT PRIMARY KEY, item TEXT NOT NULL, version BIGINT NOT NULL, due TEXT, forget_at TEXT,
            document TEXT NOT NULL
        )""",
        "CREATE INDEX records_open ON records (item, due) WHERE due IS NOT NULL",
        "CREATE INDEX records_forgettable ON records (forget_at) WHERE forget_at IS NOT NULL",
    ),
)
"""What was released never changes; what is new is another step."""

# Processes that start at once take turns: SQLite by its write lock, PostgreSQL by a lock of this number.
_BEGIN: Final = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "BEGIN"}
_TAKE_TURNS: Final = {"sqlite": "SELECT 1", "postgresql": "SELECT pg_advisory_xact_lock(7274)"}


def migrate(connection: Connection, steps: Sequence[Step] = STEPS) -> None:
    """Take the steps that are missing, all of them or none, on a connection that commits each statement by itself.

    Raises:
        StoreError: the database was written by newer code, or by another program.
    """
    if _taken(connection) == len(steps):
        return
    dialect = connection.dialect.name
    connection.exec_driver_sql(_BEGIN[dialect])
    try:
        connection.exec_driver_sql(_TAKE_TURNS[dialect])
        _take(connection, steps)
    except BaseException:
        connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")


def _take(connection: Connection, steps: Sequence[Step]) -> None:
    taken = _taken(connection)
    if taken > len(steps):
        raise StoreError("store_newer", "The guard's store was written by a newer version of this program.")
    if not taken and inspect(connection).has_table(RECORDS.name):
        # A step leaves all of its tables with its number, or nothing: these are not ours.
        raise refusal(FOREIGN)
    VERSIONS.create(connection, checkfirst=True)
    for number, step in enumerate(steps[taken:], taken + 1):
        for statement in step:
            connection.exec_driver_sql(statement)
        connection.execute(insert(VERSIONS), {"version": number})


def _taken(connection: Connection) -> int:
    if not inspect(connection).has_table(VERSIONS.name):
        return 0
    return connection.execute(select(func.max(VERSIONS.c.version))).scalar() or 0
