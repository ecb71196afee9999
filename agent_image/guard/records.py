"""Hold versioned records: the one port between the guard and its stores.

A record is a JSON object under a key, with a version that counts its writes. It changes by compare-and-set alone: who
writes says which version was read, and loses if another came first. Nothing here spans two records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from agent_image.contract import Item
from agent_image.errors import StoreError

NEW: Final = 0
"""The version of a record that is not there yet."""

Document = Mapping[str, Any]
"""A JSON object: text, whole numbers, true, false, null, lists and objects. No floats: money and time are text."""


class Conflict(Exception):  # noqa: N818 - it is an answer, not a fault
    """Say that a record is not at the version that the writer had read."""


class StoreUnavailable(StoreError):  # noqa: N818 - it names what happened
    """Say that a store did not answer, or not in time; what was asked for may or may not have happened."""


@dataclass(frozen=True, slots=True)
class Record:
    """Hold what lies under a key.

    Attributes:
        key: an item's prefix and an id.
        version: 1 for the first write, and one more for each that follows.
        document: the record itself.
        due: when somebody should look at it, in UTC; None for a record that nobody waits for.
    """

    key: str
    version: int
    document: Document
    due: datetime | None = None


class Records(Protocol):
    """Keep records. Every method may raise StoreUnavailable, and nothing else but what it says."""

    def get(self, key: str) -> Record | None:
        """Read a record as the last write left it; None where there is none."""
        ...

    def put(
        self,
        key: str,
        document: Document,
        *,
        expected: int,
        due: datetime | None = None,
        forget_at: datetime | None = None,
    ) -> None:
        """Write a record, durably, if its version is `expected` (NEW: if there is none).

        `due` puts it on the list of its prefix, `forget_at` lets the store drop it from then on.

        Raises:
            Conflict: the record has another version; nothing was written.
        """
        ...

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        """List records of a prefix that are due, the most urgent first; all that are listed where `before` is None.

        A store may be some moments behind here; what is listed is as the last write left it. A record that cannot be
        read is listed with an empty document: it hides no other, and whoever reads it by its key is told why.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
