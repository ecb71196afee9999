"""Make spans with the real SDK, and put the trail's exporter together as the process does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import SpanContext

from agent_image.contract import SCOPE, Regime
from agent_image.telemetry.exporter import Lost, TrailExporter
from agent_image.telemetry.prune import Pruner
from agent_image.telemetry.sampling import SessionSampler
from agent_image.telemetry.strip import Strip

RESOURCE = Resource({"service.name": "agent.live"})
SESSION = "session-" + "0" * 32
FINGERPRINT = "A" * 24


def provider() -> TracerProvider:
    limits = SpanLimits(max_span_attributes=SpanLimits.UNSET, max_span_attribute_length=SpanLimits.UNSET)
    return TracerProvider(sampler=ALWAYS_ON, resource=RESOURCE, span_limits=limits, shutdown_on_exit=False)


def made(name: str = "work", attributes: Mapping[str, Any] | None = None, *, scope: str = SCOPE) -> ReadableSpan:
    """Make one span that has ended."""
    with provider().get_tracer(scope).start_as_current_span(name, attributes=attributes) as span:
        pass
    assert isinstance(span, ReadableSpan)
    return span


def documents(*texts: str, uri: str = "a.md") -> str:
    """Render documents with texts, as the retrieval span holds them."""
    return json.dumps(
        [{"id": f"{n}{uri}#{FINGERPRINT}.{len(one)}", "score": 0.5, "content": one} for n, one in enumerate(texts)],
        ensure_ascii=False,
    )


def ids(value: object) -> list[str]:
    """Read the addresses out of a list of documents."""
    return [one["id"] for one in json.loads(str(value))]


def context_of(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    assert context is not None
    return context


@dataclass
class Trail:
    """A trail's exporter over another, and what it told the operator."""

    inner: SpanExporter
    regime: Regime = Regime.ADDRESS
    share: Decimal = Decimal(1)
    event_loop: bool = False
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pruner = Pruner(event_loop=self.event_loop)
        self.sampler = SessionSampler(self.share)
        self.lost = Lost(lambda code, **facts: self.told.append((code, facts)))
        self.exporter = TrailExporter(self.inner, Strip(self.regime), self.pruner, self.sampler, self.lost)

    @contextmanager
    def tracing(self, *, batch: int | None = None) -> Iterator[TracerProvider]:
        """Trace into the trail, one by one or in batches, until the block ends; what waits then leaves."""
        tracing = provider()
        tracing.add_span_processor(self.pruner)
        tracing.add_span_processor(
            SimpleSpanProcessor(self.exporter)
            if batch is None
            else BatchSpanProcessor(self.exporter, schedule_delay_millis=60_000, max_export_batch_size=batch)
        )
        try:
            yield tracing
        finally:
            tracing.force_flush()
            tracing.shutdown()


class Memory(InMemorySpanExporter):
    """Keep spans in memory; `spans` outlives a shutdown."""

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.get_finished_spans()

    def names(self) -> Sequence[str]:
        return [span.name for span in self.spans]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})
