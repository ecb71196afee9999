"""Share moto's server, which starts once, and the spans of what calls it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.instrumentation.botocore import BotocoreInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.loopback.aws import moto


@pytest.fixture(scope="session")
def aws_url() -> Iterator[str]:
    with moto() as url:
        yield url


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
