"""Hold what an agent sends back, whichever way it came, and read its events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

from agent_image.contract import Status
from console.errors import ConsoleError
from console.sse import ServerSentEvent, parse

EVENT_STREAM: Final = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Reply:
    """Hold a response while its bytes come in.

    Attributes:
        status: the HTTP status.
        content_type: what the bytes are.
        chunks: the bytes, each piece as soon as it is there.
    """

    status: int
    content_type: str
    chunks: Iterable[bytes]


Invoke = Callable[[bytes, str], AbstractContextManager[Reply]]
"""Sends an invocation's body for a session."""


@dataclass(frozen=True, slots=True)
class Event:
    """Hold one event of an answer: its name, its document, and the JSON text of it."""

    name: str
    document: Mapping[str, Any]
    text: str

    @property
    def closes(self) -> bool:
        """Tell whether this is the last event: the answer as a whole."""
        return self.name in set(Status)


def events(reply: Reply) -> Iterator[Event]:
    """Give an answer's events; the last one closes it.

    Raises:
        ConsoleError: what came is no answer of an agent, or it broke off.
    """
    for sent in _sent(reply):
        event = _event(sent)
        yield event
        if event.closes:
            return
    message = f"the answer broke off, with HTTP status {reply.status} and no closing event"
    raise ConsoleError(message)


def _sent(reply: Reply) -> Iterator[ServerSentEvent]:
    if reply.content_type.partition(";")[0].strip().lower() == EVENT_STREAM:
        yield from parse(reply.chunks)
        return
    # A refusal, or a server that does not stream: one document, which is the answer.
    text = b"".join(reply.chunks).decode("utf-8", "replace")
    try:
        name = json.loads(text)["status"]
    except (ValueError, TypeError, KeyError, RecursionError):
        name = None
    if name not in set(Status):
        message = f"HTTP status {reply.status} and no answer of an agent"
        raise ConsoleError(message)
    yield ServerSentEvent(name, text)


def _event(sent: ServerSentEvent) -> Event:
    try:
        document = json.loads(sent.data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        message = f"the event {sent.name!r} holds no JSON object"
        raise ConsoleError(message)
    return Event(sent.name, document, sent.data)
