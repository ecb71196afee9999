"""Keep records in an SQL database, SQLite or PostgreSQL: each write is one statement, and its row count decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, Final

from opentelemetry.instrumentation.utils import suppress_instrumentation
from sqlalchemy import Connection, Engine, Select, Update, and_, bindparam, delete, insert, select, update
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.moments import Clock
from agent_image.guard.records import NEW, Conflict, Document, Record, StoreUnavailable
from agent_image.stores.engine import SECONDS, engine_at, failure
from agent_image.stores.refusal import refusal
from agent_image.stores.schema import RECORDS, migrate
from agent_image.stores.text import document_of, document_text, is_key, item_of, moment_of, moment_text

PURGE_LIMIT: Final = 500
"""Records that one purge forgets at most."""
PURGE_EVERY: Final = 500
"""Writes from one purge to the next; the first comes with the first write."""

_ROW: Final = RECORDS.c
_GET: Final = select(_ROW.key, _ROW.version, _ROW.document, _ROW.due).where(_ROW.key == bindparam("at"))
_INSERT: Final = insert(RECORDS)
_UPDATE: Final = (
    update(RECORDS)
    .where(_ROW.key == bindparam("at"), _ROW.version == bindparam("expected"))
    .values({name: bindparam(name) for name in ("version", "due", "forget_at", "document")})
)
# What stands in an index is written only where it changes: it costs a page.
_REWRITE: Final = (
    update(RECORDS)
    .where(
        _ROW.key == bindparam("at"),
        _ROW.version == bindparam("expected"),
        _ROW.due.is_not_distinct_from(bindparam("due")),
        _ROW.forget_at.is_not_distinct_from(bindparam("forget_at")),
    )
    .values({name: bindparam(name) for name in ("version", "document")})
)
_LISTED: Final = (
    select(_ROW.key, _ROW.version, _ROW.document, _ROW.due)
    .where(_ROW.item == bindparam("item"), _ROW.due.is_not(None))
    .order_by(_ROW.due, _ROW.key)
    .limit(bindparam("limit"))
)
_DUE: Final = _LISTED.where(_ROW.due <= bindparam("before"))
# The outer condition is asked again of a row that somebody writes at this moment.
_FORGOTTEN: Final = _ROW.forget_at < bindparam("now")
_PURGE: Final = delete(RECORDS).where(
    and_(
        _ROW.key.in_(select(_ROW.key).where(_FORGOTTEN).order_by(_ROW.forget_at).limit(bindparam("limit"))), _FORGOTTEN
    )
)


@dataclass(frozen=True, slots=True)
class _Written:
    """Hold a statement as the driver takes it: what runs with every call is written once, not each time.

    Attributes:
        order: the names of the values, where the driver takes them by their places.
    """

    text: str
    order: Sequence[str] | None

    @classmethod
    def of(cls, statement: Select[Any] | Update, engine: Engine) -> _Written:
        compiled = statement.compile(engine)
        return cls(str(compiled), getattr(compiled, "positiontup", None))

    def run(self, cursor: DBAPICursor, values: Mapping[str, Any]) -> None:
        cursor.execute(self.text, values if self.order is None else [values[name] for name in self.order])


class SqlRecords:
    """Hold records in one database, for all threads of a process; it is opened, and made, when it is first used."""

    def __init__(self, url: str, clock: Clock | None = None, patience_seconds: int = SECONDS) -> None:
        """Take the database's URL, what tells the time, and how long to wait; without a clock nothing is forgotten.

        Raises:
            ValueError: the URL has none of the allowed forms.
        """
        self._engine = engine_at(url, patience_seconds)
        self._get, *self._updates = (_Written.of(one, self._engine) for one in (_GET, _REWRITE, _UPDATE))
        self._clock = clock
        self._opening = Lock()
        self._open = False
        self._writes = 0

    def get(self, key: str) -> Record | None:
        """Read a record."""
        if not is_key(key):
            return None
        with self._cursor() as cursor:
            self._get.run(cursor, {"at": key})
            row = cursor.fetchone()
        return None if row is None else _record(*row)

    def put(
        self,
        key: str,
        document: Document,
        *,
        expected: int,
        due: datetime | None = None,
        forget_at: datetime | None = None,
    ) -> None:
        """Write a record, if its version is the expected one."""
        row = {
            "version": expected + 1,
            "due": None if due is None else moment_text(due),
            "forget_at": None if forget_at is None else moment_text(forget_at),
            "document": document_text(document),
        }
        item = item_of(key)
        self._purge()
        if expected == NEW:
            with self._connected() as connection:
                _insert(connection, {"key": key, "item": item, **row})
            return
        with self._cursor() as cursor:
            for one in self._updates:
                one.run(cursor, {"at": key, "expected": expected, **row})
                if cursor.rowcount == 1:
                    return
            raise Conflict

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        """List what is due."""
        asked = {"item": item.value, "limit": limit}
        with self._connected() as connection:
            if before is None:
                rows = connection.execute(_LISTED, asked).all()
            else:
                rows = connection.execute(_DUE, {**asked, "before": moment_text(before)}).all()
        return [_listed(*row) for row in rows]

    def close(self) -> None:
        """Close the connections that nobody uses."""
        self._engine.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        try:
            # The trail holds what the agent did for an answer, not how the guard remembers it.
            with suppress_instrumentation(), self._engine.connect() as connection:
                if not self._open:
                    with self._opening:
                        migrate(connection)
                        self._open = True
                yield connection
        except (SQLAlchemyError, OSError) as error:
            raise refusal(failure(error)) from None

    @contextmanager
    def _cursor(self) -> Iterator[DBAPICursor]:
        """Give what runs a written statement, on a connection of the same pool."""
        if not self._open:
            with self._connected():
                pass
        try:
            with (
                suppress_instrumentation(),
                closing(self._engine.raw_connection()) as connection,
                closing(connection.cursor()) as cursor,
            ):
                yield cursor
        except (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error, OSError) as error:
            raise refusal(failure(error)) from None

    def _purge(self) -> None:
        """Forget a bounded number of records, now and then; whoever writes is not to suffer where that fails."""
        if self._clock is not None and self._writes % PURGE_EVERY == 0:
            with suppress(StoreUnavailable), self._connected() as connection:
                connection.execute(_PURGE, {"now": moment_text(self._clock()), "limit": PURGE_LIMIT})
        self._writes += 1


def _insert(connection: Connection, row: dict[str, object]) -> None:
    try:
        connection.execute(_INSERT, row)
    except IntegrityError:
        raise Conflict from None


def _record(key: str, version: int, document: str, due: str | None) -> Record:
    return Record(key, version, document_of(document), None if due is None else moment_of(due))


def _listed(key: str, version: int, document: str, due: str | None) -> Record:
    """Read a record of a list: one that cannot be read must not hide the others."""
    try:
        return _record(key, version, document, due)
    except StoreError:
        return _record(key, version, "{}", due)
