"""Seal the tracer provider that is already there: whatever exports spans exports them through us.

The distribution builds provider and exporter before our code runs, and knows endpoint, headers and signature. Its
processors stay; the exporter inside each is put behind ours. This is the one module that reaches into the SDK.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from opentelemetry import metrics
from opentelemetry._logs import get_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import (
    ConcurrentMultiSpanProcessor,
    ReadableSpan,
    SpanProcessor,
    SynchronousMultiSpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult

from agent_image.errors import TelemetryError

Exporting = BatchSpanProcessor | SimpleSpanProcessor

SILENT: Final = frozenset(
    {
        "opentelemetry.processor.baggage.processor.BaggageSpanProcessor",
        "amazon.opentelemetry.distro.attribute_propagating_span_processor.AttributePropagatingSpanProcessor",
        "amazon.opentelemetry.distro.attribute_redacting_span_processor.AttributeRedactingSpanProcessor",
        "amazon.opentelemetry.distro.aws_lambda_span_processor.AwsLambdaSpanProcessor",
        "amazon.opentelemetry.distro.gen_ai_nested_client_span_processor.GenAINestedClientSpanProcessor",
        "bedrock_agentcore.runtime.tracing.BaggageSpanProcessor",
        "agent_image.telemetry.prune.Pruner",
    }
)
"""Processors that are known to send nothing anywhere. One that is neither here nor sealed stops the process."""


OPENING: Final = (
    "OTEL_AWS_DYNAMIC_INSTRUMENTATION_ENABLED",
    "OTEL_AWS_SERVICE_EVENTS_ENABLED",
    "OTEL_AWS_APPLICATION_SIGNALS_ENABLED",
    "OTEL_AWS_APP_SIGNALS_ENABLED",
)
"""Variables by which the distribution starts exporters of its own that no provider shows: they send the arguments of
functions, exceptions, and metrics of spans. Nothing but a process without them is sealed."""
UNSAMPLED: Final = "amazon.opentelemetry.distro.aws_batch_unsampled_span_processor.BatchUnsampledSpanProcessor"
"""The distribution's processor for what its sampler left out, which it exports all the same."""
IDLE: Final = ("opentelemetry.sdk.metrics._internal", "opentelemetry.instrumentation.instrumentor")
"""Loggers that warn at each use of what was shut down, or instrumented before: log bytes that tell nobody anything."""


class Nowhere(SpanExporter):
    """Export to nowhere, and say whether that is as it should be."""

    def __init__(self, result: SpanExportResult) -> None:
        """Take what an export answers."""
        self._result = result

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002 - the SDK's signature
        """Drop the spans."""
        return self._result

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Say that nothing waits."""
        return True


@dataclass(frozen=True, slots=True)
class Seal:
    """Remember what was sealed, so that it can be proved again."""

    provider: TracerProvider
    exporters: tuple[SpanExporter, ...]

    def verify(self) -> None:
        """Prove that no processor of the provider exports past ours.

        Raises:
            TelemetryError: a processor does, or may.
        """
        for processor in exporting(self.provider):
            if not any(processor.span_exporter is one for one in self.exporters):
                raise _unsealed(processor)


def seal(
    provider: TracerProvider, wrap: Callable[[SpanExporter], SpanExporter], instead: SpanExporter | None = None
) -> Seal:
    """Put every exporter of a provider behind ours.

    `wrap` puts an exporter behind ours. Spans go to `instead` alone where it is given, and the provider's own exporters
    are shut down.

    Raises:
        TelemetryError: a processor cannot be sealed; the process must not serve.
    """
    processors = list(exporting(provider))
    if instead is None:
        ours = [wrap(_own(processor)) for processor in processors]
    else:
        ours = list(_redirected(provider, processors, wrap(instead)))
        processors = list(exporting(provider))
    for processor, exporter in zip(processors, ours, strict=True):
        _put(processor, exporter)
    sealed = Seal(provider, tuple(ours))
    sealed.verify()
    return sealed


def _redirected(
    provider: TracerProvider, processors: Sequence[Exporting], exporter: SpanExporter
) -> Iterator[SpanExporter]:
    """Give each processor its exporter: the first that takes sampled spans ours, all others none."""
    chosen = next((one for one in processors if _kind(one) != UNSAMPLED), None)
    for processor in processors:
        if isinstance(own := processor.span_exporter, SpanExporter):
            own.shutdown()
        yield exporter if processor is chosen else Nowhere(SpanExportResult.SUCCESS)
    if chosen is None:
        provider.add_span_processor(BatchSpanProcessor(exporter))
        yield exporter


def exporting(provider: TracerProvider) -> Iterator[Exporting]:
    """Give the processors of a provider that export.

    Raises:
        TelemetryError: a processor is of a kind that is not known.
    """
    for processor in _leaves(provider._active_span_processor):  # noqa: SLF001 - the SDK has no public way
        if isinstance(processor, BatchSpanProcessor | SimpleSpanProcessor):
            yield processor
        elif _kind(processor) not in SILENT:
            raise _unsealed(processor)


def _leaves(processor: SpanProcessor) -> Iterator[SpanProcessor]:
    if isinstance(processor, SynchronousMultiSpanProcessor | ConcurrentMultiSpanProcessor):
        for one in processor._span_processors:  # noqa: SLF001 - the SDK has no public way
            yield from _leaves(one)
    else:
        yield processor


def _own(processor: Exporting) -> SpanExporter:
    # The distribution leaves None where it could not build its exporter: spans are lost, and counted.
    own: SpanExporter | None = processor.span_exporter
    return Nowhere(SpanExportResult.FAILURE) if own is None else own


def _put(processor: Exporting, exporter: SpanExporter) -> None:
    if isinstance(processor, BatchSpanProcessor):
        processor._batch_processor._exporter = exporter  # noqa: SLF001 - read back through the public property
    else:
        processor.span_exporter = exporter


def _kind(processor: SpanProcessor) -> str:
    return f"{type(processor).__module__}.{type(processor).__qualname__}"


def _unsealed(processor: SpanProcessor) -> TelemetryError:
    return TelemetryError("processor_not_sealed", f"The span processor {_kind(processor)} may export past the trail.")


def refuse_opening(variables: Mapping[str, str]) -> None:
    """Refuse an environment in which the distribution exports past every provider.

    Raises:
        TelemetryError: it does; the message names the variable.
    """
    for name in OPENING:
        if variables.get(name, "").strip().lower() == "true":
            raise TelemetryError("variable_not_allowed", f"{name} is true, and exports what functions are called with.")


def silence_logs_and_metrics() -> None:
    """Shut down what exports logs and metrics: nothing of ours uses them, and they hold what libraries say."""
    for handler in [one for one in logging.root.handlers if type(one).__module__.startswith("opentelemetry.")]:
        logging.root.removeHandler(handler)
    if isinstance(logs := get_logger_provider(), LoggerProvider):
        logs.shutdown()
    for name in IDLE:
        logging.getLogger(name).setLevel(logging.ERROR)
    if isinstance(meters := metrics.get_meter_provider(), MeterProvider):
        # Readers that were shut down still export when the provider is flushed; those that were removed have nothing.
        for reader in meters._metric_readers:  # noqa: SLF001 - the SDK has no public way
            meters.remove_metric_reader(reader)
        meters.shutdown()
