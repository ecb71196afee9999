"""Serve scripted answers on loopback, in place of an agent or of AWS."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

EVENT_STREAM = "text/event-stream"


def event(name: str, document: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n".encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Asked:
    """Hold one request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Scripted:
    """Hold what to answer, piece by piece; `whole` leaves out what ends a chunked body."""

    pieces: Iterable[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": EVENT_STREAM})
    whole: bool = True


def document(found: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Scripted:
    return Scripted([json.dumps(found).encode()], status, {"Content-Type": "application/json", **(headers or {})})


Answer = Callable[[Asked], Scripted]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[int, list[Asked]]]:
    """Serve; give the port and the list of what was asked."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(Asked(self.command, self.path, dict(self.headers), body))
            scripted = answer(asked[-1])
            self.send_response(scripted.status)
            for name, value in scripted.headers.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in scripted.pieces:
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            if scripted.whole:
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
