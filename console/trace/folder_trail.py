"""Read a trail from the laptop's state folder: two files of JSON lines, of which only what is asked for is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from agent_image.contract import EventName, Field, Span
from agent_image.retrieval.fingerprint import Fingerprint
from console.errors import ConsoleError
from console.laptop import events_file, spans_file
from console.progress import Progress, no_progress
from console.trace import matching
from console.trace.line_search import KEPT_LIMIT, Document, LineSearch
from console.trace.reading import material
from console.trace.record import Material
from console.trace.trail import Needle, Scan

_HINTS: Final = 20
"""Texts that are looked for in a line at most: parsing it takes no longer than that."""


class FolderTrail:
    """Read the trail of a state folder."""

    def __init__(
        self,
        state: Path,
        *,
        since: datetime | None = None,
        progress: Progress = no_progress,
        kept_limit: int = KEPT_LIMIT,
    ) -> None:
        """Take the folder; what was before `since` is left out where all sessions are searched."""
        self._state = state
        self._spans, self._events = spans_file(state), events_file(state)
        self._since = since
        self._progress = progress
        self._kept_limit = kept_limit

    @property
    def scan(self) -> Scan:
        """Tell what it took so far: files of one's own are read for nothing."""
        return Scan()

    def session(self, session_id: str) -> Material:
        """Give all that a session left, however many runs it had."""
        return self._of({session_id})

    def trace(self, trace_id: str) -> Material:
        """Give all that the sessions of a trace left, and the trace's spans that name none."""
        lines = self._lines(self._spans, self._events)
        found = lines.matching((trace_id,), lambda document: matching.trace_id_of(document) == trace_id, broken=False)
        return self._of({matching.session_id_of(document) for _, document in found} - {""}, trace_id)

    def last(self) -> Material:
        """Give all that the session left that began its last run last; empty where there is none."""
        lines = self._lines(self._spans, self._events)
        found = lines.matching((Span.RUN, EventName.RUN_STARTED), matching.begins_run, broken=False)
        begun = (
            (moment, session_id)
            for _, document in found
            if (moment := matching.moment_of(document)) and (session_id := matching.session_id_of(document))
        )
        latest = max(begun, default=None)
        return Material(notes=lines.notes) if latest is None else self.session(latest[1])

    def answered(self, answer: Fingerprint) -> Material:
        """Give the invocation spans whose answers have this fingerprint."""
        lines = self._lines(self._spans)
        return _kept(lines, (answer.text,), lambda span: matching.answers(span, answer) and self._is_recent(span))

    def reading(self, needle: Needle) -> Material:
        """Give the retrieval spans, of all sessions, that hold a passage."""
        lines = self._lines(self._spans)
        hints = (needle.fingerprint or Span.DOCUMENTS,)
        return _kept(lines, hints, lambda span: matching.reads(span, needle) and self._is_recent(span))

    def recent(self, since: datetime) -> Material:
        """Give, of all sessions since a moment, the invocation spans and the events that say how runs fared."""
        lines = self._lines(self._spans, self._events)
        hints = (Span.RUN, *matching.RUN_EVENTS, *matching.DECIDED)
        return _kept(lines, hints, lambda line: matching.tells_of_runs(line) and matching.is_since(line, since))

    def _lines(self, *files: Path) -> LineSearch:
        if not (self._spans.exists() or self._events.exists()):
            message = f"no agent has worked on {self._state} yet; start one: rastro dev --state {self._state}"
            raise ConsoleError(message)
        return LineSearch(files, self._progress, kept_limit=self._kept_limit)

    def _is_recent(self, document: Document) -> bool:
        return matching.is_since(document, self._since)

    def _of(self, session_ids: Collection[str], trace_id: str = "") -> Material:
        """Give what sessions left: their lines, and those of their traces that name no session."""
        lines, traces = self._lines(self._spans, self._events), {trace_id}

        def named() -> Iterator[bytes]:
            hints = [matching.plain_part(session_id) for session_id in session_ids]
            for raw, document in lines.matching(hints, lambda line: matching.session_id_of(line) in session_ids):
                traces.add(matching.trace_id_of(document))
                yield raw

        def unnamed() -> Iterator[bytes]:
            traces.discard("")
            hints = traces if len(traces) <= _HINTS else {matching.TRACE, Field.TRACE_ID}
            found = lines.matching(
                hints,
                lambda line: not matching.session_id_of(line) and matching.trace_id_of(line) in traces,
                broken=False,
            )
            yield from (raw for raw, _ in found)

        return _material(lines, (raw for part in (named, unnamed) for raw in part()))


def _kept(lines: LineSearch, hints: Collection[str], matches: Callable[[Document], bool]) -> Material:
    return _material(lines, (raw for raw, _ in lines.matching(hints, matches)))


def _material(lines: LineSearch, raw: Iterable[bytes]) -> Material:
    found = material(lines.kept(raw))
    return replace(found, notes=(*found.notes, *lines.notes))
