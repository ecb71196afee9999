"""Reach the agent that `rastro dev` runs on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Final

from agent_image.contract import SESSION_HEADER
from console.errors import BadInputError, ConsoleError
from console.reply import EVENT_STREAM, Invoke, Reply

LOOPBACK: Final = "127.0.0.1"
ADDRESS_FILE: Final = "dev.json"
"""The file of the state folder that says where its agent listens, while it does."""
PORTS: Final = range(1, 2**16)
# An answer may take as long as AgentCore lets one take.
_ANSWER_SECONDS: Final = 900
_PING_SECONDS: Final = 5
_READ_BYTES: Final = 65_536


def agent_of(state: Path) -> Invoke:
    """Find the agent whose state folder this is.

    Raises:
        ConsoleError: no agent runs on that folder.
        BadInputError: the folder says something else than where its agent listens.
    """
    file = state / ADDRESS_FILE
    try:
        port = json.loads(file.read_text())["port"]
    except FileNotFoundError:
        message = f"no agent runs on {state}; start one: rastro dev --state {state}"
        raise ConsoleError(message) from None
    except (OSError, ValueError, TypeError, KeyError):
        port = None
    if not isinstance(port, int) or port not in PORTS:
        message = f'{file} is not what rastro dev writes; allowed: {{"port": 1 to 65535}}'
        raise BadInputError(message)
    return partial(_invoke, port)


def answers_ping(port: int) -> bool:
    """Tell whether an agent on this machine is ready."""
    with closing(HTTPConnection(LOOPBACK, port, timeout=_PING_SECONDS)) as connection:
        try:
            connection.request("GET", "/ping")
            return connection.getresponse().status == HTTPStatus.OK
        except (OSError, HTTPException):
            return False


@contextmanager
def _invoke(port: int, body: bytes, session_id: str) -> Iterator[Reply]:
    headers = {"Content-Type": "application/json", "Accept": EVENT_STREAM, SESSION_HEADER: session_id}
    with closing(HTTPConnection(LOOPBACK, port, timeout=_ANSWER_SECONDS)) as connection:
        with _told(port):
            connection.request("POST", "/invocations", body, headers)
            response = connection.getresponse()
        yield Reply(response.status, response.getheader("Content-Type", ""), _chunks(response, port))


def _chunks(response: HTTPResponse, port: int) -> Iterator[bytes]:
    with _told(port):
        # At most one read of the socket each time: what is there is shown.
        yield from iter(partial(response.read1, _READ_BYTES), b"")


@contextmanager
def _told(port: int) -> Iterator[None]:
    try:
        yield
    except ConnectionRefusedError:
        message = f"nothing listens on {LOOPBACK}:{port}; start the agent: rastro dev"
        raise ConsoleError(message) from None
    except (OSError, HTTPException) as error:
        message = f"the agent on {LOOPBACK}:{port} broke off ({type(error).__name__})"
        raise ConsoleError(message) from None
