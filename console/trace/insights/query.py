"""Write the queries: pure, from what is asked to text of the Logs Insights query language.

What people or callers chose is quoted, so that it stays a value. Text that stands in a query unquoted is all our own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Self

from agent_image.contract import SPAN_DATA_FORMAT, Field, Span
from agent_image.retrieval.fingerprint import Fingerprint
from agent_image.telemetry.retrieval_span import OPERATION
from console.errors import BadInputError
from console.trace.insights.window import Window, milliseconds
from console.trace.matching import DECIDED, RUN_EVENTS, source_part
from console.trace.trail import Needle

SESSION: Final = f"attributes.{Span.SESSION}"
TRACE: Final = "traceId"
ANSWER: Final = f"attributes.{Span.ANSWER}"
_RUN: Final = f"attributes.{Span.RUN}"
_OPERATION: Final = f"attributes.{Span.OPERATION}"
_SECOND: Final = 1000
"""Milliseconds: the window of StartQuery is one of whole seconds."""


@dataclass(frozen=True, slots=True)
class Query:
    """Hold a query.

    Attributes:
        what: what it looks for, as a phrase.
        index: a condition on an indexed field; empty where no index answers it.
        conditions: what else a line must fulfil.
    """

    what: str
    index: str = ""
    conditions: tuple[str, ...] = ()

    @property
    def indexed(self) -> bool:
        """Tell whether an index answers it."""
        return bool(self.index)

    def unindexed(self) -> Self:
        """Give the query that finds the same without an index, and reads all lines of its window."""
        return replace(self, index="", conditions=(self.index, *self.conditions)) if self.index else self

    def text(self, window: Window) -> str:
        """Write it: the oldest lines first, and none beyond the window's milliseconds."""
        commands = ["fields @timestamp, @message"]
        commands += [f"filterIndex {self.index}"] if self.index else []
        conditions = (*self.conditions, *_within(window))
        commands += [f"filter {' and '.join(conditions)}"] if conditions else []
        return " | ".join((*commands, "sort @timestamp asc"))


def seconds(window: Window) -> tuple[int, int]:
    """Give a window's ends for StartQuery, in seconds since 1970, so that all of it lies between."""
    return milliseconds(window.start) // _SECOND, -(-milliseconds(window.end) // _SECOND)


def of_sessions(session_ids: Collection[str]) -> Query:
    """Ask for the spans and slim lines of sessions."""
    what = "the session" if len(session_ids) == 1 else f"{len(session_ids)} sessions"
    return Query(f"the lines of {what}", index=_is_one_of(SESSION, session_ids))


def of_trace(trace_id: str) -> Query:
    """Ask for the spans of a trace."""
    return Query("the spans of the trace", index=_is_one_of(TRACE, (trace_id,)))


def without_session(trace_ids: Collection[str]) -> Query:
    """Ask for the spans of traces that name no session."""
    return Query(
        "the spans that name no session",
        index=_is_one_of(TRACE, trace_ids),
        conditions=(f"not ispresent({SESSION})",),
    )


def answered(answer: Fingerprint, indexed_fields: Collection[str]) -> Query:
    """Ask for the spans of invocations whose answers have this fingerprint."""
    what, wanted = "the answer", _is_one_of(ANSWER, (str(answer),))
    if ANSWER in indexed_fields:
        return Query(what, index=wanted)
    return Query(what, conditions=(_SPANS, wanted))


def reading(needle: Needle) -> Query:
    """Ask for the spans of retrievals that may hold a passage: what they hold is looked at here.

    A source's whole URI stands in no span: its base and the rest stand apart. The last part of its path is in the rest.
    """
    part = needle.fingerprint or source_part(needle.uri)
    conditions = (_SPANS, f"{_OPERATION} = {quoted(OPERATION)}")
    held = (f"@message like {quoted(part)}",) if part else ()
    return Query("every retrieval that read the passage", conditions=(*conditions, *held))


def runs() -> Query:
    """Ask for the spans of invocations, and for the events that say how runs fared."""
    events, ruled = _is_one_of(Field.EVENT, sorted(RUN_EVENTS)), _is_one_of(Field.DECISION, sorted(DECIDED))
    return Query("the runs of all sessions", conditions=(f"(ispresent({_RUN}) or {events} or {ruled})",))


def quoted(value: str) -> str:
    r"""Write a text as a value: what would end it is escaped.

    Raises:
        BadInputError: it holds a control character, which no id does.
    """
    if not value.isprintable():
        message = f"{value!r} holds a control character; allowed: an id, a fingerprint or a URI as the trail has it"
        raise BadInputError(message)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_SPANS: Final = f"@data_format = {quoted(SPAN_DATA_FORMAT)}"


def _is_one_of(field: str, values: Iterable[str]) -> str:
    texts = [quoted(value) for value in values]
    return f"{field} = {texts[0]}" if len(texts) == 1 else f"{field} in [{', '.join(texts)}]"


def _within(window: Window) -> tuple[str, ...]:
    start, end = milliseconds(window.start), milliseconds(window.end)
    after = (f"toMillis(@timestamp) >= {start}",) if start % _SECOND else ()
    return (*after, f"toMillis(@timestamp) <= {end}") if end % _SECOND else after


def moment_of(timestamp: str) -> datetime:
    """Read @timestamp, which is in UTC.

    Raises:
        ValueError: it is none.
    """
    return datetime.fromisoformat(timestamp).replace(tzinfo=UTC)
