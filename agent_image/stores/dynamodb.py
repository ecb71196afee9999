"""Keep records in DynamoDB: each write is one conditional PutItem, and what waits is found by a sparse index.

Rights: `get` takes `dynamodb:GetItem`; `put` takes `dynamodb:PutItem`, and `dynamodb:GetItem` where a request had to
be repeated; `due` takes `dynamodb:Query` on the index and `dynamodb:BatchGetItem`. Long documents take `s3:PutObject`
and `s3:GetObject` on `state/`. Nothing is deleted: the table's TTL forgets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from botocore.exceptions import ClientError
from opentelemetry.instrumentation.utils import suppress_instrumentation

from agent_image.contract import DUE_KEY, OPEN_INDEX, QUEUE_KEY, TABLE_EXPIRY, TABLE_KEY, Item
from agent_image.errors import StoreError
from agent_image.guard.records import NEW, Conflict, Document, Record, StoreUnavailable
from agent_image.retrieval.failure import AWS_ERRORS, Failure, aws_code, aws_failure
from agent_image.stores.large import LargeState
from agent_image.stores.refusal import refusal
from agent_image.stores.text import (
    document_of,
    document_text,
    is_key,
    item_of,
    moment_of,
    moment_text,
    packed,
    unpacked,
)

INLINE_LIMIT: Final = 300_000
"""Bytes of a document, packed, that an item holds; DynamoDB takes 400 KB with all its names."""
PACKED_FROM: Final = 1_000
"""Bytes of a document that is packed: DynamoDB charges each KB that is written."""
BATCH_LIMIT: Final = 100
"""Keys that one BatchGetItem takes."""
ROUNDS: Final = 5
"""How often keys are asked for without getting any of them."""
_PAUSE_SECONDS: Final = 0.05
_VERSION: Final = "version"
_DOCUMENT: Final = "document"
_DIGEST: Final = "digest"
_TAKEN: Final = "ConditionalCheckFailedException"

_Values = dict[str, Any]


class DynamoRecords:
    """Hold records in one environment's table, and the long documents in its bucket."""

    def __init__(
        self,
        table: str,
        client: Any,  # noqa: ANN401 - a boto3 client has no type
        large: LargeState | None,
        *,
        pause: Callable[[float], object],
    ) -> None:
        """Take the table, its client, where long documents go, and what waits some seconds."""
        self._table = table
        self._client = client
        self._large = large
        self._pause = pause

    def get(self, key: str) -> Record | None:
        """Read a record."""
        item = self._item(key) if is_key(key) else None
        return None if item is None else self._record(item)

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
        item = {TABLE_KEY: {"S": key}, _VERSION: {"N": str(expected + 1)}, **self._content(document)}
        prefix = item_of(key)
        if due is not None:
            item |= {QUEUE_KEY: {"S": prefix}, DUE_KEY: {"S": moment_text(due)}}
        if forget_at is not None:
            item[TABLE_EXPIRY] = {"N": str(int(forget_at.timestamp()))}
        with _told():
            try:
                self._client.put_item(TableName=self._table, Item=item, **_condition(expected))
            except ClientError as error:
                if aws_code(error) != _TAKEN:
                    raise
                if not (_repeated(error) and self._item(key) == item):
                    raise Conflict from None

    def due(self, item: Item, *, before: datetime | None, limit: int) -> Sequence[Record]:
        """List what is due: the index says what may be, the items themselves what is."""
        if limit < 1:
            return []
        found: list[tuple[datetime, Record]] = []
        unreadable: list[Record] = []
        with _told():
            for keys in self._queued(item, before, limit):
                for due, one in self._still_due(self._items(keys), before):
                    try:
                        found.append((due, self._record(one)))
                    except StoreUnavailable:
                        raise
                    except StoreError:
                        unreadable.append(_unreadable(one, due))
                if len(found) >= limit:
                    break
        listed = [record for _, record in sorted(found, key=lambda one: (one[0], one[1].key))]
        # Beside the limit: as many as there are, they keep no other waiting.
        return [*listed[:limit], *unreadable]

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()
        if self._large is not None:
            self._large.close()

    def _content(self, document: Document) -> _Values:
        text = document_text(document)
        if len(text) < PACKED_FROM:
            return {_DOCUMENT: {"S": text}}
        data = packed(text)
        if len(data) <= INLINE_LIMIT:
            return {_DOCUMENT: {"B": data}}
        if self._large is None:
            raise StoreError("record_too_large", f"A record has more than {INLINE_LIMIT:,} bytes, packed.")
        return {_DIGEST: {"S": self._large.put(text)}}

    def _record(self, item: _Values) -> Record:
        try:
            key, version = item[TABLE_KEY]["S"], int(item[_VERSION]["N"])
            text = self._text(item)
        except (KeyError, ValueError):
            raise StoreError("record_malformed", "A record in the store cannot be read.") from None
        return Record(key, version, document_of(text), _due(item))

    def _text(self, item: _Values) -> str:
        match item.get(_DOCUMENT):
            case {"S": str(text)}:
                return text
            case {"B": bytes(data)}:
                return unpacked(data)
        digest: str = item[_DIGEST]["S"]
        if self._large is None:
            raise StoreError("state_missing", "No bucket is named for the texts of long records.")
        return self._large.get(digest)

    def _item(self, key: str) -> _Values | None:
        with _told():
            answer = self._client.get_item(TableName=self._table, Key={TABLE_KEY: {"S": key}}, ConsistentRead=True)
        item: _Values | None = answer.get("Item")
        return item

    def _queued(self, item: Item, before: datetime | None, limit: int) -> Iterator[list[str]]:
        """Give the keys that the index lists, page by page; it may be some moments behind."""
        request: _Values = {
            "TableName": self._table,
            "IndexName": OPEN_INDEX,
            "KeyConditionExpression": "#queue = :queue",
            "ExpressionAttributeNames": {"#queue": QUEUE_KEY},
            "ExpressionAttributeValues": {":queue": {"S": item.value}},
            "Limit": min(limit, BATCH_LIMIT),
        }
        if before is not None:
            request["KeyConditionExpression"] += " AND #due <= :before"
            request["ExpressionAttributeNames"]["#due"] = DUE_KEY
            request["ExpressionAttributeValues"][":before"] = {"S": moment_text(before)}
        while True:
            answer = self._client.query(**request)
            yield [found[TABLE_KEY]["S"] for found in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _items(self, keys: Sequence[str]) -> Iterator[_Values]:
        """Read items, as many at a time as DynamoDB gives."""
        request: _Values = {self._table: {"Keys": [{TABLE_KEY: {"S": key}} for key in keys], "ConsistentRead": True}}
        rounds = 0
        while keys and request:
            answer = self._client.batch_get_item(RequestItems=request)
            found = answer["Responses"].get(self._table, ())
            yield from found
            request = answer.get("UnprocessedKeys", {})
            rounds = 0 if found else rounds + 1
            if rounds == ROUNDS:
                raise refusal(Failure.THROTTLED)
            if request:
                self._pause(_PAUSE_SECONDS * 2**rounds)

    @staticmethod
    def _still_due(items: Iterable[_Values], before: datetime | None) -> Iterator[tuple[datetime, _Values]]:
        for item in items:
            due = _due(item)
            if due is not None and (before is None or due <= before):
                yield due, item


def _due(item: _Values) -> datetime | None:
    return moment_of(item[DUE_KEY]["S"]) if DUE_KEY in item else None


def _unreadable(item: _Values, due: datetime) -> Record:
    version = item.get(_VERSION, {}).get("N", "")
    return Record(item[TABLE_KEY]["S"], int(version) if version.isdecimal() else NEW, {}, due)


def _condition(expected: int) -> _Values:
    if expected == NEW:
        return {"ConditionExpression": "attribute_not_exists(#key)", "ExpressionAttributeNames": {"#key": TABLE_KEY}}
    return {
        "ConditionExpression": "#version = :expected",
        "ExpressionAttributeNames": {"#version": _VERSION},
        "ExpressionAttributeValues": {":expected": {"N": str(expected)}},
    }


def _repeated(error: ClientError) -> bool:
    """Tell whether the client sent its request more than once: then its own first one may be what it met."""
    repeats: int = error.response["ResponseMetadata"].get("RetryAttempts", 0)
    return repeats > 0


@contextmanager
def _told() -> Iterator[None]:
    # The trail holds what the agent did for an answer, not how the guard remembers it.
    with suppress_instrumentation():
        try:
            yield
        except AWS_ERRORS as error:
            raise refusal(aws_failure(error)) from None
