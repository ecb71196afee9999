"""Hold passages in SQLite's FTS5 and rank them by BM25: one file, or memory, for all threads of a process."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Final

IN_MEMORY: Final = ":memory:"
LAYOUT: Final = "1"
"""Goes into the version of an index: another layout or tokenizer is another index."""
BUSY_SECONDS: Final = 5.0
"""How long a retrieval waits while another process fills the file."""

_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS rastro_index (version TEXT NOT NULL)",
    """CREATE VIRTUAL TABLE IF NOT EXISTS rastro_passages
    USING fts5(text, path UNINDEXED, position UNINDEXED, tokenize = 'unicode61 remove_diacritics 2')""",
)
# SQLite's bm25 is the negated formula, so that the best comes first; ties break by place, never by chance.
_SEARCH: Final = (
    "SELECT path, position, text, -bm25(rastro_passages) FROM rastro_passages WHERE rastro_passages MATCH ? "
    "ORDER BY bm25(rastro_passages), path, position LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one passage of an index: its document's path, its place among the document's passages, its text."""

    path: str
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """Hold a passage that was found, and its BM25 score: above 0, the higher the better."""

    row: Row
    score: float


class FullTextIndex:
    """Hold the passages of one version.

    Every method raises `sqlite3.Error` where the file cannot be used.
    """

    def __init__(self, file: str, busy_seconds: float = BUSY_SECONDS) -> None:
        """Open an index, by its path or in memory; a file that is not there is made."""
        self._lock = Lock()
        self._connection = sqlite3.connect(file, timeout=busy_seconds, isolation_level=None, check_same_thread=False)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def search(self, version: str, query: str | None, limit: int) -> list[Hit] | None:
        """Find the best passages for an FTS5 query; None where the index is not of this version."""
        with self._transaction("DEFERRED"):
            if self._version() != version:
                return None
            found = self._connection.execute(_SEARCH, (query, limit)) if query is not None else ()
            return [Hit(Row(path, position, text), score) for path, position, text, score in found]

    def fill(self, version: str, rows: Iterable[Row]) -> None:
        """Replace the passages, all or none of them."""
        with self._transaction("IMMEDIATE"):
            for statement in (*_TABLES, "DELETE FROM rastro_index", "DELETE FROM rastro_passages"):
                self._connection.execute(statement)
            self._connection.executemany(
                "INSERT INTO rastro_passages (text, path, position) VALUES (?, ?, ?)",
                ((row.text, row.path, row.position) for row in rows),
            )
            self._connection.execute("INSERT INTO rastro_index VALUES (?)", (version,))

    def _version(self) -> str | None:
        made = self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'rastro_index'").fetchone()
        found = self._connection.execute("SELECT version FROM rastro_index").fetchone() if made else None
        return found and str(found[0])

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        with self._lock:
            self._connection.execute(f"BEGIN {kind}")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
