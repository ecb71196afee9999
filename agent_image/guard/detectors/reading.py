"""Prepare a text for those who look for spans in it; each character keeps its place."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_DASHES: Final = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d")
NUMBER_LIKE: Final = re.compile(r"[0-9][0-9 .()/+-]{5,}[0-9]")
"""Seven digits and more, with what stands between them when people write them."""
_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_IDS: Final = re.compile(
    rf"""
    (?<![0-9a-fA-F-]) [0-9a-fA-F]{{8}} (?:-[0-9a-fA-F]{{4}}){{3}} - [0-9a-fA-F]{{12}} (?![0-9a-fA-F-])  # a UUID
    | (?<![\w.]) {_OCTET} (?:\.{_OCTET}){{3}} (?!\w|\.[0-9])  # an address of IP version 4
    """,
    re.VERBOSE,
)


class _Folding(dict[int, int]):
    """Give each character its plain form, where that is one character too."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        plain = "-" if character in _DASHES else unicodedata.normalize("NFKC", character)
        self[code] = ord(plain) if len(plain) == 1 else code
        return self[code]


_FOLDING: Final = _Folding()


def folded(text: str) -> str:
    """Write wide and mathematical letters and digits, dashes and blanks of every kind as the plain ones."""
    return text if text.isascii() else text.translate(_FOLDING)


def without_ids(text: str) -> str:
    """Put letters in the place of UUIDs and network addresses: their digits are no number of a person."""
    return _IDS.sub(lambda found: "x" * len(found[0]), text)
