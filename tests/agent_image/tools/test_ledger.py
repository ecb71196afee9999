"""The ledger books each effect once, for whoever holds the session, and says when it cannot."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_image.errors import NoEffect, StoreError
from agent_image.tools import ledger as module
from agent_image.tools.ledger import KeyReused, Ledger, NotBooked, StaleFence
from tests.conftest import ROOT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ledger.jsonl"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger(path)


def test_an_effect_is_one_line(ledger: Ledger, path: Path) -> None:
    """Under its owner's eyes alone."""
    entry = ledger.book("refund", "k1", 2, "s", order_id="5501", amount="150.00")

    assert entry == {
        "kind": "refund", "key": "k1", "session_id": "s", "order_id": "5501", "amount": "150.00", "fence": 2,
        "number": 1,
    }  # fmt: skip
    assert [json.loads(line) for line in path.read_text().splitlines()] == [entry]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_known_key_gets_its_first_entry(ledger: Ledger) -> None:
    """However often it comes, under the same or a later token: nothing is booked again."""
    first = ledger.book("refund", "k1", 2, "s", amount="1.00")

    assert ledger.book("refund", "k1", 2, "s", amount="1.00") == first
    assert ledger.book("refund", "k1", 7, "s", amount="1.00") == first
    assert ledger.effects() == [first]


@pytest.mark.parametrize(
    ("kind", "session_id", "facts"),
    [
        ("refund", "s", {"amount": "2.00", "order_id": "1"}),
        ("refund", "s", {"amount": "1.00"}),
        ("refund", "s", {"amount": "1.00", "order_id": "1", "note": ""}),
        ("ticket", "s", {"amount": "1.00", "order_id": "1"}),
        ("refund", "another", {"amount": "1.00", "order_id": "1"}),
    ],
)
def test_a_key_stands_for_one_effect(ledger: Ledger, kind: str, session_id: str, facts: dict[str, str]) -> None:
    """With other facts, of another kind or from another session it is refused."""
    first = ledger.book("refund", "k1", 1, "s", amount="1.00", order_id="1")

    with pytest.raises(KeyReused, match="idempotency_key_reused"):
        ledger.book(kind, "k1", 1, session_id, **facts)

    assert ledger.effects() == [first]


def test_effects_of_a_kind_are_numbered(ledger: Ledger) -> None:
    """Tickets and refunds each from 1 on."""
    kinds = ["ticket", "refund", "ticket", "refund"]
    entries = [ledger.book(kind, f"k{n}", 1, "s") for n, kind in enumerate(kinds)]

    assert [entry["number"] for entry in entries] == [1, 1, 2, 2]


@pytest.mark.parametrize("raised_by", ["fence", "book"])
def test_an_outdone_token_takes_no_effect(ledger: Ledger, raised_by: str) -> None:
    """Whether the new owner announced itself or booked; a key that is known is refused as well. Others go on."""
    ledger.book("refund", "before", 1, "s")
    if raised_by == "fence":
        ledger.fence("s", 2)
    else:
        ledger.book("refund", "after", 2, "s")
    effects = ledger.effects()

    for key in ("late", "before"):
        with pytest.raises(StaleFence, match="stale_fence"):
            ledger.book("refund", key, 1, "s")
    assert ledger.effects() == effects
    assert ledger.book("refund", "theirs", 1, "another")


def test_a_mark_is_raised_once_and_is_no_effect(ledger: Ledger, path: Path) -> None:
    """The same token again or a lower one leaves no line; a second process sees the mark."""
    for token in (3, 3, 2):
        ledger.fence("s", token)

    assert len(path.read_text().splitlines()) == 1
    assert ledger.effects() == []
    with pytest.raises(StaleFence):
        Ledger(path).book("refund", "k", 2, "s")


@pytest.mark.parametrize("tail", ['{"kind":"refund","key":"k2"', '{"kind":"refund"}'[:-1], "\x00\x00"])
def test_what_a_dying_writer_left_unfinished_was_never_booked(ledger: Ledger, path: Path, tail: str) -> None:
    """Nobody was told of it; the next line stands by itself."""
    first = ledger.book("refund", "k1", 1, "s")
    with path.open("a") as file:
        file.write(tail)

    second = ledger.book("refund", "k2", 1, "s")

    assert ledger.effects() == [first, second]


@pytest.mark.parametrize(
    "line", ["{", "[]", "null", '{"kind":"refund"}', '{"kind":"fence","session_id":"s","fence":"2"}', "\udcff"]
)
def test_a_line_that_is_no_entry_stops_the_ledger(ledger: Ledger, path: Path, line: str) -> None:
    """Who cannot tell what was booked books nothing."""
    path.parent.mkdir()
    path.write_bytes(line.encode(errors="surrogateescape") + b"\n")

    for attempt in (lambda: ledger.book("refund", "k", 1, "s"), lambda: ledger.fence("s", 1), ledger.effects):
        with pytest.raises(NotBooked, match="ledger_malformed"):
            attempt()

    assert path.read_bytes().count(b"\n") == 1


def test_a_ledger_that_cannot_be_opened_books_nothing(tmp_path: Path) -> None:
    """A folder stands in its place."""
    with pytest.raises(NoEffect, match="ledger_unreadable"):
        Ledger(tmp_path).book("refund", "k", 1, "s")


def test_a_held_ledger_is_not_waited_for_without_end(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its holder may be stopped."""
    ledger.book("refund", "k1", 1, "s")
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0)

    with path.open() as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(NotBooked, match="ledger_busy"):
            ledger.book("refund", "k2", 1, "s")

    assert ledger.book("refund", "k2", 1, "s")["number"] == 2


@contextmanager
def small_disk(path: Path) -> Iterator[None]:
    """Let files grow by a part of a line, as a full disk does: the log of the tests is one of them, so not for long."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20 if path.exists() else 20, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def test_a_full_disk_leaves_a_doubt(ledger: Ledger, path: Path) -> None:
    """A part of the line is there: whoever asked is not told that nothing happened."""
    with small_disk(path), pytest.raises(StoreError, match="ledger_unwritten") as raised:
        ledger.book("refund", "k1", 1, "s")

    assert not isinstance(raised.value, NoEffect)
    assert path.stat().st_size == 20
    assert ledger.effects() == []


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_an_entry_that_may_not_last_is_not_confirmed(
    ledger: Ledger, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither without its bytes nor without the disk's word."""

    def refuse(*_: object) -> int:
        raise OSError

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(StoreError, match="ledger_unwritten"):
        ledger.book("refund", "k1", 1, "s")


def test_no_file_stays_open(ledger: Ledger) -> None:
    """However many bookings there are, refused ones too."""
    ledger.book("refund", "k", 5, "s")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with pytest.raises(StaleFence):
            ledger.book("refund", "k", 1, "s")

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_processes_share_a_ledger(path: Path) -> None:
    """Of one key that all of them book there is one entry, of the others each has its own, and each line is whole."""
    booking = [sys.executable, "-m", "tests.agent_image.tools.booking", str(path)]
    others = [subprocess.Popen([*booking, name, "10"], cwd=ROOT, stdout=subprocess.PIPE, text=True) for name in "abcd"]

    refused = [other.communicate()[0] for other in others]

    assert refused == [""] * 4
    keys = sorted(entry["key"] for entry in Ledger(path).effects())
    assert keys == sorted(["shared", *(f"{name}-{n}" for name in "abcd" for n in range(10))])
    assert sorted(entry["number"] for entry in Ledger(path).effects()) == list(range(1, 42))


BOOKINGS = st.tuples(st.just("book"), st.sampled_from("ab"), st.sampled_from("kl"), st.integers(1, 4))
FENCES = st.tuples(st.just("fence"), st.sampled_from("ab"), st.just(""), st.integers(1, 4))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(BOOKINGS | FENCES, max_size=20))
def test_no_history_lets_an_outdone_owner_in(path: Path, steps: list[tuple[str, str, str, int]]) -> None:
    """Against a model in memory: the highest token so far decides, then the key."""
    path.unlink(missing_ok=True)
    ledger, marks, booked = Ledger(path), dict.fromkeys("ab", 0), set[str]()

    for verb, session, key, token in steps:
        if verb == "fence":
            ledger.fence(session, token)
            marks[session] = max(marks[session], token)
        elif token < marks[session]:
            with pytest.raises(StaleFence):
                ledger.book("refund", key + session, token, session)
        else:
            ledger.book("refund", key + session, token, session)
            # A key that is known leaves no line, and raises no mark.
            marks[session] = marks[session] if key + session in booked else token
            booked.add(key + session)

    assert {entry["key"] for entry in ledger.effects()} == booked
