"""Find what is odd about a session's calls: refused again and again, failing, sent once more with other arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agent_image.guard.findings import Anomaly, Evidence, Finding, Observed, Remedy, Seen, WatchRules, rung, warning

STOPS_AT: Final = 2
"""How many times its first length a streak may reach before it ends the run."""
OUTCOMES: Final = 10
"""Calls of a tool whose outcome is remembered."""
ENOUGH: Final = 6
"""Calls of a tool before anything is said of its error rate."""
BAD: Final = 2
"""One failed call in so many is too much."""
BETTER: Final = 4
"""Less than one in so many is well again."""
_TOOLS: Final = 16
_REFUSALS: Final = 8


@dataclass(frozen=True, slots=True)
class Streak:
    """Count calls of one sort, one after the other."""

    length: int = 0

    def after(self, calls: Iterable[bool], least: int) -> tuple[Streak, Remedy | None]:
        """Go on by some calls, each of the sort or not: the model is told first, and the run ends in a later step."""
        length, told, remedy = self.length, self.length >= least, None
        for counts in calls:
            if not counts:
                length, told = 0, False
                continue
            length = min(length + 1, STOPS_AT * least)
            if length == least and not told:
                remedy = Remedy.NUDGE
            elif length == STOPS_AT * least and told:
                remedy = Remedy.STOP
        return Streak(length), remedy


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Hold whether the last calls of a tool failed.

    Attributes:
        told: that too many failed was said, and it has not been much better since.
    """

    tool: str
    failed: tuple[bool, ...] = ()
    told: bool = False

    def after(self, *, failed: bool) -> Outcomes:
        """Count one more call."""
        last = (*self.failed, failed)[-OUTCOMES:]
        return Outcomes(self.tool, last, self.told and sum(last) * BETTER >= len(last))

    @property
    def bad(self) -> bool:
        """Tell whether half of them failed, or more."""
        return len(self.failed) >= ENOUGH and sum(self.failed) * BAD >= len(self.failed)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Hold a call that was kept from running."""

    tool: str
    call: str


@dataclass(frozen=True, slots=True)
class Conduct:
    """Hold what is remembered of a session's calls.

    Attributes:
        blocked: calls kept from running by a person, the policy or a hook; one that ran ends the streak.
        errors: calls that ran and failed; one that succeeded ends the streak.
        outcomes: by tool, those called last.
        refusals: calls kept from running whose tool has not run since.
    """

    blocked: Streak = field(default_factory=Streak)
    errors: Streak = field(default_factory=Streak)
    outcomes: tuple[Outcomes, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def retries(self, tool: str, call: str) -> bool:
        """Tell whether a call is a refused one with other arguments."""
        return _retries(self.refusals, tool, call)

    def observed(self, step: Observed, rules: WatchRules) -> tuple[Conduct, tuple[Finding, ...]]:
        """Look at the calls of one step."""
        # What the watch held itself says nothing about the caller's intent, nor about the tool.
        calls = [call for call in step.calls if not call.held]
        ran = [call for call in calls if not call.refused]
        blocked, refused = self.blocked.after((call.refused for call in calls), rules.blocked_streak)
        errors, failed = self.errors.after((call.is_error for call in ran), rules.error_streak)
        outcomes, bad = _counted(self.outcomes, ran)
        refusals, retried = _refused(self.refusals, calls)
        found = (
            *_streak(Anomaly.BLOCKED_STREAK, refused, rules.blocked_streak),
            *_streak(Anomaly.ERROR_STREAK, failed, rules.error_streak),
            *(warning(Anomaly.EDITED_RETRY, {"tool": tool}) for tool in retried),
            *(warning(Anomaly.TOOL_ERROR_RATE, _rate(one)) for one in bad),
        )
        return Conduct(blocked=blocked, errors=errors, outcomes=outcomes, refusals=refusals), found

    def reset(self) -> Conduct:
        """Begin errors anew; who was refused is not forgotten because somebody wrote."""
        return replace(self, errors=Streak())


def _streak(kind: Anomaly, remedy: Remedy | None, least: int) -> Iterator[Finding]:
    if remedy is Remedy.NUDGE:
        yield warning(kind, {"calls": least}, remedy)
    elif remedy is not None:
        yield rung(kind, remedy, {"calls": STOPS_AT * least})


def _counted(known: Sequence[Outcomes], ran: Sequence[Seen]) -> tuple[tuple[Outcomes, ...], list[Outcomes]]:
    """Count outcomes; give the tools whose error rate has just become bad."""
    by_tool = {one.tool: one for one in known}
    for call in ran:
        by_tool[call.tool] = by_tool.pop(call.tool, Outcomes(call.tool)).after(failed=call.is_error)
    bad = [one for one in by_tool.values() if one.bad and not one.told]
    by_tool.update({one.tool: replace(one, told=True) for one in bad})
    return tuple(by_tool.values())[-_TOOLS:], bad


def _rate(outcomes: Outcomes) -> Evidence:
    return {"tool": outcomes.tool, "failed": sum(outcomes.failed), "calls": len(outcomes.failed)}


def _refused(known: tuple[Refusal, ...], calls: Sequence[Seen]) -> tuple[tuple[Refusal, ...], list[str]]:
    """Remember refusals; give the tools whose refused call came back with other arguments."""
    retried: dict[str, None] = {}
    for call in calls:
        if _retries(known, call.tool, call.fingerprint):
            retried[call.tool] = None
        refusal = Refusal(call.tool, call.fingerprint)
        if call.refused:
            known = (*(one for one in known if one != refusal), refusal)[-_REFUSALS:]
        else:
            known = tuple(one for one in known if one.tool != call.tool)
    return known, list(retried)


def _retries(known: Sequence[Refusal], tool: str, call: str) -> bool:
    refused = [one.call for one in known if one.tool == tool]
    return bool(refused) and call not in refused
