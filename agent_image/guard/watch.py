"""Watch a session for what goes wrong without any error: looked at after each step, asked before each call."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_image.guard.anomalies import Conduct
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
from agent_image.guard.pace import Pace

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
    conduct: Conduct = field(default_factory=Conduct)
    pace: Pace = field(default_factory=Pace)

    def observed(self, step: Observed, rules: WatchRules) -> tuple[Watch, tuple[Finding, ...]]:
        """Look at one step, as soon as it has ended; give all that was found."""
        loops, circles = self.loops.observed(step, rules)
        monologue, repeated = self.monologue.observed(step)
        conduct, odd = self.conduct.observed(step, rules)
        pace, costly = self.pace.observed(step, rules)
        watch = Watch(loops=loops, monologue=monologue, conduct=conduct, pace=pace)
        return watch, (*circles, *repeated, *odd, *costly)

    def verdict(self, call: str) -> Remedy | None:
        """Say what becomes of a call, by its fingerprint, before it runs: BLOCK, STOP, or None."""
        return self.loops.verdict(call)

    def retries(self, tool: str, call: str) -> bool:
        """Tell, before a call runs, whether it is a refused one with other arguments."""
        return self.conduct.retries(tool, call)

    def reset(self) -> Watch:
        """Begin to look for loops and errors anew: a person has spoken. What was refused and spent stays known."""
        return Watch(conduct=self.conduct.reset(), pace=self.pace.reset())
