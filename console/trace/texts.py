"""Say a text as far as the trail has it: the words, or length and digest, and why there are no words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent_image.contract import Regime
from console.trace.session import Words
from console.trace.values import count, members, text

CUT: Final = "cut where it was recorded"
NOT_IN_TRAIL: Final = "not in the trail"


def why_none(regimes: Sequence[Regime]) -> str:
    """Say why a text that there was is not there."""
    if Regime.CONTENT in regimes:
        return NOT_IN_TRAIL
    return f"not recorded (regime {' or '.join(regimes)})" if regimes else "not recorded"


def words_of(field: object, why: str) -> Words:
    """Read what an event holds of a text: `{bytes, digest}`, or its beginning as well; `why` says why no words are."""
    if isinstance(field, str):
        return spoken(field)
    told = members(field)
    size, digest = count(told.get("bytes")), text(told.get("digest"))
    if isinstance(said := told.get("text"), str):
        return Words(said, size, digest, CUT if told.get("truncated") is True else "")
    # An empty text says nothing, and that is known.
    return Words("", size, digest) if size == 0 else Words(None, size, digest, why)


def spoken(said: str) -> Words:
    """Hold a text that stands there whole."""
    return Words(said, len(said.encode("utf-8", "replace")))
