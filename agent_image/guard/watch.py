"""Watch a session for what goes wrong without any error: looked at after each step, asked before each call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from agent_image.guard.findings import (
    Anomaly,
    Finding,
    Observed,
    PollRule,
    Remedy,
    Seen,
    Severity,
    WatchRules,
    strongest,
)
from agent_image.guard.loops import Loops
from agent_image.guard.monologue import Monologue, sketch
from agent_image.guard.observation import fingerprint, observation

__all__ = [
    "Anomaly",
    "Finding",
    "Observed",
    "PollRule",
    "Remedy",
    "Seen",
    "Severity",
    "Watch",
    "WatchRules",
    "fingerprint",
    "observation",
    "sketch",
    "strongest",
]


@dataclass(frozen=True, slots=True)
class Watch:
    """Hold what the detectors remember of a session; its size has a bound, however long the session is."""

    loops: Loops = field(default_factory=Loops)
    monologue: Monologue = field(default_factory=Monologue)

    def observed(self, step: Observed, rules: WatchRules) -> tuple[Watch, tuple[Finding, ...]]:
        """Look at one step, as soon as it has ended; give all that was found."""
        loops, circles = self.loops.observed(step, rules)
        monologue, repeated = self.monologue.observed(step)
        return replace(self, loops=loops, monologue=monologue), (*circles, *repeated)

    def verdict(self, call: str) -> Remedy | None:
        """Say what becomes of a call, by its fingerprint, before it runs: BLOCK, STOP, or None."""
        return self.loops.verdict(call)

    def reset(self) -> Watch:
        """Begin to look anew: a person has spoken."""
        return replace(self, loops=Loops(), monologue=Monologue())
