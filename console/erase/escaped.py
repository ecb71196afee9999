"""Read a text as it is without its escapes: those of JSON, of JSON within JSON, and of Python's notation. Pure.

There a line's end is a backslash and a letter, and a letter may be the backslash, `u` and four digits; each level of
nesting puts more backslashes before each. However many there are, they are left out, and each of our letters knows
where it stood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

_ESCAPE: Final = re.compile(
    r"\\+(?:(?P<space>[nrtfv])|u(?P<four>[0-9a-fA-F]{4})|x(?P<two>[0-9a-fA-F]{2})|U(?P<eight>[0-9a-fA-F]{8})|(?P<self>.)?)"
    r"|(?P<plain>[^\\]+)",
    re.DOTALL,
)
_HIGH: Final = range(0xD800, 0xDC00)
_LOW: Final = range(0xDC00, 0xE000)
_LAST: Final = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Unescaped:
    """Hold a text without its escapes.

    Attributes:
        starts: where each of its characters begins in the text that it was read of, and where that ends.
    """

    text: str
    starts: Sequence[int]

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a text."""
        characters, starts = list[str](), list[int]()
        for found in _ESCAPE.finditer(text):
            if (plain := found["plain"]) is not None:
                characters += plain
                starts += range(found.start(), found.end())
            elif character := _character(found):
                if characters and ord(character) in _LOW and ord(characters[-1]) in _HIGH:
                    character = (characters.pop() + character).encode("utf-16", "surrogatepass").decode("utf-16")
                else:
                    starts.append(found.start())
                characters.append(character)
        return cls("".join(characters), (*starts, len(text)))


def _character(found: re.Match[str]) -> str:
    """Give what an escape stands for; nothing where the text ends in the middle of it."""
    if found["space"] is not None:
        return " "
    for name in ("four", "two", "eight"):
        if (digits := found[name]) is not None:
            code = int(digits, 16)
            return chr(code) if code <= _LAST else ""
    return found["self"] or ""
