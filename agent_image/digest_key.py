"""Find the key for digests where the environment keeps it, or put it there: once, whoever comes first."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

from opentelemetry.instrumentation.utils import suppress_instrumentation

from agent_image.contract import TABLE_KEY, Item
from agent_image.digest import Digest, LateKey, new_key

ITEM: Final = f"{Item.KEY}digest"
ATTRIBUTE: Final = "key"
FILE: Final = "digest.key"
SECONDS: Final = 2
"""How long one attempt to reach the table may take."""


class Table(Protocol):
    """Read and write items, as boto3's `dynamodb` client does."""

    def get_item(self, **request: Any) -> Mapping[str, Any]:
        """Read an item."""
        ...

    def put_item(self, **request: Any) -> Mapping[str, Any]:
        """Write an item."""
        ...


def digest_at(store: str | None, region: str | None) -> Digest:
    """Open the digest of an environment: under the key that lies in its store, or else one of this process alone."""
    place = urlsplit(store or "")
    if place.scheme == "dynamodb":
        return Digest(LateKey(lambda: _quietly(place.netloc, region)))
    if place.scheme == "sqlite":
        folder = Path(unquote(place.path.removeprefix("/"))).parent
        return Digest(LateKey(lambda: key_in_file(folder / FILE)))
    return Digest(new_key())


def _quietly(table: str, region: str | None) -> bytes:
    # The trail holds what the agent did for an answer: that its key was read belongs to no session.
    with suppress_instrumentation():
        return key_in_table(table, _client(region))


def key_in_table(table: str, client: Table, make: Callable[[], bytes] = new_key) -> bytes:
    """Read the key's item; write it where there is none."""
    if (found := _item(table, client)) is not None:
        return found
    made = make()
    try:
        client.put_item(
            TableName=table,
            Item={TABLE_KEY: {"S": ITEM}, ATTRIBUTE: {"B": made}},
            ConditionExpression="attribute_not_exists(#key)",
            ExpressionAttributeNames={"#key": TABLE_KEY},
        )
    except Exception:
        # Another process came first: its key is the one.
        if (found := _item(table, client)) is not None:
            return found
        raise
    return made


def key_in_file(path: Path, make: Callable[[], bytes] = new_key) -> bytes:
    """Read the key's file; write it, for its owner alone, where there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # A link appears whole or not at all, and never over another: whoever comes first makes the key.
        file, whole = tempfile.mkstemp(dir=path.parent)
        try:
            os.write(file, make())
            os.link(whole, path)
        except FileExistsError:
            pass
        finally:
            os.close(file)
            Path(whole).unlink()
    return path.read_bytes()


def _item(table: str, client: Table) -> bytes | None:
    answer = client.get_item(TableName=table, Key={TABLE_KEY: {"S": ITEM}}, ConsistentRead=True)
    return bytes(answer["Item"][ATTRIBUTE]["B"]) if "Item" in answer else None


def _client(region: str | None) -> Table:
    import boto3  # noqa: PLC0415 - not on the way to the first answer
    from botocore.config import Config  # noqa: PLC0415 - the same

    config = Config(connect_timeout=SECONDS, read_timeout=SECONDS, retries={"total_max_attempts": 2})
    client: Table = boto3.client("dynamodb", region_name=region, config=config)
    return client
