"""Keep what a hook writes, to a limit, and give its words as a text that may be read."""

from __future__ import annotations

import os
import re
import unicodedata
from typing import Final

_READ: Final = 1 << 16
_SEQUENCES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""What moves a terminal's cursor or colours its text: without the first character, it is noise."""
_KEPT: Final = frozenset("\n\t")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Categories of characters that show nothing, or change how others show."""


class Output:
    """Keep the first bytes of a stream."""

    def __init__(self, limit: int) -> None:
        """Take how many bytes are kept."""
        self._limit = limit
        self.kept = bytearray()
        self.over = False

    def read(self, source: int) -> bool:
        """Read once from a descriptor that does not block; False: it has ended."""
        try:
            data = os.read(source, _READ)
        except BlockingIOError:
            return True
        room = self._limit - len(self.kept)
        self.over = self.over or len(data) > room
        self.kept += data[:room]
        return bool(data)

    def drain(self, source: int) -> None:
        """Read what is there, when nobody writes any more: the end comes after it."""
        held = 0
        while self.read(source) and len(self.kept) > held:
            held = len(self.kept)


def readable(data: bytes) -> str:
    """Give bytes as a text without control characters, formatting characters and white space around it."""
    text = _SEQUENCES.sub("", data.decode(errors="replace").replace("\r\n", "\n"))
    return "".join(sign for sign in text if sign in _KEPT or unicodedata.category(sign) not in _HIDDEN).strip()
