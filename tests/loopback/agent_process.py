"""Wait for an agent that starts as a process of its own."""

from __future__ import annotations

import socket
import subprocess
import time
from typing import Any

from console.local_agent import answers_ping

PATIENCE_SECONDS = 60
_PAUSE_SECONDS = 0.01


def free_port() -> int:
    """Find a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for_ping(process: subprocess.Popen[Any], port: int) -> None:
    """Wait until the agent answers /ping.

    Raises:
        RuntimeError: it ended, or did not answer in time.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if answers_ping(port):
            return
        time.sleep(_PAUSE_SECONDS)
    message = f"the agent did not start; its status is {process.poll()}"
    raise RuntimeError(message)
