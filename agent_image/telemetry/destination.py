"""Choose where spans go: CloudWatch as the runtime sets it up, an OTLP endpoint, or a file of JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agent_image.contract import CLOUDWATCH
from agent_image.errors import TelemetryError
from agent_image.settings import Settings
from agent_image.telemetry.shape import encoded

FILE: Final = "file:"
TRACES_PATH: Final = "/v1/traces"
HEADERS: Final = {"User-Agent": "rastro"}
FILE_MODE: Final = 0o600


class Secrets(Protocol):
    """Read a secret, as boto3's `secretsmanager` client does."""

    def get_secret_value(self, *, SecretId: str) -> Mapping[str, object]:  # noqa: N803 - AWS's own name
        """Give a secret under `SecretString`."""
        ...


class LinesExporter(SpanExporter):
    """Append spans to a file, one JSON line each, in the shape that CloudWatch stores."""

    def __init__(self, path: str) -> None:
        """Take the file's path; the file is made when the first span comes, for its owner alone."""
        self._path = path

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append whole lines in one write: several processes may append to the same file."""
        lines = b"".join(encoded(span) + b"\n" for span in spans)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE_MODE)
        try:
            written = os.write(file, lines)
        finally:
            os.close(file)
        return SpanExportResult.SUCCESS if written == len(lines) else SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Say that nothing waits."""
        return True


def exporter(settings: Settings, secrets: Callable[[], Secrets]) -> SpanExporter | None:
    """Build the exporter for the settings' destination; None leaves the runtime's own in place.

    `secrets` gives the client that reads the endpoint's headers; it is asked only where the settings name a secret.

    Raises:
        TelemetryError: the secret cannot be read, or the destination is of no known form.
    """
    destination = settings.destination
    if destination == CLOUDWATCH:
        return None
    if destination.startswith(FILE):
        return LinesExporter(destination.removeprefix(FILE).removeprefix("//"))
    if not destination.startswith(("https://", "http://")):
        code = "destination_unknown"
        raise TelemetryError(code, "The destination is cloudwatch, an https:// endpoint, or file:<path>.")
    headers = _headers(settings.destination_headers, secrets) if settings.destination_headers else {}
    # With headers and a session of our own, those that the environment names for the runtime's endpoint stay out.
    return OTLPSpanExporter(endpoint=endpoint(destination), headers=HEADERS | headers, session=requests.Session())


def endpoint(destination: str) -> str:
    """Give the traces path of an OTLP endpoint, whether or not its setting names it."""
    bare = destination.rstrip("/")
    return bare if bare.endswith(TRACES_PATH) else bare + TRACES_PATH


def _headers(secret: str, secrets: Callable[[], Secrets]) -> dict[str, str]:
    try:
        value = json.loads(str(secrets().get_secret_value(SecretId=secret)["SecretString"]))
    except Exception as error:  # noqa: BLE001 - whatever the reason, its text may hold the secret
        code = "destination_headers_unreadable"
        raise TelemetryError(code, f"The secret that holds the headers: {type(error).__name__}.") from None
    if not (isinstance(value, dict) and all(isinstance(one, str) for one in value.values())):
        code = "destination_headers_invalid"
        raise TelemetryError(code, "The secret that holds the headers is a JSON object of texts.")
    return value
