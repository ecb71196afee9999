"""Say that the guard's store did not do what was asked, in words that hold nothing of a record."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from agent_image.guard.records import StoreUnavailable
from agent_image.retrieval.failure import Failure

FULL: Final = "full"
"""The code of a store that has no room left."""
FOREIGN: Final = "store_foreign"
"""The code of what lies in a store's place and is none."""
DAMAGED: Final = "store_damaged"
"""The code of a store whose file is broken."""

_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        FULL: "The guard's store has no room left.",
        FOREIGN: "What lies in the place of the guard's store was written by another program.",
        DAMAGED: "The guard's store is damaged.",
        Failure.THROTTLED: "The guard's store is busy. Try again in a moment.",
        Failure.ACCESS_DENIED: "The guard's store may not be used by this process.",
        Failure.NOT_FOUND: "The guard's store does not exist.",
        Failure.INVALID: "The guard's store refused the request as invalid.",
        Failure.UNAVAILABLE: "The guard's store cannot be reached.",
    }
)


def refusal(code: str) -> StoreUnavailable:
    """Say why, by one of the names of Failure, or a code of this module."""
    return StoreUnavailable(code, _MESSAGES[code])
