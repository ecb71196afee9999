"""Carry the session id as baggage: onto every span, and onto every outbound call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import baggage, context

from agent_image.contract import Span


@contextmanager
def session_scope(session_id: str) -> Iterator[None]:
    """Make a session the current one: what starts within belongs to it. Nothing else of a caller's baggage goes on."""
    token = context.attach(baggage.set_baggage(Span.SESSION.value, session_id, baggage.clear()))
    try:
        yield
    finally:
        context.detach(token)
