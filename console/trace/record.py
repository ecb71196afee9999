"""Hold what the lines of a trail say: spans, events, and what could not be read. Nothing of it is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """Hold a span, of ours or of another vendor, as far as its line says something.

    Attributes:
        parent_id: empty where the line names none.
        start_ns: nanoseconds since 1970, UTC; None where the line does not say.
        attributes: a flat map, with names that nobody may know.
        links: trace id and span id of each.
        scope: the name of what made it.
    """

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    kind: str = ""
    start_ns: int | None = None
    end_ns: int | None = None
    attributes: Mapping[str, Any] = field(default_factory=_nothing)
    status: str = ""
    message: str = ""
    scope: str = ""
    links: tuple[tuple[str, str], ...] = ()
    events: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class EventRecord:
    """Hold a slim line.

    Attributes:
        name: as the line says it, whether the contract knows it or not.
        seq: its place in its chain, from 1.
        chain: `session`, or a chain of its own.
        fields: the whole object.
    """

    name: str
    session_id: str = ""
    ts: datetime | None = None
    seq: int | None = None
    chain: str = ""
    run: str = ""
    step: int | None = None
    trace_id: str = ""
    span_id: str = ""
    fields: Mapping[str, Any] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Unread:
    """Hold the beginning of a line that says nothing, and why.

    `truncated`: it begins like an object, and breaks off; `malformed`: it ends like one, and is no JSON; `too_deep`:
    nobody nests as deep; `no_object`: it is another kind of text; `unknown`: an object, and neither span nor event.
    """

    reason: str
    beginning: str


@dataclass(frozen=True, slots=True)
class Note:
    """Say something about what was read that a reader must know: a code, and a sentence.

    `partial` tells that something may be missing from what is shown.
    """

    code: str
    text: str
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """Hold all that a trail gave for one question."""

    spans: tuple[SpanRecord, ...] = ()
    events: tuple[EventRecord, ...] = ()
    unread: tuple[Unread, ...] = ()
    notes: tuple[Note, ...] = ()
