"""Write events as slim lines on standard output, where metric filters and `rastro trace` read them.

The same record as the audit's, with length and digest in the place of each text, so nobody's words leave the process.
The lines carry the audit's hashes too: a copy that the store and the audit's bucket know nothing of.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

from agent_image.digest import Digest
from agent_image.guard.audit import Sealed
from agent_image.guard.events import Event, Text, members
from agent_image.guard.plain import Words
from agent_image.notice import notice

TOLD_EVERY: Final = 1_000
"""How many lost lines one notice speaks for, after the first."""
_STANDARD_OUTPUT: Final = 1


def slim_text(digest: Digest) -> Text:
    """Give the way to write a text without saying it."""

    def told(words: Words) -> str:
        return f'{{"bytes":{words.size},"digest":"{words.digest(digest)}"}}'

    return told


def slim_line(event: Event, text: Text, sealed: Sealed) -> bytes:
    """Render an event, with the hashes of its line in the audit; each byte is paid for, so nothing says null."""
    return f"{{{members(event, text, unknown=False)},{sealed.links}}}\n".encode()


def to_standard_output(line: bytes) -> None:
    """Write a line, whole, whatever guards sys.stdout against free text."""
    left = memoryview(line)
    while left:
        left = left[os.write(_STANDARD_OUTPUT, left) :]


class SlimLine:
    """Write each event's slim line as far as it can be: a lost one is counted, and ends nothing."""

    def __init__(
        self,
        digest: Digest,
        write: Callable[[bytes], object] = to_standard_output,
        *,
        whole: Text | None = None,
        tell: Callable[..., None] = notice,
    ) -> None:
        """Take what digests texts and what writes a line.

        `whole` writes texts as they are to be read: only where the regime holds content. `tell` informs an operator.
        """
        self._text = slim_text(digest) if whole is None else whole
        self._write = write
        self._tell = tell
        self._lock = Lock()
        self.lost = 0

    def __call__(self, event: Event, sealed: Sealed) -> None:
        """Write an event."""
        try:
            line = slim_line(event, self._text, sealed)
            with self._lock:
                self._write(line)
        except Exception as error:  # noqa: BLE001 - a line that nobody reads is no reason to end a run
            self._lose(type(error).__name__)

    def _lose(self, reason: str) -> None:
        with self._lock:
            self.lost += 1
            count = self.lost
        if count % TOLD_EVERY != 1:
            return
        facts: Mapping[str, Any] = {"count": count, "reason": reason}
        try:
            self._tell("slim_lines_lost", **facts)
        except OSError:
            # Standard error is gone too: the count stays.
            return
