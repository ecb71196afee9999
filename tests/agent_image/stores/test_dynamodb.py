"""In DynamoDB one conditional write decides, a request that was repeated knows its own, and the index only points."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_image.contract import DUE_KEY, QUEUE_KEY, STATE_OBJECT_PREFIX, TABLE_EXPIRY, TABLE_KEY, Item
from agent_image.errors import StoreError
from agent_image.guard.records import NEW, Conflict, StoreUnavailable
from agent_image.stores.dynamodb import INLINE_LIMIT, ROUNDS
from agent_image.stores.text import UNPACKED_LIMIT, moment_text
from tests.agent_image.stores.table_store import TableStore, answering, table_store
from tests.loopback.table import client_at, unpackable

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEY = f"{Item.CHECKPOINT}abc"
LONG = {"text": unpackable(2 * INLINE_LIMIT)}
"""No packing makes an item of it."""
FAULT = (500, {"__type": "InternalServerError"})


@pytest.fixture
def place(aws_url: str) -> TableStore:
    return table_store(aws_url)


def test_the_names_are_the_contract_s(place: TableStore) -> None:
    """Policies, the index and the TTL go by them; the queue is the prefix that IAM grants."""
    store = place.store()
    store.put(KEY, {"a": 1}, expected=NEW, due=NOW)
    assert place.items()[KEY] == {
        TABLE_KEY: {"S": KEY},
        "version": {"N": "1"},
        "document": {"S": '{"a":1}'},
        QUEUE_KEY: {"S": Item.CHECKPOINT},
        DUE_KEY: {"S": "2026-03-01T12:00:00.000000Z"},
    }

    store.put(KEY, {"a": 2}, expected=1, forget_at=NOW)
    assert place.items()[KEY] == {
        TABLE_KEY: {"S": KEY},
        "version": {"N": "2"},
        "document": {"S": '{"a":2}'},
        TABLE_EXPIRY: {"N": str(int(NOW.timestamp()))},
    }


def test_the_store_needs_six_requests_and_no_right_to_delete_or_scan(place: TableStore) -> None:
    """What is sent is what roles must be granted."""
    store = place.store()
    store.put(KEY, LONG, expected=NEW, due=NOW)
    with pytest.raises(Conflict):
        store.put(KEY, {}, expected=NEW)
    store.get(KEY)
    store.due(Item.CHECKPOINT, before=NOW, limit=5)

    assert place.sent == {"PutItem": 2, "GetItem": 1, "Query": 1, "BatchGetItem": 1, "PutObject": 1, "GetObject": 2}


def test_every_read_is_of_the_last_write(place: TableStore) -> None:
    """DynamoDB's cheaper read may be a moment old: an approval that was just given would not be seen."""
    client = place.client("dynamodb")
    consistent: list[bool | None] = []

    def look(params: dict[str, Any], **_: Any) -> None:
        asked = [params] if "Key" in params else params["RequestItems"].values()
        consistent.extend(one.get("ConsistentRead") for one in asked)

    for operation in ("GetItem", "BatchGetItem"):
        client.meta.events.register(f"provide-client-params.dynamodb.{operation}", look)
    store = place.store(client)
    store.put(KEY, {}, expected=NEW, due=NOW)
    store.get(KEY)
    store.due(Item.CHECKPOINT, before=None, limit=1)

    assert consistent == [True, True]


def test_a_write_whose_answer_was_lost_is_a_success(place: TableStore) -> None:
    """The client sends it again and meets its own first one: that is no conflict."""
    client = place.client("dynamodb", attempts=2)
    answers = iter([FAULT])

    def land_and_lose() -> Any:
        if answer := next(answers, None):
            place.store().put(KEY, {"by": "me"}, expected=NEW, due=NOW)
        return answer

    answering(client, "PutItem", land_and_lose)
    place.store(client).put(KEY, {"by": "me"}, expected=NEW, due=NOW)

    assert place.items()[KEY]["version"] == {"N": "1"}


def test_a_repeated_write_that_meets_another_s_is_a_conflict(place: TableStore) -> None:
    """Its first attempt never landed; somebody else's did."""
    client = place.client("dynamodb", attempts=2)
    answers = iter([FAULT])

    def lose() -> Any:
        if answer := next(answers, None):
            place.store().put(KEY, {"by": "other"}, expected=NEW)
        return answer

    answering(client, "PutItem", lose)
    with pytest.raises(Conflict):
        place.store(client).put(KEY, {"by": "me"}, expected=NEW)

    assert place.items()[KEY]["document"] == {"S": '{"by":"other"}'}


def test_a_write_that_was_sent_once_takes_an_equal_record_for_another_s(place: TableStore) -> None:
    """Two that write the same at once are still two: one of them won."""
    place.store().put(KEY, {"by": "both"}, expected=NEW)

    with pytest.raises(Conflict):
        place.store().put(KEY, {"by": "both"}, expected=NEW)
    assert place.sent["GetItem"] == 0


def test_what_the_index_says_is_looked_up(place: TableStore) -> None:
    """It may list what was closed, moved on or expired a moment ago."""
    store = place.store()
    for name, due in (("open", NOW), ("closed", None), ("moved", NOW + timedelta(hours=1))):
        store.put(f"{Item.CHECKPOINT}{name}", {}, expected=NEW, due=due)
    client = place.client("dynamodb")
    names = ("gone", "closed", "moved", "open")
    listed = [{TABLE_KEY: {"S": f"{Item.CHECKPOINT}{name}"}} for name in names]
    answering(client, "Query", lambda: (200, {"Items": listed, "Count": 4}))

    found = place.store(client).due(Item.CHECKPOINT, before=NOW, limit=10)

    assert [record.key for record in found] == [f"{Item.CHECKPOINT}open"]


def test_a_page_of_what_is_closed_hides_nothing(place: TableStore) -> None:
    """Where the index is behind, the next page is asked for until there is enough."""
    store = place.store()
    store.put(f"{Item.CHECKPOINT}1", {}, expected=NEW)
    store.put(f"{Item.CHECKPOINT}2", {}, expected=NEW, due=NOW)
    client = place.client("dynamodb")
    pages = iter([["1"], ["2"], ["3"]])

    def page() -> tuple[int, dict[str, Any]]:
        items = [{TABLE_KEY: {"S": f"{Item.CHECKPOINT}{name}"}} for name in next(pages)]
        return 200, {"Items": items, "Count": 1, "LastEvaluatedKey": items[-1]}

    answering(client, "Query", page)
    found = place.store(client).due(Item.CHECKPOINT, before=None, limit=1)

    assert [record.key for record in found] == [f"{Item.CHECKPOINT}2"]
    assert list(pages) == [["3"]]


def unprocessed(place: TableStore, *keys: str) -> dict[str, Any]:
    return {place.name: {"Keys": [{TABLE_KEY: {"S": key}} for key in keys], "ConsistentRead": True}}


def test_keys_that_were_left_out_are_asked_for_again(place: TableStore) -> None:
    """A batch gives 16 MB at a time: however many rounds it takes, each brings something."""
    store = place.store()
    keys = [f"{Item.CHECKPOINT}{number:02}" for number in range(ROUNDS + 5)]
    for key in keys:
        store.put(key, {}, expected=NEW, due=NOW)
    client, items, left = place.client("dynamodb"), place.items(), list(keys)

    def one_at_a_time() -> tuple[int, dict[str, Any]]:
        item = items[left.pop(0)]
        more = unprocessed(place, *left) if left else {}
        return 200, {"Responses": {place.name: [item]}, "UnprocessedKeys": more}

    answering(client, "BatchGetItem", one_at_a_time)

    assert [record.key for record in place.store(client).due(Item.CHECKPOINT, before=None, limit=99)] == keys


def test_a_table_that_gives_nothing_is_busy(place: TableStore) -> None:
    """It is asked a bounded number of times, with pauses that grow."""
    place.store().put(KEY, {}, expected=NEW, due=NOW)
    client = place.client("dynamodb")
    answering(client, "BatchGetItem", lambda: (200, {"Responses": {}, "UnprocessedKeys": unprocessed(place, KEY)}))

    with pytest.raises(StoreUnavailable) as failed:
        place.store(client).due(Item.CHECKPOINT, before=None, limit=99)

    assert failed.value.code == "throttled"
    assert len(place.pauses) == ROUNDS - 1
    assert place.pauses == sorted(set(place.pauses))


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "ProvisionedThroughputExceededException", "throttled"),
        (400, "AccessDeniedException", "access_denied"),
        (400, "ValidationException", "invalid"),
        (500, "InternalServerError", "unavailable"),
    ],
)
def test_what_aws_says_is_sorted_into_names(place: TableStore, status: int, code: str, expected: str) -> None:
    """Its message may hold an item: the name leaves the process, the message never does."""
    client = place.client("dynamodb")
    for operation in ("GetItem", "PutItem", "Query"):
        answering(client, operation, lambda: (status, {"__type": code, "message": "CANARY"}))
    store = place.store(client)
    for call in (
        lambda: store.get(KEY),
        lambda: store.put(KEY, {}, expected=NEW),
        lambda: store.due(Item.CHECKPOINT, before=None, limit=1),
    ):
        with pytest.raises(StoreUnavailable) as failed:
            call()
        assert failed.value.code == expected
        assert "CANARY" not in f"{failed.value!r}{failed.value.message}"


def test_a_long_document_lies_in_the_bucket_before_its_item_does(place: TableStore) -> None:
    """An item never points to what is not there; a lost race leaves an object that a lifecycle rule removes."""
    client = place.client("dynamodb")
    there: list[int] = []

    def look() -> None:
        there.append(len(place.objects()))

    answering(client, "PutItem", look)
    place.store(client).put(KEY, LONG, expected=NEW)

    ((name, _),) = place.objects().items()
    assert there == [1]
    assert name.startswith(STATE_OBJECT_PREFIX)
    assert place.items()[KEY]["digest"] == {"S": name.removeprefix(STATE_OBJECT_PREFIX)}
    assert "document" not in place.items()[KEY]


def test_a_document_that_fits_lies_in_its_item(place: TableStore) -> None:
    """One request, not two, for nearly every record; each KB that is written is paid for, so it is packed."""
    said = {"text": "A sentence of a conversation, and another one. " * 5_000}
    place.store().put(KEY, said, expected=NEW)

    assert place.objects() == {}
    assert len(place.items()[KEY]["document"]["B"]) < len(said["text"]) / 3
    found = place.store().get(KEY)
    assert found is not None
    assert found.document == said


@pytest.mark.parametrize(
    "data",
    [b"", b"no zlib", zlib.compress(b'{"a":1}')[:-2], zlib.compress("é".encode()), zlib.compress(b"[]")],
    ids=["nothing", "not packed", "cut", "not ASCII", "no document"],
)
def test_an_item_that_cannot_be_unpacked_is_not_read(place: TableStore, data: bytes) -> None:
    """Nobody guesses what it said."""
    place.client("dynamodb").put_item(
        TableName=place.name,
        Item={TABLE_KEY: {"S": KEY}, "version": {"N": "1"}, "document": {"B": data}},
    )

    with pytest.raises(StoreError) as refused:
        place.store().get(KEY)

    assert refused.value.code == "record_malformed"


def test_an_item_that_unpacks_without_end_is_not_read(place: TableStore) -> None:
    """Whoever may write an item takes no process down with it."""
    packing = zlib.compressobj()
    parts = (b'{"text":"', *[b"0" * (1 << 20)] * (UNPACKED_LIMIT >> 20), b'"}')
    data = b"".join(packing.compress(part) for part in parts) + packing.flush()
    place.client("dynamodb").put_item(
        TableName=place.name,
        Item={TABLE_KEY: {"S": KEY}, "version": {"N": "1"}, "document": {"B": data}},
    )

    with pytest.raises(StoreError) as refused:
        place.store().get(KEY)

    assert refused.value.code == "record_malformed"


@pytest.mark.parametrize(("spoil", "code"), [("change", "state_changed"), ("remove", "state_missing")])
def test_a_long_document_that_was_tampered_with_is_not_read(place: TableStore, spoil: str, code: str) -> None:
    """Whoever may write to the bucket changes no checkpoint; and one spoiled record hides no other."""
    store = place.store()
    store.put(KEY, LONG, expected=NEW, due=NOW)
    store.put(f"{Item.CHECKPOINT}other", {}, expected=NEW, due=NOW)
    ((name, _),) = place.objects().items()
    s3 = client_at(place.url, "s3")
    if spoil == "change":
        s3.put_object(Bucket=place.name, Key=name, Body=b'{"text":"forged"}')
    else:
        s3.delete_object(Bucket=place.name, Key=name)

    with pytest.raises(StoreError) as refused:
        store.get(KEY)

    assert refused.value.code == code
    assert not isinstance(refused.value, StoreUnavailable)
    found = store.due(Item.CHECKPOINT, before=None, limit=5)
    assert [(record.key, record.version, record.document) for record in found] == [
        (f"{Item.CHECKPOINT}other", 1, {}),
        (KEY, 1, {}),
    ]


def test_what_cannot_be_read_takes_no_other_s_place(place: TableStore) -> None:
    """A list that asks for one gets the one that can be read, however many stand before it."""
    client = client_at(place.url, "dynamodb")
    for number in range(3):
        key = f"{Item.CHECKPOINT}{number}"
        spoiled = {TABLE_KEY: {"S": key}, QUEUE_KEY: {"S": Item.CHECKPOINT}, DUE_KEY: {"S": moment_text(NOW)}}
        client.put_item(TableName=place.name, Item=spoiled)
    place.store().put(KEY, {"n": 1}, expected=NEW, due=NOW + timedelta(hours=1))

    found = place.store().due(Item.CHECKPOINT, before=None, limit=1)

    assert [(record.key, record.version, record.document) for record in found] == [
        (KEY, 1, {"n": 1}),
        *((f"{Item.CHECKPOINT}{number}", NEW, {}) for number in range(3)),
    ]


def test_a_bucket_that_does_not_answer_is_not_a_document_that_is_gone(place: TableStore) -> None:
    """A list is whole, or it fails."""
    place.store().put(KEY, LONG, expected=NEW, due=NOW)
    s3 = place.client("s3")
    answering(s3, "GetObject", lambda: (503, {}))

    with pytest.raises(StoreUnavailable):
        place.store(s3=s3).due(Item.CHECKPOINT, before=None, limit=5)


def test_without_a_bucket_a_long_document_is_refused(place: TableStore) -> None:
    """It is said in words, before DynamoDB refuses the item."""
    with pytest.raises(StoreError) as refused:
        place.store(bucket=False).put(KEY, LONG, expected=NEW)

    assert refused.value.code == "record_too_large"
    assert place.sent["PutItem"] == 0


def test_what_is_no_record_is_not_read_as_one(place: TableStore) -> None:
    """Other items lie in the same table."""
    client_at(place.url, "dynamodb").put_item(
        TableName=place.name, Item={TABLE_KEY: {"S": f"{Item.KEY}digest"}, "key": {"B": b"x"}}
    )

    with pytest.raises(StoreError) as refused:
        place.store().get(f"{Item.KEY}digest")

    assert refused.value.code == "record_malformed"


def test_the_store_s_own_calls_are_not_in_the_trail(place: TableStore, spans: InMemorySpanExporter) -> None:
    """The trail is paid for by the byte, and holds what the agent did for an answer."""
    place.items()
    seen = len(spans.get_finished_spans())
    store = place.store()
    store.put(KEY, LONG, expected=NEW, due=NOW)
    store.get(KEY)
    store.due(Item.CHECKPOINT, before=None, limit=1)

    assert seen
    assert [span.name for span in spans.get_finished_spans()][seen:] == []
