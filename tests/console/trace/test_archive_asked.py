"""The archive gives words back, or says why it cannot, and what lies there in their place does not count."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_image.errors import StoreError
from agent_image.retrieval.failure import Failure
from agent_image.retrieval.fingerprint import Fingerprint, fingerprint
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.store import State, refusal
from console.trace.archive import Kept, Lack, NoArchive, StoredArchive

WORDS = "Thirty  days,\nno questions. Grüße."
MARK = fingerprint(WORDS)
OTHER, ERASED, NEVER = (fingerprint(text) for text in ("other", "erased", "never"))


@dataclass
class Store:
    """Hold what is said to be known, and what is there; and count the reads."""

    states: Mapping[str, State] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)
    closed: Failure | None = None
    locked: Failure | None = None
    asked: list[set[str]] = field(default_factory=list)
    got: list[str] = field(default_factory=list)

    def known(self, fingerprints: Collection[str]) -> Mapping[str, State]:
        self.asked.append(set(fingerprints))
        if self.closed is not None:
            raise refusal(self.closed)
        return {one: self.states[one] for one in fingerprints if one in self.states}

    def get(self, fingerprint: str) -> bytes | None:
        self.got.append(fingerprint)
        if self.locked is not None:
            raise refusal(self.locked)
        return self.data.get(fingerprint)

    def put(self, fingerprint: str, data: bytes) -> None:
        raise AssertionError

    def erase(self, fingerprint: str) -> None:
        raise AssertionError


def one(store: Store, mark: Fingerprint = MARK) -> Kept:
    return StoredArchive(store).ask([mark])[mark]


def test_words_come_back_as_they_were_retrieved(tmp_path: Path) -> None:
    """From a real folder; what was erased and what was never there are told apart, and nothing is written."""
    store = FolderPassageStore(tmp_path / "archive")
    store.put(MARK.text, WORDS.encode())
    store.erase(ERASED.text)

    assert StoredArchive(FolderPassageStore(tmp_path / "archive")).ask([MARK, ERASED, NEVER]) == {
        MARK: Kept(WORDS),
        ERASED: Kept(why=Lack.ERASED),
        NEVER: Kept(why=Lack.NEVER_STORED),
    }
    assert StoredArchive(FolderPassageStore(tmp_path / "none")).ask([MARK]) == {MARK: Kept(why=Lack.NEVER_STORED)}
    assert not (tmp_path / "none").exists()


def test_known_is_asked_once_and_only_what_is_there_is_read() -> None:
    """However many passages are wanted."""
    marks = [fingerprint(f"Rule {n}.") for n in range(500)]
    stored = {mark.text: f"Rule {n}.".encode() for n, mark in enumerate(marks) if n % 2}
    store = Store(dict.fromkeys(stored, State.KNOWN), stored)

    found = StoredArchive(store).ask(marks)

    assert [len(asked) for asked in store.asked] == [500]
    assert sorted(store.got) == sorted(stored)
    assert [found[mark].words is not None for mark in marks] == [bool(n % 2) for n in range(500)]


@pytest.mark.parametrize("data", [b"Other words.", b"\xff\xfe", WORDS.encode() + b"."])
def test_words_of_another_fingerprint_are_forged(data: bytes) -> None:
    """Whoever can write there could otherwise change what a model was reading."""
    assert one(Store({MARK.text: State.KNOWN}, {MARK.text: data})) == Kept(why=Lack.FORGED)


def test_a_fingerprint_with_another_length_is_another() -> None:
    """The length is in the address and not in the archive's name."""
    longer = Fingerprint(MARK.text, MARK.length + 1)

    assert one(Store({MARK.text: State.KNOWN}, {MARK.text: WORDS.encode()}), longer) == Kept(why=Lack.FORGED)


def test_what_was_stored_and_is_not_there_is_gone() -> None:
    """Nobody erased it as one should."""
    assert one(Store({MARK.text: State.KNOWN})) == Kept(why=Lack.GONE)


@pytest.mark.parametrize(
    ("failure", "lack"),
    [
        (Failure.ACCESS_DENIED, Lack.ACCESS_DENIED),
        (Failure.NOT_FOUND, Lack.NO_ARCHIVE),
        (Failure.THROTTLED, Lack.UNREACHABLE),
        (Failure.UNAVAILABLE, Lack.UNREACHABLE),
        (Failure.INVALID, Lack.UNREACHABLE),
    ],
)
def test_a_store_that_does_not_answer_says_why(failure: Failure, lack: Lack) -> None:
    """Never: it was never stored."""
    assert one(Store(closed=failure)) == Kept(why=lack)
    assert one(Store({MARK.text: State.KNOWN}, locked=failure)) == Kept(why=lack)


def test_a_failure_of_another_name_is_one_all_the_same() -> None:
    """A store may come to know more of them."""

    class Newer(Store):
        def known(self, fingerprints: Collection[str]) -> Mapping[str, State]:
            raise StoreError("frozen", "The archive is frozen.")

    assert one(Newer()) == Kept(why=Lack.UNREACHABLE)


def test_no_archive_is_said() -> None:
    """Of each passage."""
    assert NoArchive().ask([MARK, OTHER]) == dict.fromkeys([MARK, OTHER], Kept(why=Lack.NO_ARCHIVE))
