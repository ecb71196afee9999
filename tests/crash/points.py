"""List where processes are killed: each boundary of each thing that a process is started for, on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tests.crash.strikes import Boundary, Side, Strike


class Phase(StrEnum):
    """Name what the process that is killed was doing."""

    ASK = "ask"
    DECIDE = "decide"
    RESUME = "resume"
    RESUME_REJECTED = "resume, rejected"
    RESUME_CANCELLED = "resume, cancelled"
    RESUME_EXPIRED = "resume, expired"
    SWEEP_EXPIRED = "sweep, expired"
    RESUME_LOST = "resume, owner lost"
    SWEEP_LOST = "sweep, owner lost"
    RESOLVE = "resolve"
    RESUME_RESOLVED = "resume, resolved"


@dataclass(frozen=True, slots=True)
class Point:
    """Hold one point: a phase and where its process dies."""

    phase: Phase
    strike: Strike

    @property
    def name(self) -> str:
        nth = "" if self.strike.nth == 1 else f" {self.strike.nth}"
        return f"{self.phase}: {self.strike.side} {self.strike.at}{nth}"


_ENDING = (Boundary.RESULTS, Boundary.ANSWER, Boundary.END, Boundary.RELEASED)
_BOUNDARIES: dict[Phase, tuple[Boundary | tuple[Boundary, int], ...]] = {
    Phase.ASK: (
        Boundary.TAKEN,
        Boundary.CALLS,
        Boundary.STARTED,
        Boundary.AWAITED,
        Boundary.PENDING,
        Boundary.ALERT,
        Boundary.READ,
        Boundary.TICKET,
        Boundary.ENDED,
        (Boundary.ENDED, 2),
        # The message with its calls is saved before they run, and again when one of them waits for a person.
        (Boundary.CALLS, 2),
        Boundary.END,
        Boundary.RELEASED,
    ),
    Phase.DECIDE: (Boundary.DECISION,),
    Phase.RESUME: (Boundary.TAKEN, Boundary.CLAIM, Boundary.INTENT, Boundary.EFFECT, Boundary.RECORD, *_ENDING),
    Phase.RESUME_REJECTED: (Boundary.CLOSED, *_ENDING),
    Phase.RESUME_CANCELLED: (Boundary.CLOSED, Boundary.END, Boundary.RELEASED),
    Phase.RESUME_EXPIRED: (Boundary.CLOSED, *_ENDING),
    Phase.SWEEP_EXPIRED: (Boundary.CLOSED, Boundary.ALERT),
    Phase.RESUME_LOST: (Boundary.TAKEN, Boundary.FENCE, Boundary.DOUBT, Boundary.ALERT, Boundary.RELEASED),
    Phase.SWEEP_LOST: (Boundary.FENCE, Boundary.DOUBT, Boundary.ALERT),
    Phase.RESOLVE: (Boundary.RESOLUTION,),
    Phase.RESUME_RESOLVED: (Boundary.RECORD, *_ENDING),
}


def points() -> Iterator[Point]:
    """Give every named point."""
    for phase, boundaries in _BOUNDARIES.items():
        for boundary in boundaries:
            at, nth = boundary if isinstance(boundary, tuple) else (boundary, 1)
            for side in Side:
                yield Point(phase, Strike(at, side, nth))


def any_write(phase: Phase, number: int, side: Side) -> Point:
    """Name the n-th write of a phase, whatever it is."""
    return Point(phase, Strike(Boundary.WRITE, side, number))


MAIN = (
    Point(Phase.ASK, Strike(Boundary.PENDING, Side.AFTER)),
    Point(Phase.DECIDE, Strike(Boundary.DECISION, Side.AFTER)),
    Point(Phase.RESUME, Strike(Boundary.CLAIM, Side.BEFORE)),
    Point(Phase.RESUME, Strike(Boundary.CLAIM, Side.AFTER)),
    Point(Phase.RESUME, Strike(Boundary.EFFECT, Side.BEFORE)),
    Point(Phase.RESUME, Strike(Boundary.EFFECT, Side.AFTER)),
    Point(Phase.RESUME, Strike(Boundary.RECORD, Side.AFTER)),
    Point(Phase.RESUME, Strike(Boundary.RELEASED, Side.BEFORE)),
)
"""Points that every store is tried at wherever the tests run."""
