"""In AWS the object's place decides who comes first, and the table answers what is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

from agent_image.contract import PASSAGE_OBJECT_PREFIX, Item
from agent_image.errors import StoreError
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.s3_store import ROUNDS, S3PassageStore, S3Place, parse_s3_place
from agent_image.retrieval.store import State
from tests.agent_image.retrieval.trail_store import TrailStore, before, trail_store

TEXT = "Devoluções em até 30 dias.".encode()
ONE = fingerprint(TEXT.decode()).text


@pytest.fixture
def place(aws_url: str) -> TrailStore:
    return trail_store(aws_url)


class Body:
    """Hold what botocore reads of a raw answer."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self) -> Iterator[bytes]:
        yield self._data


def answering(client: Any, operation: str, status: int, content: dict[str, Any]) -> None:
    """Answer in the service's place: a handler of `before-send` may, and nothing is sent."""

    def answer(request: Any, **_: Any) -> AWSResponse:
        return AWSResponse(
            request.url, status, {"Content-Type": "application/x-amz-json-1.0"}, Body(json.dumps(content).encode())
        )

    client.meta.events.register_first(f"before-send.*.{operation}", answer)


def test_the_names_are_the_contract_s(place: TrailStore) -> None:
    """Policies and the console find objects and items by these prefixes."""
    place.store().put(ONE, TEXT)

    assert place.objects() == {f"{PASSAGE_OBJECT_PREFIX}{ONE}": TEXT}
    assert place.items() == {f"{Item.FINGERPRINT}{ONE}": State.KNOWN}


def test_the_agent_needs_four_requests_and_no_right_to_delete(place: TrailStore) -> None:
    """What is sent is what the role must be granted."""
    store = place.store()
    store.known([ONE])
    store.put(ONE, TEXT)
    store.erase(ONE)

    assert set(place.sent) == {"BatchGetItem", "PutObject", "PutItem"}


def test_an_erasure_between_the_look_and_the_write_wins(place: TrailStore) -> None:
    """The text was unknown, and is erased at the very moment when its PUT is about to leave."""
    clients = place.clients()
    before(clients.s3, "PutObject", lambda: place.store().erase(ONE))

    S3PassageStore(place.place, clients).put(ONE, TEXT)

    assert place.objects() == {f"{PASSAGE_OBJECT_PREFIX}{ONE}": b""}
    assert place.items() == {f"{Item.FINGERPRINT}{ONE}": State.ERASED}


def test_an_erasure_between_the_write_and_the_mark_wins(place: TrailStore) -> None:
    """The mark of a writer never replaces the mark of an erasure."""
    clients = place.clients()
    before(clients.dynamodb, "PutItem", lambda: place.store().erase(ONE))

    S3PassageStore(place.place, clients).put(ONE, TEXT)

    assert place.objects() == {f"{PASSAGE_OBJECT_PREFIX}{ONE}": b""}
    assert place.items() == {f"{Item.FINGERPRINT}{ONE}": State.ERASED}


def test_a_process_that_ends_between_write_and_mark_is_followed_up(place: TrailStore) -> None:
    """The next one finds the place taken, writes nothing, and marks it."""
    clients = place.clients()
    answering(clients.dynamodb, "PutItem", 400, {"__type": "ValidationException"})
    with pytest.raises(StoreError):
        S3PassageStore(place.place, clients).put(ONE, TEXT)
    assert place.items() == {}

    place.store().put(ONE, TEXT)

    assert place.store().known([ONE]) == {ONE: State.KNOWN}
    assert place.store().get(ONE) == TEXT


def test_an_eraser_that_ends_in_between_leaves_no_false_mark(place: TrailStore) -> None:
    """The words go first: an item that says erased is never about words that are still there."""
    place.store().put(ONE, TEXT)
    clients = place.clients()
    answering(clients.dynamodb, "PutItem", 400, {"__type": "ValidationException"})
    with pytest.raises(StoreError):
        S3PassageStore(place.place, clients).erase(ONE)

    assert place.store().get(ONE) is None
    place.store().put(ONE, TEXT)
    assert place.store().get(ONE) is None
    place.store().erase(ONE)
    assert place.store().known([ONE]) == {ONE: State.ERASED}


def test_a_table_restored_to_an_earlier_day_brings_no_text_back(place: TrailStore) -> None:
    """Where the mark of an erasure is lost, the empty object still stands."""
    place.store().erase(ONE)
    key = {"pk": {"S": f"{Item.FINGERPRINT}{ONE}"}}
    place.clients().dynamodb.delete_item(TableName=place.place.table, Key=key)

    place.store().put(ONE, TEXT)

    assert place.store().get(ONE) is None


def test_a_batch_of_many_is_read_by_the_hundred(place: TrailStore) -> None:
    """BatchGetItem takes 100 keys, and none of them twice."""
    store = place.store()
    store.put(ONE, TEXT)
    wanted = [fingerprint(str(n)).text for n in range(249)] + [ONE, ONE]
    place.sent.clear()

    assert store.known(wanted) == {ONE: State.KNOWN}
    assert place.sent == {"BatchGetItem": 3}


def unprocessed(place: TrailStore, clients: Any, times: int) -> list[float]:
    """Leave the keys of some batches unprocessed."""
    table = place.place.table
    left = {table: {"Keys": [{"pk": {"S": f"{Item.FINGERPRINT}{ONE}"}}]}}
    asked: list[float] = []

    def answer(request: Any, **_: Any) -> AWSResponse | None:
        asked.append(0)
        if len(asked) > times:
            return None
        content = json.dumps({"Responses": {table: []}, "UnprocessedKeys": left}).encode()
        return AWSResponse(request.url, 200, {}, Body(content))

    clients.dynamodb.meta.events.register_first("before-send.*.BatchGetItem", answer)
    return asked


def test_keys_left_unprocessed_are_asked_for_again(place: TrailStore) -> None:
    """DynamoDB may answer a part of a batch; after ever longer pauses the rest comes."""
    place.store().put(ONE, TEXT)
    clients, pauses = place.clients(), list[float]()
    unprocessed(place, clients, times=2)

    assert S3PassageStore(place.place, clients, pauses.append).known([ONE]) == {ONE: State.KNOWN}
    assert len(pauses) == 2
    assert pauses == sorted(pauses)


def test_a_table_that_never_answers_in_full_is_given_up(place: TrailStore) -> None:
    """What was not read is not taken for unknown."""
    clients = place.clients()
    asked = unprocessed(place, clients, times=1_000)

    with pytest.raises(StoreError) as raised:
        S3PassageStore(place.place, clients, lambda _: None).known([ONE])

    assert (raised.value.code, len(asked)) == ("throttled", ROUNDS)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("ProvisionedThroughputExceededException", "throttled"),
        ("AccessDeniedException", "access_denied"),
        ("ResourceNotFoundException", "not_found"),
        ("ValidationException", "invalid"),
    ],
)
def test_the_table_s_failures_are_codes(place: TrailStore, kind: str, code: str) -> None:
    """DynamoDB answers 400 to all of them: its own code tells them apart."""
    clients = place.clients()
    answering(clients.dynamodb, "BatchGetItem", 400, {"__type": kind, "message": "words"})

    with pytest.raises(StoreError) as raised:
        S3PassageStore(place.place, clients).known([ONE])

    assert raised.value.code == code
    assert "words" not in raised.value.message


def test_a_bucket_that_is_not_there_is_a_code(place: TrailStore) -> None:
    """A wrong place is no stack trace."""
    elsewhere = S3Place("no-such-bucket", "passages/", place.place.table)

    with pytest.raises(StoreError) as raised:
        S3PassageStore(elsewhere, place.clients()).put(ONE, TEXT)

    assert raised.value.code == "not_found"


def test_who_may_not_list_the_bucket_learns_the_truth_from_the_table(place: TrailStore) -> None:
    """S3 answers 403 for a missing object to a reader without `s3:ListBucket`; 403 for a known text stays a refusal."""
    clients = place.clients()
    answering(clients.s3, "GetObject", 403, {})
    reader = S3PassageStore(place.place, clients)

    assert reader.get(ONE) is None
    place.store().put(ONE, TEXT)
    with pytest.raises(StoreError) as raised:
        reader.get(ONE)
    assert raised.value.code == "access_denied"


def test_the_place_is_read_from_two_urls() -> None:
    """The bucket alone is what the discovery document says; the settings say the prefix too."""
    assert parse_s3_place("s3://b", "dynamodb://t") == S3Place("b", "passages/", "t")
    assert parse_s3_place("s3://b/passages/", "dynamodb://t") == S3Place("b", "passages/", "t")


def test_every_fault_of_the_place_is_told_at_once() -> None:
    """Both URLs are named, with what is allowed."""
    with pytest.raises(ValueError, match=r"archive is 'gs://b'; allowed: s3://.*\nstore is 'sqlite:///x'; allowed"):
        parse_s3_place("gs://b", "sqlite:///x")
    with pytest.raises(ValueError, match="store is None"):
        parse_s3_place("s3://b", None)
