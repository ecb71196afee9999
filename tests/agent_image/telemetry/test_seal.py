"""Whatever exports spans exports them through us, or the process does not start."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import pytest
from amazon.opentelemetry.distro.attribute_redacting_span_processor import AttributeRedactingSpanProcessor
from amazon.opentelemetry.distro.aws_batch_unsampled_span_processor import BatchUnsampledSpanProcessor
from bedrock_agentcore.runtime.tracing import BaggageSpanProcessor as AgentCoreBaggage
from opentelemetry.context import Context
from opentelemetry.sdk.trace import (
    ConcurrentMultiSpanProcessor,
    SpanProcessor,
    SynchronousMultiSpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes

from agent_image.contract import SCOPE
from agent_image.errors import TelemetryError
from agent_image.telemetry.seal import OPENING, refuse_opening, seal, silence_logs_and_metrics
from tests.agent_image.telemetry.spans import Memory, Trail, provider


class Sent(Memory):
    """Remember that it was shut down."""

    stopped = False

    def shutdown(self) -> None:
        self.stopped = True


class Unknown(SpanProcessor):
    """Do what nobody knows."""


class RecordOnly(Sampler):
    """Record spans, and sample none."""

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        return SamplingResult(Decision.RECORD_ONLY, attributes)

    def get_description(self) -> str:
        return "record only"


@pytest.fixture
def tracing() -> Iterator[TracerProvider]:
    made = provider()
    yield made
    made.shutdown()


def wrap(inner: SpanExporter) -> SpanExporter:
    return Trail(inner).exporter


def speak(tracing: TracerProvider) -> None:
    """End one span that holds a text, and send it."""
    tracing.get_tracer(SCOPE).start_span("work", attributes={"rastro.run": "r1", "query": "what he said"}).end()
    tracing.force_flush()


def assert_stripped(sent: Memory) -> None:
    assert [dict(span.attributes or {}) for span in sent.spans] == [{"rastro.run": "r1", "rastro.stripped": 1}]


@pytest.mark.parametrize("kind", [BatchSpanProcessor, SimpleSpanProcessor])
def test_a_processor_s_exporter_is_put_behind_ours(kind: type[SpanProcessor], tracing: TracerProvider) -> None:
    """The processor stays as the distribution made it; what it sends has passed our rules."""
    tracing.add_span_processor(kind(sent := Sent()))  # type: ignore[call-arg]

    sealed = seal(tracing, wrap)
    speak(tracing)

    assert_stripped(sent)
    assert len(sealed.exporters) == 1
    assert not sent.stopped


def test_what_the_sampler_left_out_passes_through_us_too(tracing: TracerProvider) -> None:
    """The distribution exports unsampled spans by a processor of its own."""
    tracing.sampler = RecordOnly()
    tracing.add_span_processor(BatchUnsampledSpanProcessor(sent := Sent()))

    seal(tracing, wrap)
    speak(tracing)

    (span,) = sent.spans
    assert dict(span.attributes or {}) == {"aws.trace.flag.sampled": False, "rastro.run": "r1", "rastro.stripped": 1}


@pytest.mark.parametrize("kind", [SynchronousMultiSpanProcessor, ConcurrentMultiSpanProcessor])
def test_processors_within_processors_are_found(kind: type[SynchronousMultiSpanProcessor]) -> None:
    """However deep they are nested."""
    tracing = provider()
    nested = kind()
    nested.add_span_processor(BatchSpanProcessor(sent := Sent()))
    tracing.add_span_processor(nested)

    seal(tracing, wrap)
    speak(tracing)
    tracing.shutdown()

    assert_stripped(sent)


def test_with_another_destination_one_exporter_is_ours_and_the_others_are_silent(tracing: TracerProvider) -> None:
    """What the distribution set up is shut down, and each span leaves once."""
    own = [Sent(), Sent(), Sent()]
    tracing.add_span_processor(BatchUnsampledSpanProcessor(own[0]))
    tracing.add_span_processor(BatchSpanProcessor(own[1]))
    tracing.add_span_processor(SimpleSpanProcessor(own[2]))

    seal(tracing, wrap, instead := Sent())
    speak(tracing)

    assert_stripped(instead)
    assert [exporter.stopped for exporter in own] == [True] * 3
    assert [exporter.spans for exporter in own] == [()] * 3


@pytest.mark.parametrize("others", [[], [BatchUnsampledSpanProcessor]])
def test_where_nothing_exports_a_processor_is_added(others: list[type[BatchSpanProcessor]]) -> None:
    """`python -m agent_image` on a laptop, and OTEL_TRACES_EXPORTER=none."""
    tracing = provider()
    for kind in others:
        tracing.add_span_processor(kind(Sent()))

    seal(tracing, wrap, instead := Sent())
    speak(tracing)
    tracing.shutdown()

    assert_stripped(instead)


def test_without_another_destination_nothing_is_added(tracing: TracerProvider) -> None:
    """CloudWatch is what the runtime sets up; where it does not, there is none."""
    assert seal(tracing, wrap).exporters == ()


def test_an_exporter_that_the_distribution_could_not_build_loses_spans_and_says_so(tracing: TracerProvider) -> None:
    """It leaves None in its place."""
    tracing.add_span_processor(BatchSpanProcessor(None))  # type: ignore[arg-type]
    trails: list[Trail] = []

    def remembered(inner: SpanExporter) -> SpanExporter:
        trails.append(Trail(inner))
        return trails[-1].exporter

    seal(tracing, remembered)
    speak(tracing)

    assert trails[0].told == [("spans_lost", {"count": 1, "reason": "refused"})]
    assert trails[0].exporter.force_flush()


def test_processors_that_send_nothing_stay(tracing: TracerProvider) -> None:
    """They are known by name."""
    for processor in (AttributeRedactingSpanProcessor(["secret"]), AgentCoreBaggage()):
        tracing.add_span_processor(processor)

    seal(tracing, wrap).verify()


def test_a_processor_of_an_unknown_kind_stops_the_process(tracing: TracerProvider) -> None:
    """Whether it exports, nobody can say."""
    tracing.add_span_processor(Unknown())

    with pytest.raises(TelemetryError, match="processor_not_sealed") as raised:
        seal(tracing, wrap)

    assert "test_seal.Unknown" in raised.value.message


@pytest.mark.parametrize("late", [Unknown, lambda: SimpleSpanProcessor(Sent())])
def test_a_processor_that_comes_later_is_found(late: type[SpanProcessor], tracing: TracerProvider) -> None:
    """Frameworks add processors of their own while they are set up."""
    sealed = seal(tracing, wrap)
    sealed.verify()

    tracing.add_span_processor(late())

    with pytest.raises(TelemetryError, match="processor_not_sealed"):
        sealed.verify()


def test_an_exporter_that_is_put_back_is_found(tracing: TracerProvider) -> None:
    """The seal is proved through what the SDK shows."""
    processor = SimpleSpanProcessor(Sent())
    tracing.add_span_processor(processor)
    sealed = seal(tracing, wrap)

    processor.span_exporter = Sent()

    with pytest.raises(TelemetryError, match="processor_not_sealed"):
        sealed.verify()


def test_spans_that_are_not_recorded_leave_nothing(tracing: TracerProvider) -> None:
    """A sampler that is off loses the trail, and no text."""
    tracing.sampler = ALWAYS_OFF
    tracing.add_span_processor(SimpleSpanProcessor(sent := Sent()))
    seal(tracing, wrap)

    speak(tracing)

    assert sent.spans == ()


def test_handlers_that_export_logs_are_removed() -> None:
    """They sit on the root logger, and would see every record."""

    class Exporting(logging.Handler):
        """A handler of the SDK, by the module that it is from."""

    Exporting.__module__ = "opentelemetry.sdk._logs._internal"
    logging.root.addHandler(handler := Exporting())

    silence_logs_and_metrics()

    assert handler not in logging.root.handlers


@pytest.mark.parametrize("name", OPENING)
def test_an_environment_that_opens_other_doors_is_refused(name: str) -> None:
    """The distribution has exporters that no provider shows; the operator hears which variable starts one."""
    refuse_opening({name: "false"})

    with pytest.raises(TelemetryError, match="variable_not_allowed") as raised:
        refuse_opening({name: " True "})

    assert name in raised.value.message
