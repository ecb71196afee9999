"""Shape a span as CloudWatch stores it: pure, from the SDK's span to one line of compact JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, SpanContext, format_span_id, format_trace_id
from opentelemetry.util.types import Attributes

HAS_IS_REMOTE = 0x100
IS_REMOTE = 0x200


def encoded(span: ReadableSpan) -> bytes:
    """Encode a span as compact UTF-8 JSON, without a line end.

    What JSON or UTF-8 cannot carry does not break it: lone surrogates become `?`, numbers that are none become texts.
    """
    return json.dumps(shape(span), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def shape(span: ReadableSpan) -> dict[str, Any]:
    """Give the object that CloudWatch stores for a span. Times are numbers, in nanoseconds."""
    context = _context(span)
    start, end = span.start_time or 0, span.end_time or 0
    scope = span.instrumentation_scope
    return {
        "resource": {"attributes": attributes(span.resource.attributes)},
        "scope": {"name": scope.name, "version": scope.version or ""} if scope else {},
        "traceId": format_trace_id(context.trace_id),
        "spanId": format_span_id(context.span_id),
        **({"parentSpanId": format_span_id(span.parent.span_id)} if span.parent else {}),
        "flags": HAS_IS_REMOTE | (IS_REMOTE if span.parent and span.parent.is_remote else 0),
        "name": span.name,
        "kind": span.kind.name,
        "startTimeUnixNano": start,
        "endTimeUnixNano": end,
        "durationNano": end - start,
        "attributes": attributes(span.attributes),
        "status": {"code": span.status.status_code.name, **_message(span)},
        "events": [_event(event) for event in span.events],
        **({"links": [_link(link) for link in span.links]} if span.links else {}),
    }


def attributes(values: Attributes | Mapping[str, Any]) -> dict[str, Any]:
    """Give attributes as a flat map."""
    return {key: _value(value) for key, value in (values or {}).items()}


def _context(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    if context is None:
        message = f"span {span.name!r} has no context; allowed: a span that a tracer made"
        raise ValueError(message)
    return context


def _message(span: ReadableSpan) -> dict[str, str]:
    return {"message": span.status.description} if span.status.description else {}


def _event(event: Event) -> dict[str, Any]:
    return {"timeUnixNano": event.timestamp, "name": event.name, "attributes": attributes(event.attributes)}


def _link(link: Link) -> dict[str, str]:
    return {"traceId": format_trace_id(link.context.trace_id), "spanId": format_span_id(link.context.span_id)}


def _value(value: Any) -> Any:  # noqa: ANN401 - an attribute's value is of any type that OTLP knows
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return attributes(value)
    return [_value(one) for one in value]
