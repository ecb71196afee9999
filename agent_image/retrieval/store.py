"""Say what a store of passages is: each distinct text once, under its fingerprint, until somebody erases it.

Both backends hold one rule. A writer may only create an object; whoever erases puts an empty object in its place. So
the place itself decides a race: a writer that comes late finds the place taken, and an erased text never comes back,
whatever crashes in between. The one who writes needs no right to delete or to read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol

from agent_image.errors import StoreError
from agent_image.retrieval.failure import Failure

_MESSAGES: Final[Mapping[Failure, str]] = MappingProxyType(
    {
        Failure.THROTTLED: "The archive is busy. Try again in a moment.",
        Failure.ACCESS_DENIED: "The archive may not be used by this role.",
        Failure.NOT_FOUND: "The archive does not exist.",
        Failure.INVALID: "The archive refused the request as invalid.",
        Failure.UNAVAILABLE: "The archive cannot be reached.",
    }
)


class State(StrEnum):
    """Say what a store knows of a text."""

    KNOWN = "known"
    ERASED = "erased"


class PassageStore(Protocol):
    """Hold texts by the text form of their fingerprints."""

    def known(self, fingerprints: Collection[str]) -> Mapping[str, State]:
        """Tell, in one read, which of these are stored or erased; what was never stored is left out.

        Raises:
            StoreError: the store did not answer.
        """
        ...

    def put(self, fingerprint: str, data: bytes) -> None:
        """Store a text, as UTF-8 and not empty, unless it is stored or erased already.

        Raises:
            StoreError: the text may not be stored; storing it again is safe.
        """
        ...

    def get(self, fingerprint: str) -> bytes | None:
        """Give a text; None where it was never stored, or was erased.

        Raises:
            StoreError: the store did not answer.
        """
        ...

    def erase(self, fingerprint: str) -> None:
        """Erase a text for good, stored or not; erasing it again changes nothing.

        Raises:
            StoreError: the text may still be there; erasing it again is safe.
        """
        ...


def refusal(failure: Failure) -> StoreError:
    """Say that a store did not answer, in words that hold nothing of a passage."""
    return StoreError(failure, _MESSAGES[failure])
