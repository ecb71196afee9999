"""Share the service that stands in for Bedrock, and the spans of its clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.instrumentation.botocore import BotocoreInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.agent_image.retrieval.bedrock_service import BedrockService, bedrock_service


@pytest.fixture
def bedrock() -> Iterator[BedrockService]:
    with bedrock_service() as service:
        yield service


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Trace every call of a boto3 client, as ADOT does."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor: Any = BotocoreInstrumentor()  # type: ignore[no-untyped-call]
    instrumentor.instrument(tracer_provider=provider)
    try:
        yield exporter
    finally:
        instrumentor.uninstrument()
        provider.shutdown()
