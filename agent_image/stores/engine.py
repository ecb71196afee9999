"""Open SQL databases: what SQLite and PostgreSQL have to be told, and what their errors mean."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from agent_image.retrieval.failure import Failure
from agent_image.stores.refusal import DAMAGED, FOREIGN, FULL

FORMS: Final = ("sqlite:///<absolute path>", "postgresql://<user>@<host>/<database>")
"""URLs of databases, as a person reads them."""
SECONDS: Final = 5
"""How long a statement may wait for another writer, and how long it may take."""
CONNECTIONS: Final = 8
"""Connections to PostgreSQL that one process holds at most."""

_WAL: Final = "PRAGMA journal_mode = WAL"
_DURABLE: Final = "PRAGMA synchronous = FULL"
# Each statement is its own transaction: what is returned to the pool has nothing to roll back.
_COMMON: Final[dict[str, Any]] = {
    "isolation_level": "AUTOCOMMIT",
    "pool_reset_on_return": None,
    "skip_autocommit_rollback": True,
    "hide_parameters": True,
    "max_overflow": 0,
}
_SQLITE_CODES: Final = {
    sqlite3.SQLITE_BUSY: Failure.THROTTLED,
    sqlite3.SQLITE_LOCKED: Failure.THROTTLED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_PERM: Failure.ACCESS_DENIED,
    sqlite3.SQLITE_READONLY: Failure.ACCESS_DENIED,
    sqlite3.SQLITE_AUTH: Failure.ACCESS_DENIED,
    sqlite3.SQLITE_NOTADB: FOREIGN,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
}
_ERRNOS: Final = {
    errno.EACCES: Failure.ACCESS_DENIED,
    errno.EPERM: Failure.ACCESS_DENIED,
    errno.EROFS: Failure.ACCESS_DENIED,
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
}
# The classes of SQLSTATE: 28 a refused login, 42501 a missing right, 53 no room or no connection left.
_SQLSTATES: Final = {
    "28": Failure.ACCESS_DENIED,
    "42501": Failure.ACCESS_DENIED,
    "53100": FULL,
    "53": Failure.THROTTLED,
    "55P03": Failure.THROTTLED,
    "57014": Failure.THROTTLED,
}


def engine_at(url: str, seconds: int = SECONDS) -> Engine:
    """Prepare a database; nothing is opened yet.

    Raises:
        ValueError: the URL has none of the forms; the message holds nothing of it, for it may hold a password.
    """
    scheme = url.partition(":")[0]
    if scheme == "sqlite" and url.startswith("sqlite:///"):
        path = Path(unquote(url.removeprefix("sqlite:///")))
        if path.is_absolute() and path.name:
            return _sqlite(path, seconds)
    if scheme == "postgresql":
        try:
            return _postgresql(make_url(url), seconds)
        except (ArgumentError, ValueError):
            pass
    message = f"allowed: {' or '.join(FORMS)}"
    raise ValueError(message)


def failure(error: Exception) -> str:
    """Name why a statement failed, or the making of a file: one of Failure, or a code of the refusals."""
    if isinstance(error, OSError):
        return _ERRNOS.get(error.errno or 0, Failure.UNAVAILABLE)
    if isinstance(error, NoConnection):
        return Failure.THROTTLED
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        return _SQLITE_CODES.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF, Failure.UNAVAILABLE)
    state = getattr(cause, "sqlstate", None) or ""
    return _SQLSTATES.get(state, _SQLSTATES.get(state[:2], Failure.UNAVAILABLE))


def _sqlite(path: Path, seconds: int) -> Engine:
    # One connection, one statement at a time: SQLite has one writer, and threads that wait here wait in a fair queue.
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=1,
        pool_timeout=seconds,
        connect_args={"timeout": seconds},
        **_COMMON,
    )

    @event.listens_for(engine, "do_connect")
    def make(*_: object) -> None:
        if not path.exists():
            _make(path)

    @event.listens_for(engine, "connect")
    def tell(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(_WAL)
        connection.execute(_DURABLE)

    return engine


def _make(path: Path) -> None:
    """Make an empty database for its owner alone, whole or not at all, and never over another.

    Two that switch one file to WAL at the same time would fail, so the file has it before it has its name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    os.close(file)
    whole = Path(name)
    try:
        with closing(sqlite3.connect(whole, isolation_level=None)) as connection:
            connection.execute(_WAL)
        with suppress(FileExistsError):
            path.hardlink_to(whole)
    finally:
        whole.unlink()
    # What is written next must not lie in a file that a power cut takes the name from.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _postgresql(url: URL, seconds: int) -> Engine:
    return create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=CONNECTIONS,
        pool_timeout=seconds,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": seconds,
            "tcp_user_timeout": seconds * 1000,
            "options": f"-c statement_timeout={seconds}s -c synchronous_commit=on",
        },
        **_COMMON,
    )
