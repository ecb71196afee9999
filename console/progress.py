"""Show how far a long command is: one line on a terminal's standard error, rewritten; nothing in a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final, Protocol, TextIO

from console.terminal import shown_line

_ERASE: Final = "\r\x1b[2K"
"""Back to the line's beginning, and wipe it."""


class Progress(Protocol):
    """Take a short sentence about what is being done; it may be called from any thread."""

    def __call__(self, text: str, /) -> None:
        """Show it in the place of the one before."""
        ...


def no_progress(_text: str, /) -> None:
    """Show nothing."""


@contextmanager
def progress_on_terminal(stream: TextIO | None = None) -> Iterator[Progress]:
    """Show progress until the block ends, and leave no trace of it: standard error where no stream is named."""
    terminal = sys.stderr if stream is None else stream
    if not terminal.isatty():
        yield no_progress
        return
    lock = Lock()

    def rewritten(text: str, /) -> None:
        # One column stays free: a line that fills the last one has wrapped on some terminals.
        width = shutil.get_terminal_size().columns - 1
        with lock:
            terminal.write(f"{_ERASE}{shown_line(text)[:width]}")
            terminal.flush()

    try:
        yield rewritten
    finally:
        terminal.write(_ERASE)
        terminal.flush()
