"""Run moto's server: S3 and DynamoDB on loopback, spoken to by real boto3 clients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server


@contextmanager
def moto() -> Iterator[str]:
    """Serve until the block ends; gives the server's URL."""
    services, turn = DomainDispatcherApplication(create_backend_app), Lock()

    def one_at_a_time(*request: Any) -> Iterable[bytes]:
        # moto checks a condition and writes in two steps: two threads would both pass, and both win.
        with turn:
            answer: Iterable[bytes] = services(*request)
            return answer

    server = make_server("127.0.0.1", 0, one_at_a_time, threaded=True, request_handler=MotoRequestHandler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
