"""Keep each span and each event once: a trail may be read twice, and a writer may repeat itself."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict
from typing import Final, TypeVar

from agent_image.contract import Field
from console.trace.record import EventRecord, Note, SpanRecord
from console.trace.values import nanoseconds_of, text

_NEVER: Final = 2**63
"""Later than any time."""
_Record = TypeVar("_Record", SpanRecord, EventRecord)


def spans_once(spans: Iterable[SpanRecord]) -> tuple[tuple[SpanRecord, ...], tuple[Note, ...]]:
    """Keep the first of the spans that share a trace and an id, by their times; note where they were not the same."""
    kept, doubled = _once(((span.trace_id, span.span_id), span) for span in spans)
    return kept, tuple(
        Note(
            "span_twice",
            f"span {one.span_id} stands in the trail more than once, not always the same: the first is shown",
        )
        for one in doubled
    )


def events_once(events: Iterable[EventRecord]) -> tuple[tuple[EventRecord, ...], tuple[Note, ...]]:
    """Keep the first of the events that share an id; those without one are the same if all of them is."""
    kept, doubled = _once((text(event.fields.get(Field.EVENT_ID)) or (_canonical(event),), event) for event in events)
    return kept, tuple(
        Note("event_twice", f"event {text(one.fields.get(Field.EVENT_ID))} stands in the trail more than once, "
             "not always the same: the first is shown")
        for one in doubled
    )  # fmt: skip


def in_order(events: Iterable[EventRecord]) -> list[EventRecord]:
    """Sort events by their time, and within a millisecond by their place in their chain."""

    def key(event: EventRecord) -> tuple[int, str, int, str, str]:
        event_id = text(event.fields.get(Field.EVENT_ID))
        return _time(event), event.chain, event.seq or 0, event_id, "" if event_id else _canonical(event)

    return sorted(events, key=key)


def _once(named: Iterable[tuple[Hashable, _Record]]) -> tuple[tuple[_Record, ...], Sequence[_Record]]:
    """Keep one record of each name; give those as well of which there were others."""
    kept: dict[Hashable, _Record] = {}
    again: dict[Hashable, list[_Record]] = {}
    for name, record in named:
        if kept.setdefault(name, record) is not record:
            again.setdefault(name, [kept[name]]).append(record)
    doubled: list[_Record] = []
    for name, same in again.items():
        # As text: 1 and true are equal values, and not the same.
        if len({_canonical(one) for one in same}) > 1:
            # Whichever line came first: the same trail must give the same session.
            kept[name] = min(same, key=lambda one: (_time(one), _canonical(one)))
            doubled.append(kept[name])
    return tuple(kept.values()), doubled


def _time(record: SpanRecord | EventRecord) -> int:
    if isinstance(record, SpanRecord):
        return _NEVER if record.start_ns is None else record.start_ns
    return _NEVER if record.ts is None else nanoseconds_of(record.ts)


def _canonical(record: SpanRecord | EventRecord) -> str:
    said = record.fields if isinstance(record, EventRecord) else asdict(record)
    return json.dumps(said, sort_keys=True, default=repr)
