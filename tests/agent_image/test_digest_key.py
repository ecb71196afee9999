"""An environment has one key for its digests, whoever comes first."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.exceptions import ClientError

from agent_image.contract import TABLE_KEY
from agent_image.digest import KEY_BYTES, Digest
from agent_image.digest_key import digest_at, key_in_file, key_in_table

REGION = "eu-central-1"


@pytest.fixture
def client(aws_url: str) -> Iterator[Any]:
    made: Any = boto3.client(
        "dynamodb",
        region_name=REGION,
        endpoint_url=aws_url,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106
    )
    yield made
    made.close()


@pytest.fixture
def table(client: Any) -> str:
    name = f"table-{uuid4()}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": TABLE_KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": TABLE_KEY, "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


def giving(key: bytes) -> Callable[[], bytes]:
    return lambda: key


def test_the_first_process_puts_the_key_and_the_others_read_it(table: str, client: Any) -> None:
    """The item is the one that roles and people are kept from."""
    assert key_in_table(table, client, giving(b"first")) == b"first"
    assert key_in_table(table, client, giving(b"second")) == b"first"

    item = client.get_item(TableName=table, Key={TABLE_KEY: {"S": "key#digest"}})["Item"]
    assert item["key"] == {"B": b"first"}


def test_of_two_first_processes_one_is_first(table: str, client: Any) -> None:
    """Both saw no item; the condition of the write decides, and both digest under one key."""

    def overtaken() -> bytes:
        key_in_table(table, client, giving(b"other"))
        return b"mine"

    assert key_in_table(table, client, overtaken) == b"other"


def test_a_table_that_refuses_is_no_key(client: Any) -> None:
    """What is no race is an error, and the digest falls back to a key of its own."""
    with pytest.raises(ClientError):
        key_in_table("no-such-table", client)


def test_a_file_holds_the_key_for_its_owner(tmp_path: Path) -> None:
    """Beside the local store."""
    path = tmp_path / "state" / "digest.key"

    assert key_in_file(path, giving(b"first")) == b"first"
    assert key_in_file(path, giving(b"second")) == b"first"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_processes_that_start_together_share_one_file(tmp_path: Path) -> None:
    """None of them reads half a key, and none overwrites another's."""
    path = tmp_path / "digest.key"
    together = threading.Barrier(8)
    keys: list[bytes] = []

    def start() -> None:
        together.wait()
        keys.append(key_in_file(path))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(keys) == {path.read_bytes()}
    assert len(path.read_bytes()) == KEY_BYTES


def test_the_store_says_where_the_key_lies(tmp_path: Path) -> None:
    """A laptop's digests join from one run to the next."""
    store = f"sqlite:///{tmp_path}/guard.db"

    assert digest_at(store, None).of("a") == Digest(key_in_file(tmp_path / "digest.key")).of("a")
    assert digest_at(store, None).of("a") == digest_at(store, None).of("a")


@pytest.mark.parametrize("store", [None, "postgresql://db/x"])
def test_without_a_place_the_key_is_this_process_s(store: str | None) -> None:
    """Nothing is written where nobody said."""
    assert digest_at(store, None).of("a") != digest_at(store, None).of("a")


def test_the_table_is_asked_by_the_real_client(
    table: str, client: Any, aws_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the credentials and the endpoint that the process has."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", aws_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")

    digest = digest_at(f"dynamodb://{table}", REGION)

    assert digest.of("a") == Digest(key_in_table(table, client)).of("a")
