"""One setting says where the trail goes."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from opentelemetry.sdk.trace.export import SpanExportResult

from agent_image.contract import CLOUDWATCH, Regime
from agent_image.errors import TelemetryError
from agent_image.settings import Settings
from agent_image.telemetry.destination import LinesExporter, Secrets, endpoint, exporter
from agent_image.telemetry.shape import encoded
from tests.agent_image.telemetry.sink import listening
from tests.agent_image.telemetry.spans import made


def settings(destination: str, headers: str | None = None) -> Settings:
    return Settings("dev", Regime.ADDRESS, ("offline:",), destination=destination, destination_headers=headers)


def no_secrets() -> Secrets:
    message = "nobody named a secret"
    raise AssertionError(message)


class Vault:
    """Hold one secret."""

    def __init__(self, value: object) -> None:
        self._value = value

    def get_secret_value(self, *, SecretId: str) -> Mapping[str, object]:  # noqa: N803
        if isinstance(self._value, Exception):
            raise self._value
        return {"SecretString": self._value, "ARN": SecretId}


def test_cloudwatch_is_what_the_runtime_sets_up() -> None:
    """Endpoint, headers and signature are the distribution's affair."""
    assert exporter(settings(CLOUDWATCH), no_secrets) is None


@pytest.mark.parametrize("form", ["file:{}", "file://{}"])
def test_a_file_holds_one_line_for_each_span(form: str, tmp_path: Path) -> None:
    """In the shape that CloudWatch stores; only its owner reads it."""
    path = tmp_path / "spans.jsonl"
    lines = exporter(settings(form.format(path)), no_secrets)
    assert lines is not None
    one, two, three = made("one"), made("two"), made("três\n")

    assert lines.export([one, two]) is SpanExportResult.SUCCESS
    assert lines.export([three]) is SpanExportResult.SUCCESS
    assert lines.force_flush()

    assert path.read_bytes() == b"".join(encoded(span) + b"\n" for span in (one, two, three))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_lines_of_several_writers_do_not_mix(tmp_path: Path) -> None:
    """A batch is one write at the file's end, whoever else writes."""
    path = tmp_path / "spans.jsonl"
    spans = [made("x" * 2_000) for _ in range(20)]
    writers = [
        threading.Thread(target=lambda: [LinesExporter(str(path)).export(spans) for _ in range(10)]) for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    lines = path.read_text().splitlines()
    assert len(lines) == 800
    assert all(json.loads(line)["name"] == "x" * 2_000 for line in lines)


@pytest.mark.parametrize(
    ("destination", "expected"),
    [
        ("https://otel.example.com", "https://otel.example.com/v1/traces"),
        ("https://langfuse.example.com/api/public/otel/", "https://langfuse.example.com/api/public/otel/v1/traces"),
        ("http://127.0.0.1:6006/v1/traces", "http://127.0.0.1:6006/v1/traces"),
    ],
)
def test_an_endpoint_may_or_may_not_name_its_path(destination: str, expected: str) -> None:
    """Langfuse documents the one, Phoenix the other."""
    assert endpoint(destination) == expected


def test_an_endpoint_gets_the_secret_s_headers_and_none_of_the_environment_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime's own headers name a log group; they are for another endpoint."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-aws-log-group=secret")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-other=secret")
    vault = Vault(json.dumps({"Authorization": "Basic abc"}))
    with listening() as sink:
        for headers in ("arn:aws:secretsmanager:eu-central-1:1:secret:s", None):
            spans = exporter(settings(sink.url, headers), lambda: vault)
            assert spans is not None
            assert spans.export([made()]) is SpanExportResult.SUCCESS
            spans.shutdown()

    with_secret, without = (request.headers for request in sink.requests)
    assert with_secret["Authorization"] == "Basic abc"
    assert "Authorization" not in without
    assert not {"x-aws-log-group", "x-other"} & {name.lower() for name in with_secret | without}


def test_a_secret_is_read_by_the_real_client(aws_url: str) -> None:
    """Secrets Manager keeps the headers; moto stands in for it."""
    client: Any = boto3.client(
        "secretsmanager",
        region_name="eu-central-1",
        endpoint_url=aws_url,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106
    )
    arn = client.create_secret(Name="headers", SecretString=json.dumps({"x-key": "k"}))["ARN"]
    with listening() as sink:
        spans = exporter(settings(sink.url, arn), lambda: client)
        assert spans is not None
        spans.export([made()])
        spans.shutdown()
    client.close()

    assert sink.requests[0].headers["x-key"] == "k"


@pytest.mark.parametrize(
    ("secret", "code"),
    [
        (RuntimeError("hunter2"), "destination_headers_unreadable"),
        ("hunter2", "destination_headers_unreadable"),
        ('["hunter2"]', "destination_headers_invalid"),
        ('{"x-key": 7}', "destination_headers_invalid"),
    ],
)
def test_a_secret_that_holds_no_headers_stops_the_process_and_is_not_quoted(secret: object, code: str) -> None:
    """A trail that cannot be delivered is said at start, not after the first question."""
    with pytest.raises(TelemetryError) as raised:
        exporter(settings("https://example.com", "arn"), lambda: Vault(secret))

    assert raised.value.code == code
    assert "hunter2" not in raised.value.message


def test_a_destination_of_no_known_form_stops_the_process() -> None:
    """The forms are named."""
    with pytest.raises(TelemetryError, match="destination_unknown"):
        exporter(settings("ftp://example.com"), no_secrets)
