"""Progress is one line on a terminal, and nothing anywhere else."""

from __future__ import annotations

from contextlib import suppress
from io import StringIO

import pytest

from console.progress import no_progress, progress_on_terminal


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_nothing() -> None:
    """A log holds no rewritten lines."""
    pipe = StringIO()
    with progress_on_terminal(pipe) as progress:
        progress("reading")

    assert pipe.getvalue() == ""
    assert progress is no_progress


def test_a_terminal_shows_one_line_and_in_the_end_none() -> None:
    """Each text takes the place of the one before."""
    terminal = Terminal()
    with progress_on_terminal(terminal) as progress:
        progress("one")
        progress("two")

    assert terminal.getvalue() == "\r\x1b[2Kone\r\x1b[2Ktwo\r\x1b[2K"


def test_the_line_goes_whatever_happens() -> None:
    """An error is not written behind it."""
    terminal = Terminal()
    with suppress(ZeroDivisionError), progress_on_terminal(terminal) as progress:
        progress(f"{1 // 0}")

    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_a_line_neither_wraps_nor_steers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is cut to the terminal's width, and what could steer it is spelt out."""
    monkeypatch.setenv("COLUMNS", "20")
    terminal = Terminal()
    with progress_on_terminal(terminal) as progress:
        progress("\x1b]0;title\x07" + "x" * 100)

    shown = terminal.getvalue().removeprefix("\r\x1b[2K").removesuffix("\r\x1b[2K")
    assert len(shown) == 19
    assert shown.startswith("\\x1b]0;title\\x07")
