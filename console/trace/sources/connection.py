"""Cut the connection of a request whose time is over, wherever it waits: a server that drips is late with nothing."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any, Final

_MADE: Final = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
"""Events of httpcore that come with the stream which what follows goes over."""


class Connection:
    """Hold what one request goes over, as httpcore's `trace` extension tells of it.

    Attributes:
        is_cut: its time is over: what came may be a part only.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._socket: socket.socket | None = None
        self.is_cut = False

    def trace(self, event: str, told: Mapping[str, Any]) -> None:
        """Take note of what was made; what is made when the time is over is cut at once."""
        if event in _MADE:
            self._socket = told["return_value"].get_extra_info("socket")
            if self.is_cut:
                self.cut()

    def cut(self) -> None:
        """End it in both directions: whoever reads from it is woken."""
        self.is_cut = True
        if self._socket is not None:
            with suppress(OSError):
                # Not by TLS, which would wait for an answer.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


@contextmanager
def until(deadline: float) -> Iterator[Connection]:
    """Give a connection that is cut at a moment of the monotonic clock."""
    connection = Connection()
    timer = Timer(max(0.0, deadline - time.monotonic()), connection.cut)
    timer.daemon = True
    timer.start()
    try:
        yield connection
    finally:
        timer.cancel()
