"""Find a session that goes in circles: the same calls, with the same arguments, that bring back the same.

For a period p of 1 to 4 steps, the last 3p steps are three rounds of one circle where both what was called and what
came back are equal. Other arguments, or another result, are progress. A call that fails three times with the
same arguments is a loop too, however its error is worded. The remedy goes up a ladder, each rung once: tell the model,
hold the call, end the run; a call that failed may be tried once more before the run ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from agent_image.guard.canonical import digest
from agent_image.guard.findings import Anomaly, Evidence, Finding, Observed, Remedy, Seen, WatchRules, rung
from agent_image.guard.observation import DIGITS
from agent_image.guard.polls import Polls, Round

LONGEST: Final = 4
"""Steps of the longest circle that is found."""
ROUNDS: Final = 3
"""So many rounds of a circle, or failures of a call, are a loop."""
_TAIL: Final = LONGEST * ROUNDS
_CALLS: Final = 16  # of one step, that can be held: the digests cover them all
_LADDERS: Final = 8
_LADDER: Final = (Remedy.NUDGE, Remedy.BLOCK, Remedy.STOP)
_FAILING: Final = (Remedy.NUDGE, Remedy.STOP)


@dataclass(frozen=True, slots=True)
class Turn:
    """Hold one step that called tools.

    Attributes:
        asked: the digest of its calls.
        seen: the digest of its calls and of what came back.
        calls: the fingerprints of its calls, as far as they are kept.
        failed: all of its calls failed.
    """

    asked: str
    seen: str
    calls: tuple[str, ...]
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Hold a loop, and the rung that its remedy has reached."""

    kind: Anomaly
    key: str
    calls: tuple[str, ...]
    evidence: Evidence
    failing: bool = False
    rung: int = 0

    @property
    def ladder(self) -> tuple[Remedy, ...]:
        """Give the remedies, one after the other."""
        return _FAILING if self.failing else _LADDER

    @property
    def verdict(self) -> Remedy | None:
        """Say what becomes of one more such call, before it runs; None: it may be tried once more."""
        following = self.ladder[min(self.rung, len(self.ladder) - 1)]
        return None if self.failing and self.rung < len(self.ladder) else following


@dataclass(frozen=True, slots=True)
class Loops:
    """Hold the last steps, and the ladders that were climbed.

    Attributes:
        current: the loop that the last step was part of.
        climbed: by loop, how far its ladder was climbed; a loop that comes back goes on from there.
        steps: how many steps called tools.
    """

    tail: tuple[Turn, ...] = ()
    polls: Polls = field(default_factory=Polls)
    current: Loop | None = None
    climbed: tuple[tuple[str, int], ...] = ()
    steps: int = 0

    def verdict(self, call: str) -> Remedy | None:
        """Say what becomes of a call, before it runs: BLOCK or STOP where the session is in a loop with it."""
        if self.current is None or call not in self.current.calls:
            return None
        return self.current.verdict

    def observed(self, step: Observed, rules: WatchRules) -> tuple[Loops, tuple[Finding, ...]]:
        """Look at one step; one without calls neither is a loop nor ends one."""
        if not step.calls:
            return self, ()
        if self.current is not None and _insists(self.current, step.calls):
            return _climb(self, replace(self.current, evidence={"held": sum(call.held for call in step.calls)}))
        polls, polled = self.polls.observed(step, rules)
        tail = (*self.tail, _turn(step.calls, polled, self.steps))[-_TAIL:]
        moved = replace(self, tail=tail, polls=polls, steps=self.steps + 1)
        loop = _failing(tail) or _circle(tail) or _worn(polled, rules)
        return (replace(moved, current=None), ()) if loop is None else _climb(moved, loop)


def _climb(loops: Loops, loop: Loop) -> tuple[Loops, tuple[Finding, ...]]:
    climbed = dict(loops.climbed)
    reached = min(climbed.pop(loop.key, 0) + 1, len(loop.ladder))
    kept = (*climbed.items(), (loop.key, reached))[-_LADDERS:]
    finding = rung(loop.kind, loop.ladder[reached - 1], {**loop.evidence, "rung": reached})
    return replace(loops, current=replace(loop, rung=reached), climbed=kept), (finding,)


def _insists(loop: Loop, calls: tuple[Seen, ...]) -> bool:
    """Tell whether a step asked for nothing but what is held, or for what ends the run."""
    held = [call.held for call in calls]
    return all(held) or (any(held) and loop.verdict is Remedy.STOP)


def _turn(calls: tuple[Seen, ...], polled: Round, step: int) -> Turn:
    # A poll that waited its time is no repetition: the number of its step sets it apart. Calls of one step run side by
    # side and end in any order, so their order says nothing.
    seen = sorted(
        (call.fingerprint, f"{step}" if call.fingerprint in polled.patient else call.observation) for call in calls
    )
    asked = [call for call, _ in seen]
    return Turn(
        asked=digest(*asked)[:DIGITS],
        seen=digest(*(part for pair in seen for part in pair))[:DIGITS],
        calls=tuple(dict.fromkeys(asked))[:_CALLS],
        failed=all(call.is_error for call in calls),
    )


def _failing(tail: tuple[Turn, ...]) -> Loop | None:
    last = tail[-ROUNDS:]
    asked = last[0].asked
    if len(last) < ROUNDS or not all(turn.failed and turn.asked == asked for turn in last):
        return None
    evidence = {"failures": ROUNDS}
    return Loop(kind=Anomaly.LOOP, key=f"failing:{asked}", calls=last[0].calls, evidence=evidence, failing=True)


def _circle(tail: tuple[Turn, ...]) -> Loop | None:
    for period in range(1, min(LONGEST, len(tail) // ROUNDS) + 1):
        last = tail[-ROUNDS * period :]
        circle = last[:period]
        if all(turn.seen == circle[place % period].seen for place, turn in enumerate(last)):
            calls = tuple(dict.fromkeys(call for turn in circle for call in turn.calls))
            evidence = {"period": period, "rounds": ROUNDS}
            return Loop(kind=Anomaly.LOOP, key=_key(circle), calls=calls, evidence=evidence)
    return None


def _key(circle: tuple[Turn, ...]) -> str:
    """Name a circle, wherever it begins: ABAB is BABA."""
    seen = [turn.seen for turn in circle]
    return digest(*min(seen[start:] + seen[:start] for start in range(len(seen))))[:DIGITS]


def _worn(polled: Round, rules: WatchRules) -> Loop | None:
    if (call := polled.worn) is None:
        return None
    evidence: Evidence = {"tool": call.tool, "unchanged": rules.polls[call.tool].unchanged}
    return Loop(kind=Anomaly.POLL, key=f"poll:{call.fingerprint}", calls=(call.fingerprint,), evidence=evidence)
