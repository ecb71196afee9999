"""Read a trail from CloudWatch Logs: by an index where there is one, else by a full scan that somebody agreed to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from agent_image.retrieval.fingerprint import Fingerprint
from console.errors import ConsoleError
from console.trace import matching
from console.trace.insights import query
from console.trace.insights.estimate import Scans
from console.trace.insights.gathered import Gathered
from console.trace.insights.paging import read
from console.trace.insights.query import Query
from console.trace.insights.results import Lines
from console.trace.insights.running import Asked, End, Runner
from console.trace.insights.window import Window, Windows, around, chunks, leaves_open, points_back, windows
from console.trace.plan import Confirm, Plan
from console.trace.reading import material
from console.trace.record import Material, Note
from console.trace.trail import Needle, Scan

SHARED_GROUP: Final = "aws/spans"
"""The account's own group of spans: those of the platform and of old agents (CloudWatch Transaction Search)."""
TRACES_AT_ONCE: Final = 50
"""Trace ids that one query names at most."""
_MARGIN: Final = timedelta(minutes=15)
"""How far from the lines of a session its other spans may be."""
_NOT_CONFIRMED: Final = "not confirmed; nothing was read"

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ground:
    """Hold what an environment says of its trail.

    Attributes:
        retention: how long the group keeps its lines; None where nobody knows.
        indexed: fields that its index policy names.
    """

    group: str
    retention: timedelta | None
    indexed: frozenset[str]


class InsightsTrail:
    """Read the trail of an environment."""

    def __init__(
        self,
        ground: Ground,
        runner: Runner,
        scans: Scans,
        *,
        fetch: Callable[[str], str | None],
        confirm: Confirm,
        clock: Callable[[], datetime],
        since: datetime | None = None,
    ) -> None:
        """Take the ground, what runs queries, what estimates them, and what fetches one line.

        Args:
            ground: what the environment says of its trail.
            runner: runs queries.
            scans: estimates what a full scan reads.
            fetch: gives a line by its pointer.
            confirm: is asked before a full scan.
            clock: tells the time, in UTC.
            since: how far to look back; None begins with a narrow window and widens it.
        """
        self._ground = ground
        self._runner = runner
        self._scans = scans
        self._fetch = fetch
        self._confirm = confirm
        self._clock = clock
        self._since = since
        self._has_index = True
        self._shared: Note | None = None

    @property
    def scan(self) -> Scan:
        """Tell what it took so far."""
        scanned = self._runner.scanned if self._runner.begun else None
        return Scan(self._runner.begun, scanned, self._scans.cost(scanned))

    def session(self, session_id: str) -> Material:
        """Give all that a session left, however many runs it had."""
        return self._material(self._of_sessions((session_id,), Gathered()))

    def trace(self, trace_id: str) -> Material:
        """Give all that the sessions of a trace left, and the trace's spans that name none."""
        found = self._widened(query.of_trace(trace_id), lambda gathered, *_: bool(gathered.lines))
        sessions = [*dict.fromkeys(filter(None, map(matching.session_id_of, found.documents)))]
        return self._material(self._of_sessions(sessions, found) if sessions else found)

    def last(self) -> Material:
        """Give all that the session left that began its last run last; empty where there is none."""
        found = self._widened(query.runs(), lambda gathered, *_: any(_begun(gathered.documents)))
        latest = max(_begun(found.documents), default=None)
        if latest is None:
            return self._material(found)
        return self._material(self._of_sessions((latest[1],), Gathered(notes=found.notes)))

    def answered(self, answer: Fingerprint) -> Material:
        """Give the invocation spans whose answers have this fingerprint."""
        asked = query.answered(answer, self._ground.indexed)
        found = self._widened(asked, lambda gathered, *_: bool(gathered.lines))
        if asked.indexed and not found.lines:
            found.note("only_by_index", f"answers from before {query.ANSWER} was indexed are not found by it")
        return self._material(found)

    def reading(self, needle: Needle) -> Material:
        """Give the retrieval spans, of all sessions, that hold a passage."""
        found = self._at_once(query.reading(needle), self._windows().whole)
        return self._material(found, lambda document: matching.reads(document, needle))

    def recent(self, since: datetime) -> Material:
        """Give, of all sessions since a moment, the invocation spans and the events that say how runs fared."""
        whole = windows(self._clock(), since, self._ground.retention).whole
        found = self._at_once(query.runs(), whole)
        return self._material(found, lambda line: matching.tells_of_runs(line) and matching.is_since(line, since))

    def _windows(self) -> Windows:
        return windows(self._clock(), self._since, self._ground.retention)

    def _of_sessions(self, session_ids: Collection[str], found: Gathered) -> Gathered:
        """Add the lines of sessions to those that led to them, and the spans of their traces that name no session."""
        oldest = min(found.moments, default=None)

        def is_enough(gathered: Gathered, window: Window, indexed: bool) -> bool:  # noqa: FBT001 - of a window
            if not gathered.lines or (oldest is not None and window.end >= oldest):
                return False
            # Where nobody can tell, a look by the index is worth its price, and a full scan is not.
            return not points_back(gathered.documents) and not (indexed and leaves_open(gathered.documents))

        gathered = self._widened(query.of_sessions(session_ids), is_enough)
        traces = filter(None, map(matching.trace_id_of, gathered.documents))
        window = around(gathered.moments, _MARGIN)
        if not self._has_index:
            gathered.note("no_index", "the group has no index: spans that name no session were not looked for")
        elif window is not None:
            asked = [query.without_session(few) for few in chunks(traces, TRACES_AT_ONCE)]
            self._read(asked, window, gathered)
        gathered.lines += found.lines
        gathered.notes |= found.notes
        return gathered

    def _widened(self, asked: Query, is_enough: Callable[[Gathered, Window, bool], bool]) -> Gathered:
        """Look into one window after the other, the newest first, until there is enough.

        `is_enough` is asked before each of them, with whether an index leads to its lines.
        """
        found, ladder = Gathered(), self._windows()
        for window in (*ladder.first, *ladder.further):
            indexed = ladder.is_indexed(window)
            missed = window in ladder.further and not found.lines
            if found.at_the_end or missed or is_enough(found, window, indexed):
                break
            if not self._look(asked, window, found, indexed=indexed):
                break
        return found

    def _at_once(self, asked: Query, window: Window) -> Gathered:
        found = Gathered()
        self._look(asked, window, found, indexed=False)
        return found

    def _look(self, asked: Query, window: Window, found: Gathered, *, indexed: bool) -> bool:
        """Look into a window; give False where somebody did not agree, and what was found before is all there is.

        Raises:
            ConsoleError: somebody did not agree, and nothing was found before.
        """
        if asked.indexed and indexed and self._has_index and self._read([asked], window, found):
            return True
        if not self._is_agreed(asked, window):
            if not found.lines:
                raise ConsoleError(_NOT_CONFIRMED)
            text = f"what is older than {window.end:%Y-%m-%d %H:%M:%S} UTC was not read: it was not confirmed"
            found.note("not_confirmed", text, partial=True)
            return False
        self._read([asked.unindexed()], window, found)
        return True

    def _is_agreed(self, asked: Query, window: Window) -> bool:
        scanned = self._scans.bytes_in(window)
        # Nothing stands in the line in which somebody is asked.
        self._runner.progress("")
        ends = (window.start, window.end)
        return self._confirm(Plan(asked.what, ends, indexed=False, bytes=scanned, cost_usd=self._scans.cost(scanned)))

    def _read(self, asked: Sequence[Query], window: Window, found: Gathered) -> bool:
        """Run queries and gather what they find; give False where the group has no index to ask.

        Raises:
            ConsoleError: the group cannot be read.
        """
        groups = [self._ground.group]
        if self._shared is None and all(one.indexed for one in asked):
            groups.append(SHARED_GROUP)
        answer = read(self._runner, [Asked(group, one, window) for one in asked for group in groups])
        for one, end in answer.ends:
            if one.group == SHARED_GROUP:
                self._do_without_shared(end)
            elif end is End.MALFORMED and one.query.indexed:
                self._has_index = False
                return False
            else:
                self._judge(one, end, found)
        if self._shared is not None:
            found.notes[self._shared.text] = self._shared
        found.notes |= {note.text: note for note in answer.notes}
        lines = Lines(self._fetch)
        found.lines += lines.of(answer.rows)
        found.moments += (row.at for row in answer.rows if row.at is not None)
        found.notes |= {note.text: note for note in lines.notes}
        return True

    def _do_without_shared(self, end: End) -> None:
        if end is End.TOO_OLD:
            return
        how = "is not there" if end is End.MISSING else "cannot be read"
        text = f"{SHARED_GROUP} {how}: only spans of the platform, and of agents of before, lie there"
        self._shared = Note("no_shared_spans", text)

    def _judge(self, asked: Asked, end: End, found: Gathered) -> None:
        group = asked.group
        match end:
            case End.TOO_OLD:
                found.at_the_end = True
                return
            case End.DENIED:
                needed = "logs:StartQuery, logs:GetQueryResults and logs:StopQuery"
                message = f"reading {group} failed: access denied; this needs {needed} on it"
            case End.MISSING:
                message = f"{group} is not there: the endpoint has not been called, or it is another account or Region"
            case _:
                text = asked.query.text(asked.window)
                message = f"CloudWatch Logs calls a query of this command malformed, which is our fault: {text}"
        raise ConsoleError(message)

    def _material(self, found: Gathered, wanted: Callable[[Document], bool] = lambda _: True) -> Material:
        read_in = material(line.text for line in found.lines if wanted(line.document))
        return replace(read_in, notes=(*read_in.notes, *found.notes.values()))


def _begun(documents: Iterable[Document]) -> Iterator[tuple[datetime, str]]:
    for document in documents:
        moment, session_id = matching.moment_of(document), matching.session_id_of(document)
        if matching.begins_run(document) and moment and session_id:
            yield moment, session_id
