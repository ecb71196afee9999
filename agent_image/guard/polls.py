"""Tell a tool that is declared to be asked again and again from a loop: it waits, and not for ever."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agent_image.guard.findings import Observed, PollRule, Seen, WatchRules

_KEPT: Final = 8


@dataclass(frozen=True, slots=True)
class Polled:
    """Hold how often a poll, one after the other, brought back the same."""

    call: str
    found: str
    unchanged: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Round:
    """Hold what one step polled.

    Attributes:
        patient: the calls that came no sooner than they may.
        worn: the call that brought back the same too often.
    """

    patient: frozenset[str] = frozenset()
    worn: Seen | None = None


@dataclass(frozen=True, slots=True)
class Polls:
    """Hold the polls of a session, those asked last."""

    known: tuple[Polled, ...] = ()

    def observed(self, step: Observed, rules: WatchRules) -> tuple[Polls, Round]:
        """Count the polls of one step."""
        known = {one.call: one for one in self.known}
        patient, worn = set(), None
        for call in step.calls:
            if (rule := rules.polls.get(call.tool)) is None:
                continue
            before = known.pop(call.fingerprint, None)
            known[call.fingerprint] = now = _again(before, call, step.at)
            if before is None or _waited(before, step.at, rule):
                patient.add(call.fingerprint)
            if now.unchanged >= rule.unchanged:
                worn = call
        return Polls(tuple(known.values())[-_KEPT:]), Round(frozenset(patient), worn)


def _again(before: Polled | None, call: Seen, at: datetime) -> Polled:
    same = before is not None and before.found == call.observation
    return Polled(call.fingerprint, call.observation, before.unchanged + 1 if before and same else 1, at)


def _waited(before: Polled, at: datetime, rule: PollRule) -> bool:
    return (at - before.at).total_seconds() >= rule.min_interval_seconds
