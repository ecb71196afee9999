"""Stand in for a text stream, so that what is printed reaches a guard and nothing else."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any, Final, TextIO

LINE_LIMIT: Final = 2**16
"""Characters that wait for the end of their line."""


class GuardedStream(io.TextIOBase):
    """Stand in for a text stream: whole lines go to the guard, and none to the stream."""

    encoding = "utf-8"
    errors = "replace"
    mode = "w"
    line_buffering = True

    def __init__(self, stream: TextIO, name: str, printed: Callable[[str, str], None]) -> None:
        """Take the stream that answers what it is, its name, and what is told of each text."""
        self.name = f"<{name}>"
        self.buffer = GuardedBytes(self)
        self._stream = stream
        self._source = name
        self._printed = printed
        self._lock = threading.RLock()
        self._waiting = ""

    def writable(self) -> bool:
        """Say that it takes text."""
        return True

    def isatty(self) -> bool:
        """Say whether a terminal stands behind it."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Give the file behind it."""
        return self._stream.fileno()

    def reconfigure(self, **_: object) -> None:
        """Change nothing: what leaves is ASCII."""

    def write(self, text: str) -> int:
        """Take text; whole lines of one call are one text."""
        with self._lock:
            whole, end, self._waiting = (self._waiting + text).rpartition("\n")
            if end:
                self._printed(self._source, whole)
            if len(self._waiting) > LINE_LIMIT:
                self.flush()
        return len(text)

    def flush(self) -> None:
        """Tell of a line that has not ended yet."""
        with self._lock:
            waiting, self._waiting = self._waiting, ""
            if waiting:
                self._printed(self._source, waiting)

    def close(self) -> None:
        """Tell of what waits; the stream itself stays as it is."""
        self.flush()


class GuardedBytes(io.BufferedIOBase):
    """Stand in for the bytes below a text stream."""

    def __init__(self, text: GuardedStream) -> None:
        """Take the text stream that guards them."""
        self.name = text.name
        self._text = text

    def writable(self) -> bool:
        """Say that it takes bytes."""
        return True

    def fileno(self) -> int:
        """Give the file behind it."""
        return self._text.fileno()

    def write(self, data: Any) -> int:  # noqa: ANN401 - anything that has bytes
        """Take bytes, as text."""
        taken = bytes(data)
        self._text.write(taken.decode("utf-8", "replace"))
        return len(taken)

    def flush(self) -> None:
        """Tell of a line that has not ended yet."""
        self._text.flush()

    def close(self) -> None:
        """Stay open: the text stream is."""
