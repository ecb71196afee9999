"""Open the store that the settings name: a URL's scheme decides what stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from agent_image.guard.records import Records
from agent_image.stores.memory import MemoryRecords

FORMS: Final = (
    "sqlite:///<absolute path>",
    "postgresql://<user>@<host>/<database>",
    "dynamodb://<table>",
)
"""What a store's URL looks like, as a person reads it."""


def records_at(store: str | None, region: str | None, *, large: str | None = None) -> Records:
    """Open a store; without a URL, one that ends with the process.

    Args:
        store: its URL.
        region: the AWS Region of a table.
        large: `s3://<bucket>`, where a table's documents go that are too long for an item.

    Raises:
        ValueError: the URL has none of the forms. The message holds nothing of it, for it may hold a password.
    """
    if store is None:
        return MemoryRecords()
    scheme = store.partition("://")[0]
    if scheme not in _STORES:
        message = f"allowed: {' or '.join(FORMS)}"
        raise ValueError(message)
    return _STORES[scheme](store, region, large)


def _sql(store: str, region: str | None, large: str | None) -> Records:
    from agent_image.stores.sql import SqlRecords  # noqa: PLC0415 - SQLAlchemy takes a third of a second to import

    del region, large
    return SqlRecords(store, lambda: datetime.now(UTC))


_STORES: Final[Mapping[str, Callable[[str, str | None, str | None], Records]]] = MappingProxyType(
    {"sqlite": _sql, "postgresql": _sql}
)
