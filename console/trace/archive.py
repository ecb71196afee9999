"""Ask the archive for words, and tell why it does not have them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from agent_image.errors import StoreError
from agent_image.retrieval.failure import Failure
from agent_image.retrieval.fingerprint import Fingerprint, fingerprint
from agent_image.retrieval.store import PassageStore, State

THREADS: Final = 8


class Lack(StrEnum):
    """Name why the archive does not have the words."""

    ERASED = "erased"
    NEVER_STORED = "never_stored"
    GONE = "gone"
    """It was stored and is not there any more, and nobody marked it erased."""
    FORGED = "forged"
    """Something else lies in its place: its fingerprint is another, so it does not count."""
    ACCESS_DENIED = "access_denied"
    NO_ARCHIVE = "no_archive"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Kept:
    """Hold the words as they were retrieved, or why there are none."""

    words: str | None = None
    why: str = ""


class Archive(Protocol):
    """Know words by their fingerprints."""

    def ask(self, wanted: Collection[Fingerprint]) -> Mapping[Fingerprint, Kept]:
        """Tell of each whether it is there; never fails as a whole."""
        ...


class NoArchive:
    """Stand for an agent that has none."""

    def ask(self, wanted: Collection[Fingerprint]) -> Mapping[Fingerprint, Kept]:
        """Say so."""
        return dict.fromkeys(wanted, Kept(why=Lack.NO_ARCHIVE))


class StoredArchive:
    """Ask a store of passages: what it knows in one read, then each text that is there."""

    def __init__(self, store: PassageStore, threads: int = THREADS) -> None:
        """Take the store, and how many texts to read at a time."""
        self._store = store
        self._threads = threads

    def ask(self, wanted: Collection[Fingerprint]) -> Mapping[Fingerprint, Kept]:
        """Tell of each whether it is there."""
        try:
            known = self._store.known({one.text for one in wanted})
        except StoreError as error:
            return dict.fromkeys(wanted, Kept(why=_lack(error)))
        with ThreadPoolExecutor(self._threads) as pool:
            return dict(zip(wanted, pool.map(lambda one: self._kept(one, known.get(one.text)), wanted), strict=True))

    def _kept(self, wanted: Fingerprint, state: State | None) -> Kept:
        if state is not State.KNOWN:
            return Kept(why=Lack.NEVER_STORED if state is None else Lack.ERASED)
        try:
            data = self._store.get(wanted.text)
        except StoreError as error:
            return Kept(why=_lack(error))
        if data is None:
            return Kept(why=Lack.GONE)
        words = data.decode("utf-8", "replace")
        return Kept(words) if fingerprint(words) == wanted else Kept(why=Lack.FORGED)


def _lack(error: StoreError) -> Lack:
    codes: Mapping[str, Lack] = {Failure.ACCESS_DENIED: Lack.ACCESS_DENIED, Failure.NOT_FOUND: Lack.NO_ARCHIVE}
    return codes.get(error.code, Lack.UNREACHABLE)
