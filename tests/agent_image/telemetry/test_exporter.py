"""The trail leaves in requests that the backend takes, and what is lost is counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import botocore.session
import pytest
from amazon.opentelemetry.distro.exporter.otlp.aws.traces.otlp_aws_span_exporter import OTLPAwsSpanExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode

from agent_image.contract import SCOPE, Regime, Span
from agent_image.telemetry.exporter import REQUEST_LIMIT, REQUEST_SPANS
from tests.agent_image.telemetry.sink import Sink, attributes_of, listening
from tests.agent_image.telemetry.spans import Memory, Trail, documents, ids, made

ENDPOINT_LIMIT = 5_000_000
MARKER = "what a person said, só aqui"


def over_http(sink: Sink) -> OTLPSpanExporter:
    return OTLPSpanExporter(endpoint=f"{sink.url}/v1/traces", timeout=5)


class Broken(SpanExporter):
    """Raise where a backend would answer; pass on whatever else it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise OSError(MARKER)

    def shutdown(self) -> None:
        self.asked.append("shutdown")

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        self.asked.append(f"flush {timeout_millis}")
        return False


def test_600_spans_of_20_kb_leave_in_requests_under_5_mb_and_none_is_lost() -> None:
    """A batch is split by the bytes that it takes on the wire."""
    with listening() as sink:
        trail = Trail(over_http(sink), Regime.CONTENT)
        with trail.tracing(batch=512) as provider:
            tracer = provider.get_tracer(SCOPE)
            for number in range(600):
                tracer.start_span(f"span{number}", attributes={Span.QUESTION: "x" * 20_000}).end()

    assert sum(len(request.body) for request in sink.requests) > 12_000_000
    assert all(len(request.body) < ENDPOINT_LIMIT for request in sink.requests)
    assert all(len(request.spans) <= REQUEST_SPANS for request in sink.requests)
    assert {span.name for span in sink.spans} == {f"span{number}" for number in range(600)}
    assert len(sink.spans) == 600
    assert (trail.lost.spans, trail.told) == (0, [])


def test_a_request_of_the_largest_spans_stays_under_the_limit() -> None:
    """64 spans of 190 KB would be 12 MB."""
    with listening() as sink:
        trail = Trail(over_http(sink), Regime.CONTENT)
        with trail.tracing(batch=64) as provider:
            for _ in range(64):
                provider.get_tracer(SCOPE).start_span("w", attributes={Span.ANSWER_TEXT: "x" * 300_000}).end()

    assert len(sink.spans) == 64
    assert max(len(request.body) for request in sink.requests) <= REQUEST_LIMIT


def test_a_span_of_300_kb_reaches_the_backend_with_every_address() -> None:
    """The texts are cut, and the backend reads JSON."""
    value = documents(*("ção " * 15_000 for _ in range(5)))
    with listening() as sink:
        trail = Trail(over_http(sink), Regime.CONTENT)
        with trail.tracing() as provider:
            provider.get_tracer(SCOPE).start_span("retrieval KB1", attributes={Span.DOCUMENTS: value}).end()

    ((span,), (request,)) = sink.spans, sink.requests
    assert len(request.body) < 200_000
    assert ids(attributes_of(span)[Span.DOCUMENTS]) == ids(value)
    assert all(one["content"] for one in json.loads(attributes_of(span)[Span.DOCUMENTS]))


@pytest.mark.parametrize("regime", [Regime.METADATA, Regime.ADDRESS, Regime.ARCHIVE])
def test_no_text_of_any_library_reaches_the_backend(regime: Regime) -> None:
    """Attributes, events, exceptions, statuses, names: every place of a span that holds text."""
    with listening() as sink:
        trail = Trail(over_http(sink), regime)
        with trail.tracing() as provider:
            for scope in ("strands.telemetry.tracer", SCOPE, MARKER):
                span = provider.get_tracer(scope, MARKER).start_span(f"execute_tool {MARKER}")
                span.set_attributes({"gen_ai.input.messages": MARKER, MARKER: MARKER, Span.QUESTION.value: MARKER})
                span.add_event("gen_ai.choice", {"message": MARKER})
                span.add_event(MARKER)
                span.record_exception(ValueError(MARKER))
                span.set_status(StatusCode.ERROR, MARKER)
                span.end()

    assert [span.name for span in sink.spans] == ["execute_tool"] * 3
    assert MARKER.encode() not in sink.bytes
    assert "só".encode() not in sink.bytes


def test_a_refused_request_is_counted_and_takes_no_other_with_it() -> None:
    """The operator hears how many, and nothing of what."""
    with listening() as sink:
        sink.refused = {1}
        trail = Trail(over_http(sink))
        with trail.tracing(batch=200) as provider:
            for number in range(3 * REQUEST_SPANS):
                provider.get_tracer(SCOPE).start_span(f"span{number}").end()

    assert [len(request.spans) for request in sink.requests] == [REQUEST_SPANS] * 3
    assert trail.lost.spans == REQUEST_SPANS
    assert trail.told == [("spans_lost", {"count": REQUEST_SPANS, "reason": "refused"})]


def test_an_exporter_that_raises_is_counted_and_never_raises_here() -> None:
    """Telemetry does not take the answer down, and an exception's text stays where it is."""
    trail = Trail(Broken())

    assert trail.exporter.export([made(), made()]) is SpanExportResult.FAILURE
    assert trail.told == [("spans_lost", {"count": 2, "reason": "OSError"})]


def test_a_span_that_cannot_be_stripped_does_not_leave_and_takes_no_other_with_it() -> None:
    """What the rules cannot read is not sent on trust."""
    trail = Trail(memory := Memory())
    unreadable = ReadableSpan("broken", made().get_span_context(), attributes={7: "text"})  # type: ignore[dict-item]

    trail.exporter.export([unreadable, made("good")])

    assert memory.names() == ["good"]
    assert [code for code, _ in trail.told] == ["spans_lost"]
    assert trail.lost.spans == 1


def test_flush_and_shutdown_reach_the_exporter_behind() -> None:
    """What waits there is its own affair."""
    trail = Trail(broken := Broken())

    assert trail.exporter.force_flush(7) is False
    trail.exporter.shutdown()

    assert broken.asked == ["flush 7", "shutdown"]


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give what signs; leave what the distribution does to content as it is by default."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AGENT_OBSERVABILITY_ENABLED", "true")
    monkeypatch.delenv("AWS_GENAI_CONTENT_EXTRACTION_OPT_OUT", raising=False)


@pytest.mark.usefixtures("credentials")
def test_the_distribution_s_own_exporter_signs_what_the_trail_gives_it() -> None:
    """It takes spans apart to move content to logs, where that is on: ours are made so that it can."""
    with listening() as sink:
        inner = OTLPAwsSpanExporter("eu-central-1", botocore.session.Session(), endpoint=f"{sink.url}/v1/traces")
        trail = Trail(inner)
        with trail.tracing() as provider:
            values: dict[str, Any] = {"gen_ai.input.messages": MARKER, "gen_ai.operation.name": "chat"}
            provider.get_tracer("strands.telemetry.tracer").start_span("chat", attributes=values).end()

    (request,) = sink.requests
    assert "Credential=AKIAIOSFODNN7EXAMPLE/" in request.headers["Authorization"]
    assert [span.name for span in request.spans] == ["chat"]
    assert MARKER.encode() not in request.body
    assert trail.lost.spans == 0
