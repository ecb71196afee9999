"""Keep records in this process: for tests, and for an agent whose sessions may end with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Final

from agent_image.contract import Item
from agent_image.guard.records import NEW, Conflict, Document, Record
from agent_image.stores.refusal import FULL, refusal
from agent_image.stores.text import document_of, document_text, item_of

ROOM: Final = 256_000_000
"""Characters of all records together."""
_LEFT: Final = 0.9
_OVERHEAD: Final = 500


@dataclass(frozen=True, slots=True)
class _Kept:
    version: int
    text: str
    due: datetime | None
    forget_at: datetime | None

    @property
    def size(self) -> int:
        return len(self.text) + _OVERHEAD


class MemoryRecords:
    """Hold records for all threads of a process.

    Where they outgrow the room, those that may be forgotten go, the soonest first, and before their time.
    """

    def __init__(self, room: int = ROOM) -> None:
        """Take the room, in characters."""
        self._room = room
        self._size = 0
        self._kept: dict[str, _Kept] = {}
        self._waiting: dict[str, datetime] = {}
        self._lock = Lock()

    def get(self, key: str) -> Record | None:
        """Read a record."""
        with self._lock:
            kept = self._kept.get(key)
        return None if kept is None else _record(key, kept)

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
        item_of(key)
        kept = _Kept(expected + 1, document_text(document), due, forget_at)
        with self._lock:
            before = self._kept.get(key)
            if (NEW if before is None else before.version) != expected:
                raise Conflict
            self._make_room(key, kept.size - (0 if before is None else before.size))
            self._drop(key)
            self._kept[key] = kept
            self._size += kept.size
            if due is not None:
                self._waiting[key] = due

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        """List what is due."""
        with self._lock:
            found = sorted(
                (due, key)
                for key, due in self._waiting.items()
                if key.startswith(item) and (before is None or due <= before)
            )[:limit]
            listed = [(key, self._kept[key]) for _, key in found]
        return [_record(key, kept) for key, kept in listed]

    def close(self) -> None:
        """Keep what is there: there are no connections."""

    def _make_room(self, writing: str, more: int) -> None:
        if self._size + more <= self._room:
            return
        forgettable = sorted(
            (kept.forget_at, key) for key, kept in self._kept.items() if kept.forget_at is not None and key != writing
        )
        for _, key in forgettable:
            if self._size + more <= self._room * _LEFT:
                break
            self._drop(key)
        if self._size + more > self._room:
            raise refusal(FULL)

    def _drop(self, key: str) -> None:
        if (kept := self._kept.pop(key, None)) is not None:
            self._size -= kept.size
        self._waiting.pop(key, None)


def _record(key: str, kept: _Kept) -> Record:
    return Record(key, kept.version, document_of(kept.text), kept.due)
