"""Go through files of JSON lines, one line in memory at a time, and give those that answer a question."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from console.progress import Progress, no_progress
from console.trace.record import Note

LINE_LIMIT: Final = 16 << 20
"""Bytes of a line at most: a longer one is passed over."""
KEPT_LIMIT: Final = 200_000
"""Lines that one question keeps at most."""
BROKEN_LIMIT: Final = 100
"""Broken lines that one question shows at most."""
_BEGINNING: Final = 4_096
"""Bytes that are kept of a broken line."""
_TOLD_EVERY: Final = 32 << 20
"""Bytes after which progress is told again."""
_MEGABYTE: Final = 1 << 20

Document = Mapping[str, Any]
Found = tuple[bytes, Document]


class LineSearch:
    """Search files for one question, and note what a reader must know of the search."""

    def __init__(
        self, files: Collection[Path], progress: Progress = no_progress, *, kept_limit: int = KEPT_LIMIT
    ) -> None:
        """Take the files; one that is not there is noted when it is looked for."""
        self._files = files
        self._progress = progress
        self._kept_limit = kept_limit
        self._broken = 0
        self._notes: dict[str, Note] = {}

    @property
    def notes(self) -> tuple[Note, ...]:
        """Give what was noted so far."""
        return tuple(self._notes.values())

    def matching(
        self, hints: Collection[str], matches: Callable[[Document], bool], *, broken: bool = True
    ) -> Iterator[Found]:
        """Give each line whose object matches, with the object.

        Args:
            hints: texts of which a matching line holds at least one, so that others need not be parsed.
            matches: tells of an object whether it is wanted.
            broken: also give the beginnings of lines that were cut off, with an empty object: they may belong here, and
                nobody can tell.
        """
        marks = [hint.encode() for hint in hints]
        for raw in self._lines():
            whole = raw.strip()
            if not any(mark in whole for mark in marks) and whole.endswith(b"}"):
                continue
            document = _object(whole)
            if document is None:
                if broken and whole.startswith(b"{") and self._may_show_broken():
                    yield whole[:_BEGINNING], {}
            elif matches(document):
                yield raw, document

    def kept(self, raw: Iterable[bytes]) -> Iterator[bytes]:
        """Give lines up to the limit, which is noted where it cuts."""
        for count, line in enumerate(raw):
            if count == self._kept_limit:
                text = f"only the first {self._kept_limit} lines are shown"
                self._note(Note("too_many_lines", text, partial=True))
                return
            yield line

    def _may_show_broken(self) -> bool:
        self._broken += 1
        if self._broken > BROKEN_LIMIT:
            text = f"more than {BROKEN_LIMIT} lines were cut off; the first are shown"
            self._note(Note("broken_lines", text, partial=True))
        return self._broken <= BROKEN_LIMIT

    def _lines(self) -> Iterator[bytes]:
        for path in self._files:
            try:
                with path.open("rb") as file:
                    yield from self._lines_of(path, file)
            except FileNotFoundError:
                self._note(Note("no_file", f"{path} is not there", partial=True))
            except OSError as error:
                self._note(Note("unreadable_file", f"{path} cannot be read: {error.strerror}", partial=True))

    def _lines_of(self, path: Path, file: BinaryIO) -> Iterator[bytes]:
        read = told = 0
        while raw := file.readline(LINE_LIMIT):
            read += len(raw)
            if len(raw) == LINE_LIMIT and not raw.endswith(b"\n"):
                self._pass_over(path, file)
                continue
            yield raw
            if read - told >= _TOLD_EVERY:
                told = read
                self._progress(f"{path.name}: {read // _MEGABYTE} MB read")

    def _pass_over(self, path: Path, file: BinaryIO) -> None:
        while (rest := file.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
            pass
        text = f"{path} holds a line of more than {LINE_LIMIT // _MEGABYTE} MB, which was passed over"
        self._note(Note("line_too_long", text, partial=True))

    def _note(self, note: Note) -> None:
        self._notes[note.text] = note


def _object(line: bytes) -> Document | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
