"""Keep a share of the sessions whole, and every session in which something went wrong."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from typing import Final, TypeVar

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from agent_image.contract import Span, Verdict
from agent_image.telemetry.shape import encoded

Key = TypeVar("Key")
Value = TypeVar("Value")

BUFFER_BYTES: Final = 8 * 2**20
"""Encoded bytes of the sessions that wait for a reason to be kept."""
REMEMBERED: Final = 10_000
"""Sessions and traces that are remembered."""
_HASHES: Final = 2**64
_ALLOWED: Final = "allowed"


def is_kept(session_id: str, share: Decimal) -> bool:
    """Say whether a session is in the share: the same in every process, from its id alone."""
    return int.from_bytes(sha256(session_id.encode("utf-8", "replace")).digest()[:8], "big") < share * _HASHES


def is_signal(span: ReadableSpan) -> bool:
    """Say whether a span is a reason to keep its session: an error, a guard's decision, a bad verdict."""
    attributes = span.attributes or {}
    return (
        span.status.status_code is StatusCode.ERROR
        or "error.type" in attributes
        or attributes.get(Span.DECISION.value, _ALLOWED) != _ALLOWED
        or attributes.get(Span.VERDICT.value) == Verdict.BAD
    )


@dataclass
class _Waiting:
    spans: list[ReadableSpan] = field(default_factory=list)
    bytes: int = 0


class SessionSampler:
    """Hold back the spans of sessions outside the share until one of theirs is a signal."""

    def __init__(self, share: Decimal, buffer_bytes: int = BUFFER_BYTES) -> None:
        """Take the share of sessions to keep whatever happens, and the bytes that may wait."""
        self._share = share
        self._room = buffer_bytes
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._signalled: OrderedDict[str, None] = OrderedDict()
        self._sessions: OrderedDict[int, str] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self.evicted = 0
        """Spans that left the buffer unseen because newer ones needed the room."""

    def admitted(self, spans: Iterable[ReadableSpan]) -> list[ReadableSpan]:
        """Give the spans that may leave now: those of kept sessions, and all that waited for a signal that came."""
        if self._share >= 1:
            return list(spans)
        with self._lock:
            return [one for span in spans for one in self._admitted(span)]

    def _admitted(self, span: ReadableSpan) -> list[ReadableSpan]:
        session = self._session(span)
        if session is None or session in self._signalled or is_kept(session, self._share):
            return [span]
        if not is_signal(span):
            self._wait(session, span)
            return []
        _remember(self._signalled, session, None)
        waited = self._waiting.pop(session, _Waiting())
        self._bytes -= waited.bytes
        return [*waited.spans, span]

    def _session(self, span: ReadableSpan) -> str | None:
        """Find whose a span is; the server's own span may start before the session is known, its trace tells."""
        context = span.get_span_context()
        trace = context.trace_id if context else 0
        session = (span.attributes or {}).get(Span.SESSION.value)
        if isinstance(session, str):
            _remember(self._sessions, trace, session)
            return session
        return self._sessions.get(trace)

    def _wait(self, session: str, span: ReadableSpan) -> None:
        size = len(encoded(span))
        waiting = self._waiting.setdefault(session, _Waiting())
        waiting.spans.append(span)
        waiting.bytes += size
        self._bytes += size
        self._waiting.move_to_end(session)
        while self._bytes > self._room:
            _, oldest = self._waiting.popitem(last=False)
            self._bytes -= oldest.bytes
            self.evicted += len(oldest.spans)


def _remember(known: OrderedDict[Key, Value], key: Key, value: Value) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > REMEMBERED:
        known.popitem(last=False)
