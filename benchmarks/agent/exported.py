"""Count what CloudWatch would store: each span and each log record as compact JSON in the layout it keeps.

The same count for ours and for the peer's, from the bytes that left each process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.agent_image.telemetry.sink import Request


@dataclass(frozen=True, slots=True)
class Exported:
    """Hold how much one session left: what was exported, and the lines on standard output."""

    spans: int
    span_bytes: int
    logs: int
    log_bytes: int
    lines: int = 0
    line_bytes: int = 0

    @property
    def export_bytes(self) -> int:
        """Sum spans and logs."""
        return self.span_bytes + self.log_bytes

    @property
    def bytes(self) -> int:
        """Sum all that ends in the log group."""
        return self.export_bytes + self.line_bytes


def exported(requests: list[Request], output: bytes = b"") -> Exported:
    """Count what a process sent, and what it wrote on standard output."""
    spans = [size for request in requests if request.path == "/v1/traces" for size in _spans(request.body)]
    logs = [size for request in requests if request.path == "/v1/logs" for size in _logs(request.body)]
    lines = output.splitlines()
    return Exported(len(spans), sum(spans), len(logs), sum(logs), len(lines), sum(map(len, lines)))


def _spans(body: bytes) -> Iterator[int]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield _size(
                    {
                        "resource": {"attributes": _map(resource.resource.attributes)},
                        "scope": {"name": scope.scope.name, "version": scope.scope.version},
                        **_span(span),
                    }
                )


def _span(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "flags": span.flags,
        "name": span.name,
        "kind": Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        "startTimeUnixNano": span.start_time_unix_nano,
        "endTimeUnixNano": span.end_time_unix_nano,
        "durationNano": span.end_time_unix_nano - span.start_time_unix_nano,
        "attributes": _map(span.attributes),
        "status": {"code": Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_")}
        | ({"message": span.status.message} if span.status.message else {}),
        "events": [
            {"timeUnixNano": event.time_unix_nano, "name": event.name, "attributes": _map(event.attributes)}
            for event in span.events
        ],
    }


def _logs(body: bytes) -> Iterator[int]:
    for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                yield _size(
                    {
                        "resource": {"attributes": _map(resource.resource.attributes)},
                        "scope": {"name": scope.scope.name, "version": scope.scope.version},
                        "timeUnixNano": record.time_unix_nano,
                        "observedTimeUnixNano": record.observed_time_unix_nano,
                        "severityNumber": record.severity_number,
                        "severityText": record.severity_text,
                        "body": _value(record.body),
                        "attributes": _map(record.attributes),
                        "flags": record.flags,
                        "traceId": record.trace_id.hex(),
                        "spanId": record.span_id.hex(),
                    }
                )


def _map(pairs: Any) -> dict[str, Any]:  # noqa: ANN401 - protobuf's repeated field
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:  # noqa: ANN401 - any value
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    if kind == "kvlist_value":
        pairs: list[KeyValue] = list(value.kvlist_value.values)
        return _map(pairs)
    return None if kind is None else getattr(value, kind)


def _size(document: dict[str, Any]) -> int:
    return len(json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"))
