"""Read all rows of a query: go on where a limit cuts, and try what failed again in halves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from console.trace.insights.results import Row
from console.trace.insights.running import Asked, End, Ended, Runner
from console.trace.insights.window import MILLISECOND, Window, to_millisecond
from console.trace.record import Note

ROWS_KEPT: Final = 500_000
"""Rows that one question keeps at most."""
_FAILED: Final = frozenset({End.FAILED, End.CANCELLED, End.TIMEOUT, End.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Found:
    """Hold what queries gave.

    Attributes:
        ends: how the queries ended that were not begun, or failed for good, each with what it was asked of.
    """

    rows: tuple[Row, ...]
    notes: tuple[Note, ...]
    ends: tuple[tuple[Asked, End], ...]


def read(runner: Runner, asked: Sequence[Asked]) -> Found:
    """Run queries, and what is left of each, until all rows are read.

    Raises:
        ConsoleError: CloudWatch Logs does not answer.
    """
    rows: list[Row] = []
    notes: dict[str, Note] = {}
    ends: list[tuple[Asked, End]] = []
    left = list(asked)
    while left:
        following: list[Asked] = []
        for ended in runner.run(left):
            if ended.end in _FAILED:
                following += _again(ended, notes)
            elif ended.end is not End.COMPLETE:
                ends.append((ended.asked, ended.end))
            else:
                kept, more = _continued(ended, notes)
                rows += kept
                following += more
        left = following
        if left and len(rows) >= ROWS_KEPT:
            _note(notes, "too_many_rows", f"only the first {len(rows)} lines are shown: there are more")
            break
    return Found(tuple(rows), tuple(notes.values()), tuple(ends))


def _again(ended: Ended, notes: dict[str, Note]) -> Iterator[Asked]:
    asked = ended.asked
    halves = None if asked.again else asked.window.halves()
    if halves is None:
        _note(
            notes,
            "query_failed",
            f"the query for {asked.query.what} from {_told(asked.window)} ended as {ended.end}: what it would have "
            "found is missing",
        )
        return
    yield from (replace(asked, window=half, again=True) for half in halves)


def _continued(ended: Ended, notes: dict[str, Note]) -> tuple[Sequence[Row], Sequence[Asked]]:
    """Give the rows that are all there, and the query for the rest: rows are in order, and more follow the last."""
    rows, window = ended.rows, ended.asked.window
    if not ended.full:
        return rows, ()
    last = rows[-1].at
    if last is None:
        _note(notes, "rows_missing", f"more than {len(rows)} lines, and no telling where they go on")
        return rows, ()
    last = to_millisecond(last)
    before = [row for row in rows if row.at is not None and to_millisecond(row.at) < last]
    if before and window.start < last:
        # Those of the last millisecond come again, and then all of them.
        return before, (replace(ended.asked, window=Window(last, window.end)),)
    text = f"one millisecond, {last.isoformat()}, holds {len(rows)} lines and may hold more, which cannot be read"
    _note(notes, "rows_missing", text)
    rest = Window(last + MILLISECOND, window.end)
    return rows, (replace(ended.asked, window=rest),) if rest.start <= rest.end else ()


def _note(notes: dict[str, Note], code: str, text: str) -> None:
    notes[text] = Note(code, text, partial=True)


def _told(window: Window) -> str:
    return f"{window.start:%Y-%m-%d %H:%M:%S} to {window.end:%Y-%m-%d %H:%M:%S} UTC"
