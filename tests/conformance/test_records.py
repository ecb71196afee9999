"""What the port promises of one record, and of what is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from agent_image.contract import Item
from agent_image.errors import StoreError
from agent_image.guard.records import NEW, Conflict, Record, Records
from tests.conformance.place import Place

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
KEY = f"{Item.CHECKPOINT}abc"
LATER = timedelta(minutes=1)


def keys(records: Sequence[Record]) -> list[str]:
    return [record.key for record in records]


def waiting(records: Records, before: datetime | None = None, limit: int = 10) -> list[str]:
    return keys(records.due(Item.CHECKPOINT, before=before, limit=limit))


def test_what_was_never_written_is_not_there(records: Records) -> None:
    """A session that nobody knows is new, not an error."""
    assert records.get(KEY) is None
    assert waiting(records) == []


def test_a_record_comes_back_as_it_was_written(place: Place) -> None:
    """Another handle reads it, with the first version and to the microsecond."""
    with place.opened() as one, place.opened() as another:
        one.put(KEY, {"tool": "refund", "amount": "150.00"}, expected=NEW, due=NOW)

        assert another.get(KEY) == Record(KEY, 1, {"tool": "refund", "amount": "150.00"}, NOW)


DOCUMENTS: dict[str, Any] = {
    "empty": {},
    "every kind": {"t": True, "f": False, "n": None, "i": -3, "big": 10**30, "l": [1, [2, {}]], "o": {"": {"a": ""}}},
    "any text": {"pt": "devolução", "id": "pengembalian \U0001f9fe", "lines": "a\r\n\tb\\ \"'"},
    "text that databases refuse": {"nul": "a\0b", "half": "\ud800", "noncharacter": "￿"},
    "a number of a tool's": {"amount": 150.25},
    "keys like the store's own": {"pk": 1, "version": 2, "document": 3, "due": 4},
    "deep": {"a": {"b": {"c": {"d": {"e": [[[[[[[[1]]]]]]]]}}}}},
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_comes_back_whatever_it_holds(records: Records, document: dict[str, Any]) -> None:
    """Arguments and conversations hold what users and models say."""
    records.put(KEY, document, expected=NEW)

    found = records.get(KEY)
    assert found is not None
    assert found.document == document


@pytest.mark.parametrize("size", [299_000, 301_000, 3_000_000])
def test_a_long_document_comes_back_whole(place: Place, size: int) -> None:
    """A conversation may be longer than an item of a table takes."""
    text = "passagem " * (size // 9)
    with place.opened() as one, place.opened() as another:
        one.put(KEY, {"text": text}, expected=NEW, due=NOW)

        found = another.get(KEY)
        assert found is not None
        assert found.document == {"text": text}
        assert another.due(Item.CHECKPOINT, before=None, limit=1) == [found]


def test_what_is_read_is_nobody_else_s(records: Records) -> None:
    """Changing a document after it was written, or after it was read, changes nothing in the store."""
    document: dict[str, Any] = {"list": [1]}
    records.put(KEY, document, expected=NEW)
    document["list"].append(2)
    found = records.get(KEY)
    assert found is not None
    found.document["list"].append(3)

    again = records.get(KEY)
    assert again is not None
    assert again.document == {"list": [1]}


@pytest.mark.parametrize("document", [{"a": float("nan")}, {"a": float("inf")}, {"a": {1}}, {"a": b"x"}, {"a": NOW}])
def test_what_is_not_json_is_refused(records: Records, document: dict[str, Any]) -> None:
    """Nothing is written that another store would read in another way."""
    with pytest.raises(StoreError) as refused:
        records.put(KEY, document, expected=NEW)

    assert refused.value.code == "record_malformed"
    assert records.get(KEY) is None


@pytest.mark.parametrize(
    "key",
    [
        f"{Item.SESSION}{'s' * 256}#conversation",
        f"{Item.DECISION}{'d' * 64}#resolution",
        f"{Item.CHECKPOINT}",
        f"{Item.CHECKPOINT}ação '\"%_\\?",
    ],
)
def test_keys_are_told_apart_by_every_character(records: Records, key: str) -> None:
    """A part of a record's key is another record's, and nothing in a key means anything to a store."""
    records.put(key, {"a": 1}, expected=NEW)

    assert records.get(f"{key} ") is None
    assert records.get(key.upper()) is None
    found = records.get(key)
    assert found is not None
    assert found.key == key


@pytest.mark.parametrize("odd", ["", "\0", "a\0b", "\ud800", "é" * 600, "x" * 3_000])
def test_nothing_lies_under_what_is_no_key(records: Records, odd: str) -> None:
    """Ids come from outside: a forged one finds nothing, and is no error of the store."""
    key = f"{Item.CHECKPOINT}{odd}" if odd else ""

    assert records.get(key) is None
    with pytest.raises(StoreError):
        records.put(key, {}, expected=NEW)


@pytest.mark.parametrize("key", ["abc", "unknown#abc", "checkpoint"])
def test_a_key_begins_with_an_item_s_prefix(records: Records, key: str) -> None:
    """What may be written is granted by prefix: a record without one would be anybody's."""
    with pytest.raises(StoreError):
        records.put(key, {}, expected=NEW)

    assert records.get(key) is None


def test_versions_count_the_writes(records: Records) -> None:
    """Who writes says what was read."""
    for version in range(5):
        records.put(KEY, {"n": version}, expected=version)

    found = records.get(KEY)
    assert found == Record(KEY, 5, {"n": 4})


@pytest.mark.parametrize("expected", [NEW, 1, 3, 10**9])
def test_a_write_over_another_version_changes_nothing(records: Records, expected: int) -> None:
    """Whoever lost learns it, and what the winner wrote stands, with its place on the list."""
    records.put(KEY, {"n": 1}, expected=NEW)
    records.put(KEY, {"n": 2}, expected=1, due=NOW)

    with pytest.raises(Conflict):
        records.put(KEY, {"n": 3}, expected=expected, due=NOW - LATER)

    assert records.get(KEY) == Record(KEY, 2, {"n": 2}, NOW)
    assert records.due(Item.CHECKPOINT, before=None, limit=10) == [Record(KEY, 2, {"n": 2}, NOW)]


def test_a_conflict_holds_nothing_of_the_record(records: Records) -> None:
    """An error may be logged, a document may not."""
    records.put(KEY, {"said": "CANARY"}, expected=NEW)

    with pytest.raises(Conflict) as conflict:
        records.put(KEY, {"said": "CANARY"}, expected=NEW)

    assert "CANARY" not in repr(conflict.value)
    assert conflict.value.__cause__ is None
    assert conflict.value.__suppress_context__ or conflict.value.__context__ is None


def test_a_record_that_is_not_there_cannot_be_changed(records: Records) -> None:
    """A record that was forgotten meanwhile is a conflict, not a new one."""
    with pytest.raises(Conflict):
        records.put(KEY, {}, expected=1)

    assert records.get(KEY) is None


def test_what_is_due_comes_the_most_urgent_first(records: Records) -> None:
    """Order of writing does not matter, and equal moments are listed by key."""
    for name, minutes in (("c", 3), ("a2", 1), ("d", -4), ("a1", 1), ("b", 2)):
        records.put(f"{Item.CHECKPOINT}{name}", {}, expected=NEW, due=NOW + minutes * LATER)

    assert waiting(records) == [f"{Item.CHECKPOINT}{name}" for name in ("d", "a1", "a2", "b", "c")]
    assert waiting(records, limit=1) == [f"{Item.CHECKPOINT}d"]
    assert waiting(records, limit=0) == []


def test_what_is_due_at_that_very_moment_is_listed(records: Records) -> None:
    """A checkpoint has expired at the moment when it expires, not one later."""
    for name, microseconds in (("early", -1), ("sharp", 0), ("late", 1)):
        records.put(f"{Item.CHECKPOINT}{name}", {}, expected=NEW, due=NOW + timedelta(microseconds=microseconds))

    assert waiting(records, before=NOW) == [f"{Item.CHECKPOINT}early", f"{Item.CHECKPOINT}sharp"]


def test_moments_of_other_zones_are_the_same_moments(records: Records) -> None:
    """A store compares moments, not how they are written."""
    jakarta, recife = timezone(timedelta(hours=7)), timezone(timedelta(hours=-3))
    records.put(f"{Item.CHECKPOINT}1", {}, expected=NEW, due=(NOW + LATER).astimezone(recife))
    records.put(f"{Item.CHECKPOINT}2", {}, expected=NEW, due=NOW.replace(microsecond=0).astimezone(jakarta))

    assert waiting(records) == [f"{Item.CHECKPOINT}2", f"{Item.CHECKPOINT}1"]
    assert waiting(records, before=NOW.astimezone(jakarta)) == [f"{Item.CHECKPOINT}2"]
    found = records.get(f"{Item.CHECKPOINT}1")
    assert found is not None
    assert found.due == NOW + LATER


def test_lists_are_kept_apart(records: Records) -> None:
    """Alerts to send are not checkpoints."""
    records.put(f"{Item.CHECKPOINT}1", {}, expected=NEW, due=NOW)
    records.put(f"{Item.OUTBOX}1", {}, expected=NEW, due=NOW)
    records.put(f"{Item.SESSION}1", {}, expected=NEW)

    assert waiting(records) == [f"{Item.CHECKPOINT}1"]
    assert keys(records.due(Item.OUTBOX, before=None, limit=10)) == [f"{Item.OUTBOX}1"]
    assert records.due(Item.SESSION, before=None, limit=10) == []


def test_a_write_moves_a_record_on_its_list_and_off_it(records: Records) -> None:
    """What is closed waits for nobody."""
    other = f"{Item.CHECKPOINT}other"
    records.put(other, {}, expected=NEW, due=NOW + LATER)
    records.put(KEY, {}, expected=NEW, due=NOW)
    records.put(KEY, {}, expected=1, due=NOW + 2 * LATER)
    assert waiting(records) == [other, KEY]
    assert waiting(records, before=NOW) == []

    records.put(KEY, {}, expected=2)
    assert waiting(records) == [other]

    records.put(KEY, {}, expected=3, due=NOW)
    assert waiting(records) == [KEY, other]


def test_a_list_is_as_long_as_it_is(records: Records) -> None:
    """More than one batch of the table's, and no record twice."""
    written = [f"{Item.CHECKPOINT}{number:03}" for number in range(130)]
    for number, key in enumerate(written):
        records.put(key, {"n": number}, expected=NEW, due=NOW + number * LATER)

    assert waiting(records, limit=1_000) == written
    assert waiting(records, limit=101) == written[:101]
    assert waiting(records, before=NOW + 119 * LATER, limit=1_000) == written[:120]


def test_a_record_that_may_be_forgotten_later_is_there_until_then(records: Records) -> None:
    """A session lives for a month after its last turn; another store may forget it on the very day."""
    records.put(KEY, {"a": 1}, expected=NEW, forget_at=datetime(2999, 1, 1, tzinfo=UTC))
    records.put(KEY, {"a": 2}, expected=1, forget_at=datetime(2999, 1, 2, tzinfo=UTC))

    assert records.get(KEY) == Record(KEY, 2, {"a": 2})


def test_a_store_can_be_closed_twice(place: Place) -> None:
    """An invocation that fails while it ends still lets go."""
    records = place.open()
    records.put(KEY, {}, expected=NEW)
    records.close()
    records.close()
