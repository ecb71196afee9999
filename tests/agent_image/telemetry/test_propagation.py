"""Session and trace go where calls go, and cost no span."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
import requests
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from opentelemetry import propagate, trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.botocore import BotocoreInstrumentor
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor
from opentelemetry.processor.baggage import BaggageSpanProcessor
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agent_image.telemetry.propagation import propagate as propagate_outbound
from agent_image.telemetry.propagation import stamp_sessions
from agent_image.telemetry.sessions import session_scope
from tests.agent_image.telemetry.sink import Sink, listening
from tests.agent_image.telemetry.spans import SESSION, Memory, Trail, provider

CREDENTIALS = Credentials("AKIAIOSFODNN7EXAMPLE", "secret")
REGION = "eu-central-1"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with listening() as made:
        yield made


@pytest.fixture
def outbound() -> Iterator[None]:
    """Propagate for one test, as the distribution's propagators do."""
    before = propagate.get_global_textmap()
    propagate.set_global_textmap(CompositePropagator([W3CBaggagePropagator(), TraceContextTextMapPropagator()]))
    propagate_outbound()
    yield
    RequestsInstrumentor().uninstrument()
    URLLib3Instrumentor().uninstrument()
    propagate.set_global_textmap(before)


def post_by_requests(url: str) -> None:
    with requests.Session() as session:
        session.post(url, data=b"x", timeout=5)


def post_by_urllib3(url: str) -> None:
    with urllib3.PoolManager() as pool:
        pool.request("POST", url, body=b"x")


@pytest.mark.usefixtures("outbound")
@pytest.mark.parametrize("post", [post_by_requests, post_by_urllib3])
def test_an_outbound_call_carries_session_and_trace_and_makes_no_span(post: Any, sink: Sink) -> None:
    """The other side may join; a span for each call would be paid for, and says nothing of its own."""
    trail = Trail(memory := Memory())
    with (
        trail.tracing() as tracing,
        session_scope(SESSION),
        tracing.get_tracer("x").start_as_current_span("work") as span,
    ):
        post(sink.url)

    (request,) = sink.requests
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert headers["baggage"] == f"session.id={SESSION}"
    assert headers["traceparent"].split("-")[1] == trace.format_trace_id(span.get_span_context().trace_id)
    assert memory.names() == ["work"]


@pytest.mark.usefixtures("outbound")
def test_what_exports_spans_is_not_instrumented(sink: Sink) -> None:
    """The trail's own requests carry nobody's session."""
    trail = Trail(OTLPSpanExporter(endpoint=f"{sink.url}/v1/traces"))
    with trail.tracing(batch=1) as tracing, session_scope(SESSION):
        tracing.get_tracer("x").start_span("work").end()

    (request,) = sink.requests
    assert not {"baggage", "traceparent"} & {name.lower() for name in request.headers}


@pytest.mark.usefixtures("outbound")
@pytest.mark.parametrize("instrumented", [True, False])
def test_requests_that_aws_clients_sign_stay_as_they_were_signed(instrumented: bool, sink: Sink) -> None:  # noqa: FBT001
    """Every signed header arrives as it was signed, with and without the client's own instrumentation."""
    trail = Trail(Memory())
    with trail.tracing() as tracing, session_scope(SESSION):
        if instrumented:
            BotocoreInstrumentor().instrument(tracer_provider=tracing)  # type: ignore[no-untyped-call]
        try:
            with tracing.get_tracer("x").start_as_current_span("work"):
                put_item(sink.url)
        finally:
            if instrumented:
                BotocoreInstrumentor().uninstrument()  # type: ignore[no-untyped-call]

    (request,) = sink.requests
    headers = {name.lower(): value for name, value in request.headers.items()}
    given, again = headers["authorization"], signed_again(sink.url, request.body, headers)
    assert "SignedHeaders=" in given
    assert given == again


def put_item(url: str) -> None:
    client: Any = boto3.client(
        "dynamodb",
        region_name=REGION,
        endpoint_url=url,
        aws_access_key_id=CREDENTIALS.access_key,
        aws_secret_access_key=CREDENTIALS.secret_key,
        config=Config(retries={"total_max_attempts": 1}),
    )
    client.put_item(TableName="t", Item={"pk": {"S": "x"}})
    client.close()


def signed_again(url: str, body: bytes, headers: dict[str, str]) -> str:
    """Sign, as AWS does to compare, the headers that a request says it signed."""
    (names,) = re.findall(r"SignedHeaders=([^,]+)", headers["authorization"])
    request = AWSRequest("POST", f"{url}/", headers={name: headers[name] for name in names.split(";")}, data=body)
    request.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(CREDENTIALS, "dynamodb", REGION)
    canonical = signer.canonical_request(request)
    signature = signer.signature(signer.string_to_sign(request, canonical), request)
    scope = f"{CREDENTIALS.access_key}/{signer.credential_scope(request)}"
    return f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={names}, Signature={signature}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], 1),
        ([BaggageSpanProcessor(lambda key: key in {"session.id", "other"})], 1),
        ([BaggageSpanProcessor(lambda key: key == "other")], 2),
    ],
)
def test_every_span_of_a_session_carries_its_id_by_one_processor(
    before: list[BaggageSpanProcessor], after: int
) -> None:
    """The distribution stamps it where the environment says so, and not twice."""
    tracing = provider()
    for processor in before:
        tracing.add_span_processor(processor)

    stamp_sessions(tracing)
    stamp_sessions(tracing)

    with session_scope(SESSION):
        span: Any = tracing.get_tracer("x").start_span("work")
    assert span.attributes["session.id"] == SESSION
    assert len(processors(tracing)) == after


def processors(tracing: TracerProvider) -> list[BaggageSpanProcessor]:
    every = tracing._active_span_processor._span_processors  # noqa: SLF001 - the SDK has no public way
    return [one for one in every if isinstance(one, BaggageSpanProcessor)]
