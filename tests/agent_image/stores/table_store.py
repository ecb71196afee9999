"""Open the store of one table on moto's server, and count what is asked of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from botocore.awsrequest import AWSResponse

from agent_image.contract import TABLE_KEY
from agent_image.stores.dynamodb import DynamoRecords
from agent_image.stores.large import LargeState
from tests.loopback.table import client_at, make_bucket, make_table


@dataclass(frozen=True)
class TableStore:
    """Hold a table and a bucket of one name, every request of the store by operation, and its pauses."""

    url: str
    name: str
    sent: Counter[str] = field(default_factory=Counter)
    pauses: list[float] = field(default_factory=list)

    def client(self, service: str, attempts: int = 1) -> Any:
        client = client_at(self.url, service, attempts=attempts)

        def count(event_name: str, **_: Any) -> None:
            self.sent[event_name.rpartition(".")[2]] += 1

        client.meta.events.register("before-send.*.*", count)
        return client

    def store(self, client: Any = None, *, s3: Any = None, bucket: bool = True) -> DynamoRecords:
        large = LargeState(self.name, s3 or self.client("s3")) if bucket else None
        return DynamoRecords(self.name, client or self.client("dynamodb"), large, pause=self.pauses.append)

    def items(self) -> dict[str, dict[str, Any]]:
        """Read the table behind the store's back."""
        found = client_at(self.url, "dynamodb").scan(TableName=self.name)["Items"]
        return {item[TABLE_KEY]["S"]: item for item in found}

    def objects(self) -> dict[str, bytes]:
        """Read the bucket behind the store's back."""
        s3 = client_at(self.url, "s3")
        listed = s3.list_objects_v2(Bucket=self.name).get("Contents", [])
        return {one["Key"]: s3.get_object(Bucket=self.name, Key=one["Key"])["Body"].read() for one in listed}


def table_store(url: str) -> TableStore:
    name = f"rastro-{uuid4().hex}"
    make_table(url, name)
    make_bucket(url, name)
    return TableStore(url, name)


class Body:
    """Hold what botocore reads of a raw answer."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self) -> Iterator[bytes]:
        yield self._data


def answering(client: Any, operation: str, answer: Callable[[], tuple[int, dict[str, Any]] | None]) -> None:
    """Answer in the service's place where there is an answer; else the request is sent."""

    def respond(request: Any, **_: Any) -> AWSResponse | None:
        if (found := answer()) is None:
            return None
        status, content = found
        return AWSResponse(
            request.url, status, {"Content-Type": "application/x-amz-json-1.0"}, Body(json.dumps(content).encode())
        )

    client.meta.events.register_first(f"before-send.*.{operation}", respond)
