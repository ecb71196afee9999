"""Say where a store of one kind lies, and open it as often as a test likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

from agent_image.guard.records import Records
from agent_image.stores.by_url import records_at
from agent_image.stores.dynamodb import DynamoRecords
from agent_image.stores.large import LargeState
from agent_image.stores.memory import MemoryRecords
from tests.loopback.postgres import Postgres
from tests.loopback.table import REGION, VARIABLES, client_at, make_bucket, make_table


@dataclass(frozen=True)
class Place:
    """Hold one empty store.

    Attributes:
        open: opens it as a process of its own would; what one handle writes, the others see.
        url: names it to another process; None where no other process can reach it.
        large: names the bucket of its long documents.
        variables: what another process needs in its environment.
    """

    open: Callable[[], Records]
    url: str | None = None
    large: str | None = None
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @contextmanager
    def opened(self) -> Iterator[Records]:
        records = self.open()
        try:
            yield records
        finally:
            records.close()


def in_memory() -> Place:
    records = MemoryRecords()
    return Place(lambda: records)


def in_sqlite(folder: Path) -> Place:
    return _by_url(f"sqlite:///{folder / 'guard.db'}")


def in_postgresql(server: Postgres) -> Place:
    return _by_url(server.emptied())


def in_dynamodb(aws: str) -> Place:
    name = f"rastro-{uuid4().hex}"
    make_table(aws, name)
    make_bucket(aws, name)

    def opened() -> Records:
        large = LargeState(name, client_at(aws, "s3"))
        return DynamoRecords(name, client_at(aws, "dynamodb"), large, pause=lambda _: None)

    return Place(opened, f"dynamodb://{name}", f"s3://{name}", {**VARIABLES, "AWS_ENDPOINT_URL": aws})


def _by_url(url: str) -> Place:
    return Place(lambda: records_at(url, REGION), url)
