"""Stand in for an OTLP backend on loopback: it decodes what arrives, and remembers how it came."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def spans(self) -> list[Span]:
        message = ExportTraceServiceRequest.FromString(self.body)
        return [span for resource in message.resource_spans for scope in resource.scope_spans for span in scope.spans]


@dataclass
class Sink:
    """Hold every request; refuse those whose number stands in `refused`."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)

    @property
    def spans(self) -> list[Span]:
        return [span for request in self.requests if request.path == "/v1/traces" for span in request.spans]

    @property
    def bytes(self) -> bytes:
        return b"\n".join(request.body for request in self.requests)


def value_of(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [value_of(one) for one in value.array_value.values]
    return None if kind is None else getattr(value, kind)


def attributes_of(span: Span) -> dict[str, Any]:
    return {pair.key: value_of(pair.value) for pair in span.attributes}


@contextmanager
def listening() -> Iterator[Sink]:
    """Serve on a free port of loopback until the block ends."""
    sink = Sink()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            with lock:
                refused = len(sink.requests) in sink.refused
                sink.requests.append(Request(self.path, dict(self.headers.items()), body))
            self.send_response(400 if refused else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    sink.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield sink
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
