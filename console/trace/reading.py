"""Read the lines of a trail: spans, of ours or of another vendor, slim lines, and what is neither. Nothing raises."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from agent_image.contract import Field, Span
from console.trace.once import events_once, spans_once
from console.trace.otlp import flat, kind_in, spans_in, status_in
from console.trace.record import EventRecord, Material, SpanRecord, Unread
from console.trace.values import members, moment, nanoseconds, text, whole

BEGINNING: Final = 200
"""Characters that are kept of a line that says nothing."""
DEEPEST: Final = 64
"""Levels of JSON in one line; no span that anybody writes has as many, and what walks it must not run out of stack."""
TRUNCATED: Final = "truncated"
MALFORMED: Final = "malformed"
TOO_DEEP: Final = "too_deep"
NO_OBJECT: Final = "no_object"
UNKNOWN: Final = "unknown"


def _number(digits: str) -> Decimal | str:
    try:
        return Decimal(digits)
    except ArithmeticError:
        return digits


# Amounts stay exact. What JSON has no word for, such as NaN, is a text: it is shown, and is no number.
_DECODER: Final = json.JSONDecoder(parse_float=_number, parse_constant=str, strict=False)
# Python reads no whole number of more than 4,300 digits.
_PATIENT: Final = json.JSONDecoder(parse_float=_number, parse_int=_number, parse_constant=str, strict=False)


def material(lines: Iterable[bytes | str]) -> Material:
    """Read lines, in any order, each span and each event once; what says nothing is kept apart, and nothing raises."""
    spans: list[SpanRecord] = []
    events: list[EventRecord] = []
    unread: dict[str, Unread] = {}
    for line in lines:
        written = _written(line)
        if not written:
            continue
        read = _read(written)
        if isinstance(read, str):
            unread[written] = Unread(read, written[:BEGINNING])
            continue
        if (event := event_of(read)) is not None:
            events.append(event)
        elif (span := span_of(read)) is not None:
            spans.append(span)
        elif found := [one for document in spans_in(read) if (one := span_of(document)) is not None]:
            spans.extend(found)
        else:
            unread[written] = Unread(UNKNOWN, written[:BEGINNING])
    kept, doubled = spans_once(spans)
    told, repeated = events_once(events)
    left = sorted(unread.values(), key=lambda one: (one.reason, one.beginning))
    return Material(kept, told, tuple(left), (*doubled, *repeated))


def span_of(document: Mapping[str, Any]) -> SpanRecord | None:
    """Read a span; None where the object is none: it has no trace id or no span id.

    It may have the form that CloudWatch stores, OTLP's JSON, or that of the SDK's console exporter.
    """
    ids = document if "traceId" in document or "trace_id" in document else members(document.get("context"))
    trace_id = _id(ids.get("traceId") or ids.get("trace_id"))
    span_id = _id(ids.get("spanId") or ids.get("span_id"))
    if not trace_id or not span_id:
        return None
    status, attributes = document.get("status"), document.get("attributes")
    said = status if isinstance(status, dict) else {"code": status}
    return SpanRecord(
        trace_id,
        span_id,
        _id(_first(document, "parentSpanId", "parent_span_id", "parent_id")),
        text(document.get("name")),
        kind_in(document.get("kind")),
        nanoseconds(_first(document, "startTimeUnixNano", "startTime", "start_time")),
        nanoseconds(_first(document, "endTimeUnixNano", "endTime", "end_time")),
        flat(attributes),
        status_in(said.get("code") or said.get("status_code")),
        text(said.get("message") or said.get("description")),
        text(members(document.get("scope") or document.get("instrumentation_scope")).get("name")),
        tuple(_links(document.get("links"))),
        tuple(_happened(document.get("events"))),
    )


def event_of(document: Mapping[str, Any]) -> EventRecord | None:
    """Read a slim line; None where the object is none: it has no event's name, or neither an id nor a run nor a seq."""
    name = document.get(Field.EVENT)
    if not isinstance(name, str) or not name:
        return None
    run, seq = text(document.get(Field.RUN)), whole(document.get(Field.SEQ))
    if not run and seq is None and not text(document.get(Field.EVENT_ID)):
        return None
    return EventRecord(
        name,
        text(flat(document.get(Field.ATTRIBUTES)).get(Span.SESSION)),
        moment(document.get(Field.TS)),
        seq if seq is not None and seq > 0 else None,
        text(document.get(Field.CHAIN)),
        run,
        whole(document.get(Field.STEP)),
        _id(document.get(Field.TRACE_ID)),
        _id(document.get(Field.SPAN_ID)),
        document,
    )


def _written(line: object) -> str:
    decoded = line.decode("utf-8", "replace") if isinstance(line, bytes) else str(line)
    return decoded.strip().removeprefix("\ufeff")


def _read(written: str) -> Mapping[str, Any] | str:
    """Read an object; give the reason where there is none."""
    try:
        value = _decoded(written)
    except RecursionError:
        return TOO_DEEP
    except ValueError:
        if not written.startswith("{"):
            return NO_OBJECT
        return MALFORMED if written.endswith("}") else TRUNCATED
    if not isinstance(value, dict):
        return NO_OBJECT
    return TOO_DEEP if _is_deep(written, value) else value


def _decoded(written: str) -> Any:  # noqa: ANN401 - JSON of any shape
    try:
        return _DECODER.decode(written)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _PATIENT.decode(written)


def _is_deep(written: str, value: object) -> bool:
    if written.count("{") + written.count("[") <= DEEPEST:
        return False
    level = [value]
    for _ in range(DEEPEST):
        level = [child for one in level for child in _children(one)]
        if not level:
            return False
    return True


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _id(value: object) -> str:
    return value if type(value) is str and value[:2] != "0x" else text(value).removeprefix("0x")


def _first(document: Mapping[str, Any], *names: str) -> object:
    for name in names:
        if name in document:
            return document[name]
    return None


def _links(value: object) -> Iterator[tuple[str, str]]:
    for link in value if isinstance(value, list) else ():
        found = members(link)
        ids = found if "traceId" in found or "trace_id" in found else members(found.get("context"))
        yield _id(ids.get("traceId") or ids.get("trace_id")), _id(ids.get("spanId") or ids.get("span_id"))


def _happened(value: object) -> Iterator[Mapping[str, Any]]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict):
            yield one | {"attributes": flat(one.get("attributes"))}
