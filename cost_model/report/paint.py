"""Name the colours of charts; the page's style says what each is, in the light, in the dark and on paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final


class Paint(Enum):
    """Name a colour by the custom property that holds it."""

    INK = "ink"
    DIM = "dim"
    LINE = "line"
    CARD = "card"
    MORE = "more"
    LESS = "less"
    FIRST = "s0"
    SECOND = "s1"
    THIRD = "s2"
    FOURTH = "s3"
    FIFTH = "s4"
    SIXTH = "s5"
    SEVENTH = "s6"
    REST = "rest"

    @property
    def placeholder(self) -> str:
        """Return the colour to draw with: a drawing library knows colours, and no properties of a page."""
        return f"{_PREFIX}{list(Paint).index(self):02x}"


SERIES: Final[Sequence[Paint]] = (
    Paint.FIRST,
    Paint.SECOND,
    Paint.THIRD,
    Paint.FOURTH,
    Paint.FIFTH,
    Paint.SIXTH,
    Paint.SEVENTH,
)
"""Colours that tell series apart, also for people who see fewer of them; what is left over is REST."""

_PREFIX: Final = "#fe01"
_PLACEHOLDER: Final = re.compile(rf"{_PREFIX}([0-9a-f]{{2}})")


def as_property(colour: str) -> str:
    """Turn a placeholder into a reference to the page's property; anything else stays."""
    return _PLACEHOLDER.sub(lambda match: f"var(--{list(Paint)[int(match[1], 16)].value})", colour)
