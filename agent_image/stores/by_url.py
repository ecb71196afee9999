"""Open the store that the settings name: a URL's scheme decides what stands behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

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


def _dynamodb(store: str, region: str | None, large: str | None) -> Records:
    import boto3  # noqa: PLC0415 - a laptop's agent may do without
    from botocore.config import Config  # noqa: PLC0415 - the same
    from botocore.exceptions import NoRegionError  # noqa: PLC0415 - the same

    from agent_image.stores.dynamodb import DynamoRecords  # noqa: PLC0415 - the same
    from agent_image.stores.large import LargeState  # noqa: PLC0415 - the same

    table, bucket = _named(store, "dynamodb"), None if large is None else _named(large, "s3")
    config = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})
    try:
        items = boto3.client("dynamodb", region_name=region, config=config)
        objects = None if bucket is None else boto3.client("s3", region_name=region, config=config)
    except NoRegionError:
        message = "a table needs an AWS Region"
        raise ValueError(message) from None
    large_state = None if bucket is None else LargeState(bucket, objects)
    return DynamoRecords(table, items, large_state, pause=time.sleep)


def _named(url: str, scheme: str) -> str:
    """Give the table or bucket of a URL; what follows it is others' business."""
    parts = urlsplit(url)
    if parts.scheme != scheme or not parts.netloc:
        message = f"allowed: {scheme}://<name>"
        raise ValueError(message)
    return parts.netloc


_STORES: Final[Mapping[str, Callable[[str, str | None, str | None], Records]]] = MappingProxyType(
    {"sqlite": _sql, "postgresql": _sql, "dynamodb": _dynamodb}
)
