"""Hold what a stage may know of the run beside what it judges, and what it may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class SideCall(Protocol):
    """Account for one call of a model that a stage makes: once, by whichever is said first."""

    def end(self, usage: Mapping[str, Any], stop_reason: str) -> None:
        """Spend what it used."""
        ...

    def fail(self, code: str) -> None:
        """Account for a call that failed: what was set aside stays spent."""
        ...


class SideCalls(Protocol):
    """Pay, out of the session's budget, for models that stages call."""

    def begin(self, hook: str, model: str, projected_tokens: int | None, output_tokens: int | None) -> SideCall:
        """Set aside what a call may cost; `hook` says in the trail who makes it, None that nobody knows how much.

        Raises:
            AgentError: the session has reached a hard limit, or the store does not answer; no model may be called.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Hold the run as a stage sees it.

    Attributes:
        turn: steps that the session has taken.
        max_turns: steps at which it is stopped.
        sent_back: how often stages have sent this answer back.
        transcript: gives the conversation so far as a text, redacted.
        calls: pays for models.
        gone: tells whether nobody waits for the verdict any more.
    """

    session_id: str
    agent: str
    turn: int
    max_turns: int
    sent_back: int
    transcript: Callable[[], str]
    calls: SideCalls
    gone: Callable[[], bool]
