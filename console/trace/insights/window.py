"""Say which windows of time are searched, in which order, and when it is worth going further back: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final, Self

from agent_image.contract import Field
from console.trace import matching

STEPS: Final = (timedelta(hours=3), timedelta(days=1), timedelta(days=7), timedelta(days=30))
"""How far back a search looks, step by step, until it has what it looks for."""
INDEXED_FOR: Final = timedelta(days=30)
"""How long a field index leads to a line after it was taken in (CloudWatchLogs-Field-Indexing)."""
LONGEST: Final = timedelta(days=3653)
"""How long a group keeps its lines where nobody says: the longest retention that there is."""
SESSION_CHAIN: Final = "session"
"""The chain of events that counts the steps of a session."""
MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """Hold a length of time, in UTC, to the millisecond; both ends belong to it."""

    start: datetime
    end: datetime

    def halves(self) -> tuple[Self, Self] | None:
        """Cut it in two; a single millisecond cannot be cut."""
        if self.end <= self.start:
            return None
        middle = to_millisecond(self.start + (self.end - self.start) / 2)
        return type(self)(self.start, middle), type(self)(middle + MILLISECOND, self.end)


@dataclass(frozen=True, slots=True)
class Windows:
    """Hold windows, the newest first, none over another.

    Attributes:
        first: are searched until something is found.
        further: are searched only where what was found points back to them.
        indexed_since: before it no index leads to a line.
    """

    first: tuple[Window, ...]
    further: tuple[Window, ...]
    indexed_since: datetime

    def is_indexed(self, window: Window) -> bool:
        """Tell whether an index may lead to all lines of a window."""
        return window.start >= self.indexed_since

    @property
    def whole(self) -> Window:
        """Give all of the time that is searched until something is found."""
        return Window(self.first[-1].start, self.first[0].end)


def to_millisecond(moment: datetime) -> datetime:
    """Cut what is shorter than a millisecond."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def windows(now: datetime, since: datetime | None, retention: timedelta | None) -> Windows:
    """Say where to look.

    Args:
        now: until when.
        since: from when on, where a person said so.
        retention: how long the group keeps its lines; None where nobody knows.
    """
    end, kept = to_millisecond(now), now - (retention or LONGEST)
    indexed_since = to_millisecond(now - INDEXED_FOR)
    starts = [to_millisecond(max(now - step, kept)) for step in (*STEPS, retention or LONGEST)]
    if since is None:
        return Windows(_between(end, starts), (), indexed_since)
    asked = to_millisecond(min(max(since, kept), now))
    # The part that an index leads to is apart from the part that has to be read whole.
    first = _between(end, [max(asked, indexed_since), asked])
    return Windows(first, _between(asked - MILLISECOND, [start for start in starts if start < asked]), indexed_since)


def _between(end: datetime, starts: Iterable[datetime]) -> tuple[Window, ...]:
    bounds = [end + MILLISECOND, *dict.fromkeys(starts)]
    return tuple(Window(start, later - MILLISECOND) for later, start in pairwise(bounds) if start < later)


def points_back(lines: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether lines of sessions show that there are earlier ones which are not among them.

    Each event of a session's chain has its place in it, from 1; and the span that resumes a run links to its trace.
    """
    lowest: dict[str, int] = {}
    traces: set[str] = set()
    linked: set[str] = set()
    for line in lines:
        traces.add(matching.trace_id_of(line))
        linked.update(matching.linked_traces(line))
        if (seq := _place(line)) is not None:
            session_id = matching.session_id_of(line)
            lowest[session_id] = min(seq, lowest.get(session_id, seq))
    return bool(linked - traces) or any(seq > 1 for seq in lowest.values())


def leaves_open(lines: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether there is a session among the lines without any event: nobody can tell whether it began before."""
    sessions: set[str] = set()
    counted: set[str] = set()
    for line in lines:
        session_id = matching.session_id_of(line)
        sessions.add(session_id)
        if _place(line) is not None:
            counted.add(session_id)
    return bool(sessions - counted - {""})


def _place(line: Mapping[str, Any]) -> int | None:
    seq = line.get(Field.SEQ)
    return seq if line.get(Field.CHAIN) == SESSION_CHAIN and isinstance(seq, int) else None


def around(moments: Iterable[datetime], margin: timedelta) -> Window | None:
    """Give the window that holds all moments with a margin; None where there are none."""
    found = sorted(moments)
    if not found:
        return None
    return Window(to_millisecond(found[0] - margin), to_millisecond(found[-1] + margin))


def milliseconds(moment: datetime) -> int:
    """Count the milliseconds since 1970, UTC."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // MILLISECOND


def chunks(values: Iterable[str], size: int) -> Iterator[tuple[str, ...]]:
    """Cut values into groups of a size, each value once, in their order."""
    distinct = [*dict.fromkeys(values)]
    return (tuple(distinct[start : start + size]) for start in range(0, len(distinct), size))
