"""Report how people fare with what waits for them: how they decide, how long it takes, and what still waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from agent_image.contract import Choice, EventName, Field, Ruling
from agent_image.guard.figures import Number, Spread, number, rate, spread, text

TOO_LATE: Final = frozenset({"conflict", "expired"})
"""Codes of a decision that decided nothing: another came first, or the time was over."""
WON: Final = "won"
"""The code of a decision that is known to have counted."""
_BY_CHOICE: Final[Mapping[str, Ruling]] = MappingProxyType(
    {
        Choice.APPROVE: Ruling.APPROVED,
        Choice.EDIT: Ruling.EDITED,
        Choice.REJECT: Ruling.REJECTED,
        Choice.CANCEL: Ruling.CANCELLED,
    }
)
_CLOSING: Final = frozenset({*_BY_CHOICE.values(), Ruling.EXPIRED})


@dataclass(frozen=True, slots=True)
class Waiting:
    """Hold what still waits for a person, and since when."""

    checkpoint_id: str
    tool: str
    age_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """Hold the figures of the gate. Rates are shares of what was closed; what expired was not rejected.

    Attributes:
        decided_after_ms: from the question to a person's answer.
        in_doubt: how many effects nobody was sure of.
        too_late: decisions that came after another, or after the time.
        waiting: what has no answer yet, the oldest first.
    """

    opened: int
    closed: int
    approval_rate: Decimal | None
    edit_rate: Decimal | None
    rejection_rate: Decimal | None
    cancel_rate: Decimal | None
    expiry_rate: Decimal | None
    decided_after_ms: Spread
    in_doubt: int
    too_late: int
    waiting: tuple[Waiting, ...]
    waiting_seconds: Spread


@dataclass(frozen=True, slots=True)
class _Answer:
    """Hold what one person said: `ruling` is empty where it came too late."""

    at: str
    approver: str
    ruling: str
    waited: Number | None
    sure: bool


@dataclass(slots=True)
class _Case:
    """Gather what is known of one checkpoint."""

    tool: str = ""
    asked: str = ""
    answers: list[_Answer] = field(default_factory=list)
    carried: str = ""
    in_doubt: bool = False

    def add(self, record: Mapping[str, Any]) -> None:
        ruling, at = text(record, Field.DECISION), text(record, Field.TS)
        if text(record, Field.EVENT) == EventName.DECISION:
            code, approver = text(record, Field.CODE), text(record, Field.APPROVER)
            said = "" if code in TOO_LATE else _BY_CHOICE.get(ruling, "")
            self.answers.append(_Answer(at, approver, said, number(record, Field.WAITED_MS), code == WON))
        elif ruling == Ruling.ASKED:
            # Asked again on a resume: it waits since the first time.
            self.asked = min(self.asked or at, at)
            self.tool = text(record, Field.TOOL)
        elif ruling in _CLOSING:
            self.carried = self.carried or ruling
        self.in_doubt |= ruling == Ruling.IN_DOUBT

    @property
    def answer(self) -> _Answer | None:
        """Give the decision that counts: people say what they decide before they know whether they came first."""
        standing: list[_Answer] = []
        for answer in sorted(self.answers, key=lambda one: one.at):
            if answer.ruling:
                standing.append(answer)
                continue
            unsure = [one for one in standing if one.approver == answer.approver and not one.sure]
            if unsure:
                standing.remove(unsure[-1])
        return standing[0] if standing else None

    @property
    def closing(self) -> str:
        """Give how it was closed; empty while it is open."""
        answer = self.answer
        return self.carried if answer is None else answer.ruling

    @property
    def decided_after(self) -> Number | None:
        """Give the milliseconds between question and answer; None where one of the moments is unknown."""
        answer = self.answer
        if answer is None:
            return None
        begun, ended = _moment(self.asked), _moment(answer.at)
        if answer.waited is not None or begun is None or ended is None:
            return answer.waited
        return round((ended - begun).total_seconds() * 1000)


def approvals(records: Iterable[Mapping[str, Any]], now: datetime | None = None) -> Approvals:
    """Report over events, each once."""
    cases: dict[str, _Case] = {}
    too_late = 0
    last = ""
    for record in records:
        last = max(last, text(record, Field.TS))
        if checkpoint_id := text(record, Field.CHECKPOINT_ID):
            cases.setdefault(checkpoint_id, _Case()).add(record)
            too_late += text(record, Field.EVENT) == EventName.DECISION and text(record, Field.CODE) in TOO_LATE
    closed = Counter(case.closing for case in cases.values() if case.closing)
    total = closed.total()
    waiting = _waiting(cases, now or _moment(last))
    return Approvals(
        opened=len(cases),
        closed=total,
        approval_rate=rate(closed[Ruling.APPROVED], total),
        edit_rate=rate(closed[Ruling.EDITED], total),
        rejection_rate=rate(closed[Ruling.REJECTED], total),
        cancel_rate=rate(closed[Ruling.CANCELLED], total),
        expiry_rate=rate(closed[Ruling.EXPIRED], total),
        decided_after_ms=spread(after for case in cases.values() if (after := case.decided_after) is not None),
        in_doubt=sum(case.in_doubt for case in cases.values()),
        too_late=too_late,
        waiting=waiting,
        waiting_seconds=spread(one.age_seconds for one in waiting),
    )


def _waiting(cases: Mapping[str, _Case], now: datetime | None) -> tuple[Waiting, ...]:
    found = [
        Waiting(checkpoint_id, case.tool, max(0, int((now - asked).total_seconds())))
        for checkpoint_id, case in cases.items()
        if not case.closing and now is not None and (asked := _moment(case.asked)) is not None
    ]
    return tuple(sorted(found, key=lambda one: (-one.age_seconds, one.checkpoint_id)))


def _moment(written: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
