"""Carry session and trace to where calls go: onto every span, and into the headers of outbound calls."""

from __future__ import annotations

from opentelemetry import baggage
from opentelemetry.context import Context
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.processor.baggage import BaggageSpanProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import INVALID_SPAN_CONTEXT, NonRecordingSpan, NoOpTracerProvider, SpanContext
from opentelemetry.util.types import AttributeValue

from agent_image.contract import Span


def stamp_sessions(provider: TracerProvider) -> None:
    """Put the session id that baggage carries onto every span, unless the distribution does so already."""
    if not any(_stamps(processor) for processor in provider._active_span_processor._span_processors):  # noqa: SLF001
        provider.add_span_processor(BaggageSpanProcessor(lambda key: key == Span.SESSION))


def _stamps(processor: object) -> bool:
    """Ask a processor rather than its private predicate: does it stamp a span that starts in a session?"""
    if not isinstance(processor, BaggageSpanProcessor):
        return False
    probe = _Probe(INVALID_SPAN_CONTEXT)
    processor.on_start(probe, baggage.set_baggage(Span.SESSION.value, "probe", Context()))
    return Span.SESSION.value in probe.stamped


class _Probe(NonRecordingSpan):
    """Remember what a processor stamps."""

    def __init__(self, context: SpanContext) -> None:
        super().__init__(context)
        self.stamped: set[str] = set()

    def set_attribute(self, key: str, value: AttributeValue) -> None:  # noqa: ARG002 - the span's own signature
        self.stamped.add(key)


def propagate() -> None:
    """Send trace and baggage with calls of `requests` and `urllib3`, which the distribution leaves alone: no spans.

    AWS's own clients are left to their own instrumentation: it suppresses this one while it calls.
    """
    for instrumentor in (RequestsInstrumentor(), URLLib3Instrumentor()):
        if not instrumentor.is_instrumented_by_opentelemetry:
            instrumentor.instrument(tracer_provider=NoOpTracerProvider(), meter_provider=NoOpMeterProvider())
