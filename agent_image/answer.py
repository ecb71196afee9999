"""Say what a caller gets back: the events of an answer, as one JSON object or as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent_image.contract import Status
from agent_image.errors import AgentError

TEXT: Final = "text"
CITATIONS: Final = "citations"


@dataclass(frozen=True, slots=True)
class Event:
    """Hold one event of an answer: its name and its document."""

    name: str
    document: dict[str, Any]

    @property
    def closes(self) -> bool:
        """Tell whether this is the last event: the answer as a whole."""
        return self.name in set(Status)

    def encoded(self) -> bytes:
        """Render the event as a server-sent event."""
        # A JSON text holds no line break of its own.
        data = json.dumps(self.document, separators=(",", ":"), ensure_ascii=False)
        return f"event: {self.name}\ndata: {data}\n\n".encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Citation:
    """Tie a mark of the answer to the passage it names."""

    number: int
    address: str

    def document(self) -> dict[str, Any]:
        """Render the citation."""
        return {"n": self.number, "address": self.address}


@dataclass(frozen=True, slots=True)
class Waiting:
    """Say what a person has to decide."""

    checkpoint_id: str
    state: str
    tool: str
    arguments: Mapping[str, Any]
    zone: str
    reasons: Sequence[str]
    expires_at: str

    def document(self) -> dict[str, Any]:
        """Render it."""
        return {
            "checkpoint_id": self.checkpoint_id,
            "state": self.state,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "zone": self.zone,
            "reasons": list(self.reasons),
            "expires_at": self.expires_at,
        }


def text(delta: str) -> Event:
    """Pass on a piece of the answer while it is written."""
    return Event(TEXT, {"text": delta})


def citations(found: Sequence[Citation]) -> Event:
    """Tell which passages the answer names."""
    return Event(CITATIONS, {CITATIONS: [citation.document() for citation in found]})


def completed(answer: str, found: Sequence[Citation], *, session_id: str, trace_id: str) -> Event:
    """Close with the whole answer."""
    document = {
        "status": Status.COMPLETED.value,
        "answer": answer,
        CITATIONS: [citation.document() for citation in found],
        "session_id": session_id,
        "trace_id": trace_id,
    }
    return Event(Status.COMPLETED, document)


def suspended(waiting: Sequence[Waiting], *, session_id: str, trace_id: str) -> Event:
    """Close with what a person has to decide; the first of several stands for all."""
    first, *_ = waiting
    document = {
        "status": Status.SUSPENDED.value,
        **first.document(),
        "waiting": [one.document() for one in waiting],
        "session_id": session_id,
        "trace_id": trace_id,
    }
    return Event(Status.SUSPENDED, document)


def swept(counts: Mapping[str, int], *, session_id: str, trace_id: str) -> Event:
    """Close with what was swept."""
    document = {
        "status": Status.COMPLETED.value,
        "swept": dict(counts),
        "session_id": session_id,
        "trace_id": trace_id,
    }
    return Event(Status.COMPLETED, document)


def noted(*, session_id: str, trace_id: str) -> Event:
    """Close an invocation that has no answer to give, such as feedback."""
    return Event(Status.COMPLETED, {"status": Status.COMPLETED.value, "session_id": session_id, "trace_id": trace_id})


def failed(error: AgentError, *, session_id: str, trace_id: str | None = None) -> Event:
    """Close with an error: a code and a sentence of our own."""
    document: dict[str, Any] = {
        "status": Status.FAILED.value,
        "error": {"code": error.code, "message": error.message},
        "session_id": session_id,
    }
    return Event(Status.FAILED, document | ({"trace_id": trace_id} if trace_id else {}))
