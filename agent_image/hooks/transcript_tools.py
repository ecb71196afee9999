"""Read and search one transcript for a model: that file alone, and never more than fits into an answer.

A search is for words as they stand, in any case. It is for no regular expression: one that a model writes may take
longer than anybody waits, and nothing could stop it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

LINES: Final = 400
"""Lines that one answer has at most."""
LINE_LENGTH: Final = 2_000
"""Characters of one line that are shown."""
LENGTH: Final = 24_000
"""Characters that one answer has at most, but for its last line."""
CUT: Final = " (cut)"


class Refused(Exception):  # noqa: N818 - it is an answer to the model
    """Say to a model why it gets nothing."""


class TranscriptFile:
    """Let a model look into one file."""

    def __init__(self, path: Path) -> None:
        """Take the file."""
        self._path = path

    @property
    def exists(self) -> bool:
        """Tell whether there is anything to read."""
        return self._path.is_file() and self._path.stat().st_size > 0

    def read(self, path: str, offset: int = 1, limit: int = LINES) -> str:
        """Give lines from `offset`, the first being 1, each behind its number.

        Raises:
            Refused: it is another file, or there is no such line.
        """
        lines = self._of(path)
        if not 1 <= offset <= len(lines):
            message = f"There is no line {offset}: the file has {len(lines)}."
            raise Refused(message)
        wanted = range(offset, min(offset + max(1, min(limit, LINES)), len(lines) + 1))
        shown = _shown(lines, wanted)
        behind = offset + len(shown)
        if behind <= len(lines):
            shown.append(f"(The file has {len(lines)} lines; go on with offset {behind}.)")
        return "\n".join(shown)

    def search(self, path: str, text: str, offset: int = 1) -> str:
        """Give the lines from `offset` that hold a text, whatever its case, each behind its number.

        Raises:
            Refused: it is another file, or there is nothing to search for.
        """
        lines = self._of(path)
        if not (sought := text.casefold()):
            message = "There is nothing to search for: text is empty."
            raise Refused(message)
        found = [number for number in range(max(1, offset), len(lines) + 1) if sought in lines[number - 1].casefold()]
        if not found:
            return "(No line holds this text.)"
        shown = _shown(lines, found[:LINES])
        if len(shown) < len(found):
            shown.append(f"({len(found)} lines hold this text; go on with offset {found[len(shown)]}.)")
        return "\n".join(shown)

    def _of(self, path: str) -> Sequence[str]:
        # The very name that the model was given: what another name leads to is not looked up.
        if path != str(self._path):
            message = f"Only this file can be read: {self._path}"
            raise Refused(message)
        return self._lines

    @cached_property
    def _lines(self) -> Sequence[str]:
        # Other line ends than this one were somebody's words.
        lines = self._path.read_bytes().decode("utf-8", "replace").split("\n")
        return lines[:-1] if lines and not lines[-1] else lines


def _shown(lines: Sequence[str], numbers: Iterable[int]) -> list[str]:
    """Number lines, as many as one answer holds: one at least."""
    shown: list[str] = []
    left = LENGTH
    for number in numbers:
        line = lines[number - 1]
        told = f"{number}: {line if len(line) <= LINE_LENGTH else line[:LINE_LENGTH] + CUT}"
        left -= len(told)
        if left < 0 and shown:
            break
        shown.append(told)
    return shown
