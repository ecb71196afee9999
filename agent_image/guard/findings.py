"""Say what the detectors look at after each step, and what they may find: kinds, codes and numbers, never a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from agent_image.guard.budget import Amount, Limits

Evidence = Mapping[str, str | int]
"""Codes and numbers, by name."""

Sketch = tuple[int, ...]
"""What is kept of a text, enough to tell whether another says nearly the same."""

POLLS_UNCHANGED: Final = 20
"""How often a declared poll may find nothing new."""


class Anomaly(StrEnum):
    """Name what a detector finds."""

    COST = "cost"
    COST_RATE = "cost_rate"
    COST_STEP = "cost_step"
    BUDGET_PROJECTION = "budget_projection"
    LOOP = "loop"
    POLL = "poll"
    MONOLOGUE = "monologue"
    BLOCKED_STREAK = "blocked_streak"
    ERROR_STREAK = "error_streak"
    EDITED_RETRY = "edited_retry"
    TOOL_ERROR_RATE = "tool_error_rate"


class Severity(StrEnum):
    """Name how much a finding matters: noted, told to people, told at once."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class Remedy(StrEnum):
    """Name what is to be done, the mildest first: nothing, tell the model, hold the call, end the run."""

    NOTE = "note"
    NUDGE = "nudge"
    BLOCK = "block"
    STOP = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Hold what a detector found.

    Attributes:
        evidence: codes and numbers.
    """

    kind: Anomaly
    severity: Severity
    remedy: Remedy
    evidence: Evidence = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Hold one call of a step, as the detectors see it.

    Attributes:
        tool: the name under which the tool is registered; never a name that only the model knows.
        fingerprint: of the tool and its arguments, see `observation.fingerprint`.
        observation: of what came back, see `observation.observation`.
        refused: a person, the policy or a hook kept it from running.
        held: the watch itself kept it from running.
    """

    tool: str
    fingerprint: str
    observation: str
    is_error: bool = False
    refused: bool = False
    held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Hold one step: what the model said or called, and what came back.

    Attributes:
        at: when the step ended, in UTC.
        calls: in the order in which they ended; none where the model only wrote. What was replayed is not seen again.
        text: of a step without calls, see `monologue.sketch`.
        cost_nano: what the step's model call and tools cost; None where a price is not known.
        spent: all that the session has spent, this step included.
    """

    at: datetime
    calls: tuple[Seen, ...] = ()
    text: Sketch = ()
    cost_nano: int | None = None
    spent: Amount = field(default_factory=Amount)


@dataclass(frozen=True, slots=True, kw_only=True)
class PollRule:
    """Let a tool be asked the same again: not sooner than after an interval, and not for ever."""

    min_interval_seconds: int = 0
    unchanged: int = POLLS_UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRules:
    """Hold the detectors' thresholds.

    Attributes:
        polls: the tools that are declared to be asked again and again.
        limits: of the session; without them nothing is said about its budget.
        cost_per_minute_nano: more than this within a minute is too fast; None: never.
        blocked_streak: so many calls kept from running, one after the other.
        error_streak: so many calls that failed, one after the other. Twice a streak ends the run.
    """

    polls: Mapping[str, PollRule] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits | None = None
    cost_per_minute_nano: int | None = None
    blocked_streak: int = 2
    error_streak: int = 5


_SEVERITIES: Final[Mapping[Remedy, Severity]] = MappingProxyType(
    {
        Remedy.NOTE: Severity.INFO,
        Remedy.NUDGE: Severity.INFO,
        Remedy.BLOCK: Severity.WARNING,
        Remedy.STOP: Severity.CRITICAL,
    }
)
_ORDER: Final = tuple(Remedy)


def rung(kind: Anomaly, remedy: Remedy, evidence: Evidence) -> Finding:
    """Find something whose remedy says how much it matters: people hear of it when a call is held."""
    return Finding(kind=kind, severity=_SEVERITIES[remedy], remedy=remedy, evidence=evidence)


def warning(kind: Anomaly, evidence: Evidence, remedy: Remedy = Remedy.NOTE) -> Finding:
    """Find something that people should hear of."""
    return Finding(kind=kind, severity=Severity.WARNING, remedy=remedy, evidence=evidence)


def strongest(findings: Sequence[Finding]) -> Finding | None:
    """Give the finding whose remedy outdoes the others'; the first of equals."""
    return max(findings, key=lambda finding: _ORDER.index(finding.remedy), default=None)
