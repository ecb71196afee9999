"""Stand before another server, keep what is sent to it, and be down when a test says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import requests

from tests.loopback.server import QuietHandler, serving

_PATIENCE_SECONDS = 30


@dataclass
class Relay:
    """Hold what was handed on; while it is `down`, it hangs up on everybody."""

    url: str = ""
    down: bool = False
    bodies: list[bytes] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)


@contextmanager
def relaying(to: str) -> Iterator[Relay]:
    """Hand POST requests on until the block ends."""
    relay = Relay()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = self.body()
            if relay.down:
                self.close_connection = True
                return
            relay.bodies.append(body)
            relay.headers.append(str(self.headers))
            answer = requests.post(to, data=body, headers=dict(self.headers.items()), timeout=_PATIENCE_SECONDS)
            self.answer(answer.content, status=answer.status_code, content_type=answer.headers["Content-Type"])

    with serving(Handler) as relay.url:
        yield relay
