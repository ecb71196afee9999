"""A process that has started telemetry lets no text out, whatever its environment says."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor
from opentelemetry.sdk.trace import SpanProcessor

from agent_image.contract import (
    CAPTURE_VARIABLE,
    CLOUDWATCH,
    LAUNCH,
    SCOPE,
    SETTINGS_VARIABLE,
    TELEMETRY_SWITCHES,
    Regime,
    Setting,
    Span,
)
from agent_image.settings import Settings
from agent_image.telemetry.setup import Telemetry, start
from tests.agent_image.telemetry.sink import Sink, attributes_of, listening
from tests.agent_image.telemetry.spans import provider
from tests.agent_image.telemetry.speaking import SESSION
from tests.conftest import ROOT

TEXT = "what a person said, só aqui"
ENCODED = [
    TEXT.encode(),
    json.dumps(TEXT)[1:-1].encode(),
    base64.b64encode(TEXT.encode())[:20],
    "só".encode(),
    b"person said",
]
INSTRUMENTED = [str(Path(sys.executable).parent / "opentelemetry-instrument"), sys.executable]
PLAIN = [sys.executable]
HOSTILE = {
    "OTEL_LOGS_EXPORTER": "otlp",
    "OTEL_METRICS_EXPORTER": "otlp",
    "OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED": "true",
    "OTEL_PYTHON_LOG_CORRELATION": "true",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
    "AWS_REDACT_SPAN_ATTRIBUTES": "",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "",
    "OTEL_BAGGAGE_SPAN_ATTRIBUTE_KEYS": "",
}


def speak(
    command: list[str],
    sink: Sink,
    regime: Regime,
    settings: Mapping[str, Any],
    variables: Mapping[str, str],
) -> subprocess.CompletedProcess[bytes]:
    document = {Setting.ENVIRONMENT: "dev", Setting.MODELS: ["offline:"], **settings}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "AWS_"))}
    environment = {
        **clean,
        "PYTHONPATH": str(ROOT),
        "TEXT": TEXT,
        "OTEL_EXPORTER_OTLP_ENDPOINT": sink.url,
        CAPTURE_VARIABLE: regime.value,
        SETTINGS_VARIABLE: json.dumps(document),
        **variables,
    }
    module = ["-m", "tests.agent_image.telemetry.speaking"]
    return subprocess.run([*command, *module], env=environment, capture_output=True, check=False, timeout=100)


def leaks(*places: bytes) -> list[bytes]:
    return [form for form in ENCODED for place in places if form in place]


def test_the_distribution_s_process_is_sealed() -> None:
    """As shipped: the trail leaves by the distribution's own exporter, and nothing else does."""
    with listening() as sink:
        result = speak(INSTRUMENTED, sink, Regime.ADDRESS, {}, {**LAUNCH, **TELEMETRY_SWITCHES[Regime.ADDRESS]})

    assert result.returncode == 1
    assert leaks(sink.bytes, result.stdout, result.stderr) == []
    assert {request.path for request in sink.requests} == {"/v1/traces"}
    assert {span.name: attributes_of(span) for span in sink.spans} == {
        "invocation": {Span.RUN: "r1", Span.SESSION: SESSION, Span.STRIPPED: 2},
        "execute_tool": {"gen_ai.operation.name": "execute_tool", Span.SESSION: SESSION},
    }
    assert notices(result) >= {"log", "printed", "warning", "uncaught"}


@pytest.mark.parametrize(
    ("variables", "spans"),
    [
        ({}, 2),
        ({"OTEL_TRACES_SAMPLER": "always_off"}, 0),
        ({"OTEL_TRACES_EXPORTER": "otlp,console"}, 2),
        ({"OTEL_TRACES_EXPORTER": "none"}, 0),
    ],
)
def test_a_hostile_environment_lets_no_text_out(variables: dict[str, str], spans: int) -> None:
    """Every switch is open, logs and metrics are exported, and still no text leaves."""
    with listening() as sink:
        result = speak(INSTRUMENTED, sink, Regime.ADDRESS, {}, {**LAUNCH, **HOSTILE, **variables})

    assert result.returncode == 1
    assert leaks(sink.bytes, result.stdout, result.stderr) == []
    assert len(sink.spans) == spans


def test_in_the_content_regime_texts_leave_by_our_own_spans_alone() -> None:
    """Question and answer once each, and nothing of what a library says."""
    with listening() as sink:
        result = speak(INSTRUMENTED, sink, Regime.CONTENT, {}, {**LAUNCH, **HOSTILE})

    assert leaks(result.stdout, result.stderr) == []
    by_name = {span.name: attributes_of(span) for span in sink.spans}
    assert by_name["invocation"][Span.QUESTION] == by_name["invocation"][Span.ANSWER_TEXT] == TEXT
    assert sink.bytes.count(TEXT.encode()) == 2


@pytest.mark.parametrize(("command", "variables"), [(PLAIN, {}), (INSTRUMENTED, {**LAUNCH, **HOSTILE})])
def test_another_destination_gets_the_trail_and_the_runtime_s_gets_none(
    command: list[str], variables: dict[str, str], tmp_path: Path
) -> None:
    """A laptop's file, with and without the distribution."""
    path = tmp_path / "spans.jsonl"
    with listening() as sink:
        result = speak(command, sink, Regime.ADDRESS, {Setting.DESTINATION: f"file:{path}"}, variables)

    assert result.returncode == 1
    assert sink.spans == []
    assert leaks(sink.bytes, path.read_bytes(), result.stdout, result.stderr) == []
    spans = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(span["name"] for span in spans) == ["execute_tool", "invocation"]
    assert {span["attributes"]["session.id"] for span in spans} == {SESSION}


def test_an_endpoint_of_one_s_own_gets_the_trail() -> None:
    """Each span once, though the distribution exports too."""
    with listening() as runtime, listening() as own:
        result = speak(INSTRUMENTED, runtime, Regime.ADDRESS, {Setting.DESTINATION: own.url}, {**LAUNCH, **HOSTILE})

    assert result.returncode == 1
    assert runtime.spans == []
    assert sorted(span.name for span in own.spans) == ["execute_tool", "invocation"]
    assert leaks(runtime.bytes, own.bytes) == []


def test_a_trail_that_goes_nowhere_is_said() -> None:
    """CloudWatch is the runtime's to set up: without it there is no trail."""
    with listening() as sink:
        result = speak(PLAIN, sink, Regime.ADDRESS, {Setting.DESTINATION: CLOUDWATCH}, {})

    assert "trail_not_exported" in notices(result)
    assert sink.requests == []


def test_what_cannot_be_sealed_does_not_start() -> None:
    """The distribution's debugger exports what functions were called with, by a provider of its own."""
    debugger = {"OTEL_AWS_DYNAMIC_INSTRUMENTATION_ENABLED": "true"}
    with listening() as sink:
        result = speak(INSTRUMENTED, sink, Regime.ADDRESS, {}, {**LAUNCH, **debugger})

    assert result.returncode == 1
    assert "variable_not_allowed" in [one.get("code") for one in told(result)]
    assert sink.spans == []
    assert leaks(sink.bytes, result.stdout, result.stderr) == []


def told(result: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stderr.splitlines() if line.startswith(b'{"notice"')]


def notices(result: subprocess.CompletedProcess[bytes]) -> set[str]:
    return {one["notice"] for one in told(result)}


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[Telemetry, Path]]:
    """Start telemetry in the test's own process, for a file, with a provider of its own."""
    path = tmp_path / "spans.jsonl"
    settings = Settings("dev", Regime.ADDRESS, ("offline:",), destination=f"file:{path}")
    telemetry = start(settings, provider(), {})
    yield telemetry, path
    telemetry.stop()
    RequestsInstrumentor().uninstrument()
    URLLib3Instrumentor().uninstrument()


def test_flush_says_that_all_of_it_left(started: tuple[Telemetry, Path]) -> None:
    """And it has."""
    telemetry, path = started
    telemetry.provider.get_tracer(SCOPE).start_span("work").end()

    assert telemetry.flush(5) is True
    assert len(path.read_text().splitlines()) == 1


def test_flush_says_that_some_was_lost(started: tuple[Telemetry, Path]) -> None:
    """The file's folder is gone."""
    telemetry, path = started
    path.parent.rmdir()
    telemetry.provider.get_tracer(SCOPE).start_span("work").end()

    assert telemetry.flush(5) is False
    assert telemetry.lost.spans == 1
    path.parent.mkdir()


def test_flush_does_not_wait_for_a_backend_that_does_not_answer(started: tuple[Telemetry, Path]) -> None:
    """A process that ends has seconds, and the archive wants its own."""
    telemetry, _ = started
    answers = threading.Event()

    class Stuck(SpanProcessor):
        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return answers.wait()

    telemetry.provider.add_span_processor(Stuck())

    assert telemetry.flush(0.01) is False
    answers.set()
