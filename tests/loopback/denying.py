"""Stand before S3 on loopback, and deny reading the objects that a test names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import requests

from tests.loopback.server import QuietHandler, serving

_PATIENCE_SECONDS = 30
_DENIED = b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Denied</Message></Error>'
_HOP = frozenset({"connection", "content-length", "date", "server", "transfer-encoding"})


@dataclass
class Denying:
    """Hold the ends of the paths whose reading is denied."""

    url: str = ""
    denied: set[str] = field(default_factory=set)


@contextmanager
def denying(to: str) -> Iterator[Denying]:
    """Hand requests on until the block ends."""
    gate = Denying()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            body = self.body()
            path = self.path.partition("?")[0]
            if self.command in {"GET", "HEAD"} and path.endswith(tuple(gate.denied)):
                self.answer(_DENIED, status=403, content_type="application/xml")
                return
            answer = requests.request(
                self.command,
                f"{to}{self.path}",
                data=body,
                headers=dict(self.headers.items()),
                timeout=_PATIENCE_SECONDS,
                stream=True,
            )
            # As it came: S3's clients check what was sent against its digest.
            content = answer.raw.read(decode_content=False)
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_POST = do_PUT = do_HEAD = do_DELETE = do_GET

    with serving(Handler) as gate.url:
        yield gate
