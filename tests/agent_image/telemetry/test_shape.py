"""A span's JSON is what CloudWatch stores, whatever the span holds."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Link, SpanKind, Status, StatusCode, format_span_id, format_trace_id

from agent_image.telemetry.shape import encoded, shape
from tests.agent_image.telemetry.spans import RESOURCE, context_of, made, provider

TEXTS = st.text(st.characters(codec=None), max_size=30)
VALUES = st.one_of(TEXTS, st.booleans(), st.integers(), st.floats(), st.binary(max_size=9), st.lists(TEXTS, max_size=3))


def test_the_shape_is_the_one_that_is_stored() -> None:
    """Ids are hex, times are numbers in nanoseconds, attributes are a flat map."""
    tracer = provider().get_tracer("agent", "1.2")
    with tracer.start_as_current_span("outer") as outer, tracer.start_as_current_span("inner", kind=SpanKind.CLIENT):
        span = tracer.start_span("chat", attributes={"gen_ai.usage.input_tokens": 7, "tools": ("a", "b")})
        span.add_event("exception", {"exception.type": "ValueError"}, timestamp=5)
        span.set_status(Status(StatusCode.ERROR, "throttled"))
        span.end()
    assert isinstance(span, ReadableSpan)
    assert isinstance(outer, ReadableSpan)

    stored = json.loads(encoded(span))

    context = context_of(span)
    assert list(stored) == [
        "resource",
        "scope",
        "traceId",
        "spanId",
        "parentSpanId",
        "flags",
        "name",
        "kind",
        "startTimeUnixNano",
        "endTimeUnixNano",
        "durationNano",
        "attributes",
        "status",
        "events",
    ]
    assert stored["resource"] == {"attributes": dict(RESOURCE.attributes)}
    assert stored["scope"] == {"name": "agent", "version": "1.2"}
    assert stored["traceId"] == format_trace_id(context.trace_id)
    assert stored["spanId"] == format_span_id(context.span_id)
    assert stored["kind"] == "INTERNAL"
    assert stored["durationNano"] == stored["endTimeUnixNano"] - stored["startTimeUnixNano"] >= 0
    assert stored["attributes"] == {"gen_ai.usage.input_tokens": 7, "tools": ["a", "b"]}
    assert stored["status"] == {"code": "ERROR", "message": "throttled"}
    assert stored["events"] == [
        {"timeUnixNano": 5, "name": "exception", "attributes": {"exception.type": "ValueError"}}
    ]
    assert "parentSpanId" not in shape(outer)


def test_a_link_keeps_the_ids_of_what_it_links_to() -> None:
    """A resumed run leads back to the one that paused."""
    paused = context_of(made())
    span = provider().get_tracer("agent").start_span("resume", links=[Link(paused)])
    span.end()
    assert isinstance(span, ReadableSpan)

    assert shape(span)["links"] == [
        {"traceId": format_trace_id(paused.trace_id), "spanId": format_span_id(paused.span_id)}
    ]


def test_text_is_stored_as_it_is_written() -> None:
    """Portuguese costs its UTF-8 bytes, not six for every accent."""
    assert "devolução".encode() in encoded(made(attributes={"rag.base": "devolução"}))


def test_what_is_no_number_becomes_a_text() -> None:
    """JSON has no NaN and no infinity; OTLP's JSON names them."""
    values = {"a": math.nan, "b": math.inf, "c": -math.inf, "d": 0.5}

    assert json.loads(encoded(made(attributes=values)), parse_constant=_refuse)["attributes"] == {
        "a": "NaN",
        "b": "Infinity",
        "c": "-Infinity",
        "d": 0.5,
    }


@example({"\ud800": "\ud800", "a": ["\udfff"]}, "\ud800")
@given(st.dictionaries(st.text(min_size=1, max_size=9), VALUES, max_size=5), TEXTS)
def test_no_value_breaks_a_line(values: dict[str, Any], name: str) -> None:
    """Each span is one line of JSON in UTF-8, lone surrogates and control characters included."""
    line = encoded(_span(name, values))

    assert b"\n" not in line
    assert json.loads(line.decode("utf-8"), parse_constant=_refuse)["attributes"].keys() == {
        key.encode("utf-8", "replace").decode() for key in values
    }


def _span(name: str, values: dict[str, Any]) -> ReadableSpan:
    """Build a span of values that the SDK itself would refuse."""
    real = made()
    return ReadableSpan(name, context_of(real), attributes=values, resource=RESOURCE, start_time=1, end_time=2)


def _refuse(constant: str) -> None:
    raise AssertionError(constant)
