"""Say what a trail is: where the spans and events of sessions lie, and what one may ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from agent_image.retrieval.fingerprint import Fingerprint
from console.trace.record import Material


@dataclass(frozen=True, slots=True)
class Needle:
    """Name what to find among all that models were reading: a fingerprint's text form, or a source's whole URI."""

    fingerprint: str = ""
    uri: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """Hold what reading the trail took.

    Attributes:
        queries: how many were run.
        scanned: bytes that were billed; None where it is not known.
        cost_usd: what that costs; None where it is not known, or nothing is billed.
    """

    queries: int = 0
    scanned: int | None = None
    cost_usd: Decimal | None = None


class Trail(Protocol):
    """Find what one asks for. Every method may raise ConsoleError; what is missing is said in the material's notes."""

    def session(self, session_id: str) -> Material:
        """Give all that a session left, however many runs it had."""
        ...

    def trace(self, trace_id: str) -> Material:
        """Give all that the sessions of a trace left."""
        ...

    def last(self) -> Material:
        """Give all that the session left that began its last run last; empty where there is none."""
        ...

    def answered(self, answer: Fingerprint) -> Material:
        """Give the invocation spans whose answers have this fingerprint."""
        ...

    def reading(self, needle: Needle) -> Material:
        """Give the retrieval spans, of all sessions, that hold a passage."""
        ...

    def recent(self, since: datetime) -> Material:
        """Give, of all sessions since a moment, the invocation spans and the events that say how runs fared."""
        ...

    @property
    def scan(self) -> Scan:
        """Tell what it took so far."""
        ...
