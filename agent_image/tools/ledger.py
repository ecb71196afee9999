"""Keep a small ledger of effects: JSON lines that processes share, each effect once.

It is what the sample's tools act on, in the place of a ticket system and a payment provider, and it behaves as those
should: an idempotency key that is known gets the answer it got before, and a fencing token that has been outdone gets
none. Each booking reads the whole file under its lock; a laptop's ledger is small.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, Final

from agent_image.errors import NoEffect, StoreError

FENCE: Final = "fence"
"""The kind of the entries that raise a session's mark; all others are effects."""
ATTEMPTS: Final = 100
PAUSE_SECONDS: Final = 0.05
"""Between two attempts to lock the file; a process that is stopped while it holds the lock keeps nobody for ever."""
_READ: Final = 1 << 16

Entry = Mapping[str, Any]


class StaleFence(NoEffect):
    """Say that another owner holds the session by now."""


class KeyReused(NoEffect):
    """Say that an idempotency key came again with something else."""


class NotBooked(NoEffect):
    """Say that the ledger cannot be read, so that nothing was written."""


class Ledger:
    """Book effects in a file, which is made when the first comes."""

    def __init__(self, path: Path) -> None:
        """Take the file."""
        self._path = path

    def book(self, kind: str, key: str, fence: int, session_id: str, **facts: str) -> Entry:
        """Book an effect durably, and give its entry; for a key that is known, the entry that it has.

        Raises:
            StaleFence: the session's mark is above `fence`.
            KeyReused: the key stands for another effect.
            NotBooked: the file cannot be read.
            StoreError: the file cannot be written; the effect may be there or not.
        """
        with self._locked() as file:
            entries = _read(file)
            if fence < _mark(entries, session_id):
                raise StaleFence(
                    "stale_fence", "Another owner holds the session by now: this one takes no effect any more."
                )
            asked = {"kind": kind, "key": key, "session_id": session_id, **facts}
            for entry in entries:
                if entry["kind"] != FENCE and entry["key"] == key:
                    return _same(entry, asked)
            number = sum(entry["kind"] == kind for entry in entries) + 1
            booked = {**asked, "fence": fence, "number": number}
            _append(file, booked)
            return booked

    def fence(self, session_id: str, token: int) -> None:
        """Raise a session's mark durably to `token`, unless it is there: from now on, no lower one takes an effect.

        Raises:
            NotBooked: the file cannot be read.
            StoreError: the file cannot be written; the mark may be raised or not.
        """
        with self._locked() as file:
            if token > _mark(_read(file), session_id):
                _append(file, {"kind": FENCE, "session_id": session_id, "fence": token})

    def effects(self) -> Sequence[Entry]:
        """List the effects, in the order of their booking.

        Raises:
            NotBooked: the file cannot be read.
        """
        with self._locked() as file:
            return [entry for entry in _read(file) if entry["kind"] != FENCE]

    @contextmanager
    def _locked(self) -> Iterator[int]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError:
            raise _unreadable() from None
        try:
            _lock(file)
            yield file
        finally:
            os.close(file)


def _lock(file: int) -> None:
    pause = Event()
    for _ in range(ATTEMPTS):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pause.wait(PAUSE_SECONDS)
        except OSError:
            raise _unreadable() from None
        else:
            return
    raise NotBooked("ledger_busy", "Another process holds the ledger.")


def _read(file: int) -> list[dict[str, Any]]:
    """Read the entries; cut off what a writer that died left unfinished, for nobody was told of it."""
    try:
        os.lseek(file, 0, os.SEEK_SET)
        data = b"".join(iter(lambda: os.read(file, _READ), b""))
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(file, whole)
    except OSError:
        raise _unreadable() from None
    try:
        entries = [json.loads(line) for line in data[:whole].splitlines()]
    except ValueError:
        raise _malformed() from None
    if not all(_is_entry(entry) for entry in entries):
        raise _malformed()
    return entries


def _is_entry(entry: object) -> bool:
    match entry:
        case {"kind": "fence", "session_id": str(), "fence": int()}:
            return True
        case {"kind": str(), "key": str(), "session_id": str(), "fence": int(), "number": int()}:
            return True
        case _:
            return False


def _append(file: int, entry: Entry) -> None:
    line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
    try:
        if os.write(file, line) != len(line):
            raise _unwritten()
        os.fsync(file)
    except OSError:
        raise _unwritten() from None


def _mark(entries: Sequence[Entry], session_id: str) -> int:
    return max((entry["fence"] for entry in entries if entry["session_id"] == session_id), default=0)


def _same(entry: Entry, asked: Entry) -> Entry:
    if {**entry, **asked} != entry or len(entry) != len(asked) + len({"fence", "number"}):
        raise KeyReused("idempotency_key_reused", "This idempotency key stands for another effect.")
    return entry


def _unreadable() -> NotBooked:
    return NotBooked("ledger_unreadable", "The ledger cannot be read.")


def _malformed() -> NotBooked:
    return NotBooked("ledger_malformed", "The ledger holds a line that is no entry.")


def _unwritten() -> StoreError:
    return StoreError("ledger_unwritten", "The ledger cannot be written: whether it holds this entry is not known.")
