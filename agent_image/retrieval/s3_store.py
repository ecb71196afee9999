"""Keep passages in S3, and what is known of them in DynamoDB.

AWS bills a failed conditional PUT like any other, so the PUT must not be the question: known fingerprints are items of
the environment's table, read in one batch. A text without an item is written on condition that nothing stands in its
place, then marked. Should a process end in between, the next one finds the place taken and marks it.

Rights: `known` takes `dynamodb:BatchGetItem`; `put` takes `s3:PutObject` and `dynamodb:PutItem`; `erase` takes the
same two; `get` takes `s3:GetObject` and `dynamodb:BatchGetItem`. None takes `s3:DeleteObject`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import sleep
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from agent_image.contract import PASSAGE_OBJECT_PREFIX, TABLE_KEY, Item
from agent_image.retrieval.failure import AWS_ERRORS, Failure, aws_code, aws_failure
from agent_image.retrieval.store import State, refusal

BATCH_LIMIT: Final = 100
"""Keys that one BatchGetItem takes."""
ROUNDS: Final = 5
"""How often keys that DynamoDB left unprocessed are asked for, the first time included."""
_PAUSE_SECONDS: Final = 0.05
_STATE: Final = "state"
_TAKEN: Final = "PreconditionFailed"
_NO_OBJECT: Final = "NoSuchKey"
_MARKED: Final = "ConditionalCheckFailedException"
_CONFIG: Final = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})


@dataclass(frozen=True, slots=True)
class S3Place:
    """Say where passages lie: bucket and key prefix, and the table of their items."""

    bucket: str
    prefix: str
    table: str


@dataclass(frozen=True, slots=True)
class S3Clients:
    """Hold the two boto3 clients that a store needs."""

    s3: Any
    dynamodb: Any


def parse_s3_place(archive: str, store: str | None) -> S3Place:
    """Read `s3://<bucket>/<prefix>` and `dynamodb://<table>`; a bucket alone gets the usual prefix.

    Raises:
        ValueError: with every fault, one a line.
    """
    objects, items = urlsplit(archive), urlsplit(store or "")
    faults = []
    if objects.scheme != "s3" or not objects.netloc:
        faults.append(f"archive is {archive!r}; allowed: s3://bucket/prefix")
    if items.scheme != "dynamodb" or not items.netloc:
        faults.append(f"store is {store!r}; allowed beside an archive in S3: dynamodb://table")
    if faults:
        raise ValueError("\n".join(faults))
    return S3Place(objects.netloc, objects.path.lstrip("/") or PASSAGE_OBJECT_PREFIX, items.netloc)


def s3_clients(region: str) -> S3Clients:
    """Make the clients, with timeouts that let a worker go on."""
    return S3Clients(
        boto3.client("s3", region_name=region, config=_CONFIG),
        boto3.client("dynamodb", region_name=region, config=_CONFIG),
    )


class S3PassageStore:
    """Hold passages in one environment's bucket and table."""

    def __init__(self, place: S3Place, clients: S3Clients, pause: Callable[[float], object] = sleep) -> None:
        """Take the place, the clients, and what waits some seconds."""
        self._place = place
        self._s3 = clients.s3
        self._dynamodb = clients.dynamodb
        self._pause = pause

    def known(self, fingerprints: Collection[str]) -> Mapping[str, State]:
        """Tell which are stored or erased: one read for each 100.

        The read is the cheap one, which may be a moment old. Then a text is written for nothing; no text comes back.
        """
        wanted = sorted(set(fingerprints))
        with _told():
            return {
                item[TABLE_KEY]["S"].removeprefix(Item.FINGERPRINT): State(item[_STATE]["S"])
                for start in range(0, len(wanted), BATCH_LIMIT)
                for item in self._items([_key(one) for one in wanted[start : start + BATCH_LIMIT]])
            }

    def put(self, fingerprint: str, data: bytes) -> None:
        """Write a text where nothing stands, then mark it where nothing is marked."""
        with _told():
            with _unless(_TAKEN):
                self._s3.put_object(
                    **self._object(fingerprint), Body=data, ContentType="text/plain; charset=utf-8", IfNoneMatch="*"
                )
            with _unless(_MARKED):
                self._dynamodb.put_item(
                    **self._item(fingerprint, State.KNOWN),
                    ConditionExpression="attribute_not_exists(#key)",
                    ExpressionAttributeNames={"#key": TABLE_KEY},
                )

    def get(self, fingerprint: str) -> bytes | None:
        """Read a text."""
        try:
            return self._s3.get_object(**self._object(fingerprint))["Body"].read() or None
        except AWS_ERRORS as error:
            if aws_code(error) == _NO_OBJECT:
                return None
            failure = aws_failure(error)
        # To who may not list the bucket, S3 calls a missing object a forbidden one: the table knows better.
        if failure is Failure.ACCESS_DENIED and self.known([fingerprint]).get(fingerprint) is not State.KNOWN:
            return None
        raise refusal(failure)

    def erase(self, fingerprint: str) -> None:
        """Put an empty object in the place of a text, then mark it: never the mark of what is still there."""
        with _told():
            self._s3.put_object(**self._object(fingerprint), Body=b"")
            self._dynamodb.put_item(**self._item(fingerprint, State.ERASED))

    def _items(self, keys: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        table = self._place.table
        request = {table: {"Keys": keys}}
        for attempt in range(ROUNDS):
            if attempt:
                self._pause(_PAUSE_SECONDS * 2**attempt)
            answer = self._dynamodb.batch_get_item(RequestItems=request)
            yield from answer["Responses"].get(table, ())
            request = answer.get("UnprocessedKeys")
            if not request:
                return
        raise refusal(Failure.THROTTLED)

    def _object(self, fingerprint: str) -> dict[str, str]:
        return {"Bucket": self._place.bucket, "Key": f"{self._place.prefix}{fingerprint}"}

    def _item(self, fingerprint: str, state: State) -> dict[str, Any]:
        return {"TableName": self._place.table, "Item": {**_key(fingerprint), _STATE: {"S": state.value}}}


def _key(fingerprint: str) -> dict[str, Any]:
    return {TABLE_KEY: {"S": f"{Item.FINGERPRINT}{fingerprint}"}}


@contextmanager
def _unless(code: str) -> Iterator[None]:
    """Take a failed condition for an answer: somebody was here before."""
    try:
        yield
    except ClientError as error:
        if aws_code(error) != code:
            raise


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except AWS_ERRORS as error:
        raise refusal(aws_failure(error)) from None
