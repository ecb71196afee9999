"""Sum a session up in a row: how it fared, what it cost, what the guard did, what people said. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Final

from agent_image.contract import EventName, Kind, Outcome, Ruling, Verdict
from console.errors import BadInputError
from console.terminal import shown_line
from console.trace.session import GuardStep, Session, Turn, walk

ALERTS: Final = "alerts"
"""What alerts are counted as, beside the gate's rulings."""
COUNTED: Final[tuple[str, ...]] = (
    Ruling.ASKED,
    Ruling.APPROVED,
    Ruling.EDITED,
    Ruling.REJECTED,
    Ruling.CANCELLED,
    Ruling.BLOCKED,
    Ruling.EXPIRED,
    Ruling.IN_DOUBT,
    ALERTS,
)
"""What is counted of what the guard did, in the order in which it is told."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Hold how one session stands, as far as its runs since a moment tell.

    Attributes:
        started, last: when its first and its last run began; None where the trail does not say.
        turns: what people asked and resumed; feedback and sweeps are none.
        outcome: of the last turn; empty where it has not ended.
        outcomes: of all turns.
        cost_usd: what is known; None where nothing is.
        unpriced: turns whose cost is not known.
        guard: how often the guard did what, by COUNTED; what it never did is left out.
        verdicts: what people said, in order.
    """

    session_id: str
    started: datetime | None
    last: datetime | None
    turns: int
    outcome: str
    outcomes: frozenset[str]
    cost_usd: Decimal | None
    unpriced: int
    guard: Mapping[str, int]
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Hold which sessions are wanted; what is None or False leaves all.

    Attributes:
        outcome: one turn at least ended so.
        feedback: somebody said so.
        guarded: the guard did something.
        min_cost_usd: it cost as much at least; an unknown cost is no such cost.
    """

    outcome: Outcome | None = None
    feedback: Verdict | None = None
    guarded: bool = False
    min_cost_usd: Decimal | None = None

    def takes(self, one: Standing) -> bool:
        """Tell whether a session is wanted."""
        return (
            (self.outcome is None or self.outcome in one.outcomes)
            and (self.feedback is None or self.feedback in one.verdicts)
            and (not self.guarded or bool(one.guard))
            and (self.min_cost_usd is None or (one.cost_usd is not None and one.cost_usd >= self.min_cost_usd))
        )


def usd(text: str | None) -> Decimal | None:
    """Read an amount.

    Raises:
        BadInputError: it is none.
    """
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        message = f"--min-cost is '{shown_line(text)}'; allowed: an amount in USD, such as 0.05"
        raise BadInputError(message)
    return amount


def standing(session: Session) -> Standing:
    """Sum a session up."""
    turns = [turn for turn in session.turns if turn.kind not in {Kind.FEEDBACK, Kind.SWEEP}]
    started = [turn.started for turn in session.turns if turn.started is not None]
    costs = [turn.cost_usd for turn in turns]
    known = [cost for cost in costs if cost is not None]
    return Standing(
        session.id,
        started=min(started, default=None),
        last=max(started, default=None),
        turns=len(turns),
        outcome=turns[-1].outcome if turns else "",
        outcomes=frozenset(turn.outcome for turn in turns if turn.outcome),
        cost_usd=sum(known, Decimal(0)) if known else None,
        unpriced=len(costs) - len(known),
        guard=_guard(session.turns),
        verdicts=tuple(turn.verdict for turn in session.turns if turn.verdict),
    )


def ordered(found: Sequence[Standing]) -> list[Standing]:
    """Put the session that ran last first; those without a time come last."""
    known = [one for one in found if one.last is not None]
    known.sort(key=lambda one: (one.last, one.session_id), reverse=True)
    return known + [one for one in found if one.last is None]


def _guard(turns: Sequence[Turn]) -> Mapping[str, int]:
    counts = Counter(said for said, _ in _once(turns))
    return {name: counts[name] for name in COUNTED if counts[name]}


def _once(turns: Sequence[Turn]) -> Iterator[tuple[str, object]]:
    """List what the guard did; what several lines tell of one checkpoint is one."""
    seen: set[tuple[str, str]] = set()
    for turn in turns:
        for step in walk(turn.steps):
            if not isinstance(step, GuardStep):
                continue
            said = ALERTS if step.event == EventName.ALERT else step.ruling
            if step.checkpoint_id:
                if (said, step.checkpoint_id) in seen:
                    continue
                seen.add((said, step.checkpoint_id))
            yield said, step
