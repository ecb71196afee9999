"""Run moto's server: S3 and DynamoDB on loopback, spoken to by real boto3 clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer


@contextmanager
def moto() -> Iterator[str]:
    """Serve until the block ends; gives the server's URL."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()
