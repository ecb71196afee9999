"""List what is open, what ends first first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from agent_image.guard.checkpoint import Case, State
from console.approvals.cards import ends_at
from console.moments import lasting
from console.table import Table
from console.terminal import shown_line

ID_SHOWN: Final = 12
"""Digits of an id that a row has room for; enough to name what is open."""
HEADER: Final = ("checkpoint", "tool", "zone", "state", "age", "time left", "reasons", "USD", "requester")
_NUMBERS: Final = frozenset({7})
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


def ordered(cases: Sequence[Case]) -> list[Case]:
    """Put what ends first first, and what only a person ends last; the older before the younger."""
    return sorted(cases, key=lambda case: (ends_at(case) or _NEVER, case.checkpoint.created_at, case.checkpoint.id))


def table(cases: Sequence[Case], now: datetime) -> Table:
    """Lay out open cases."""
    return Table(HEADER, tuple(_row(case, now) for case in ordered(cases)), _NUMBERS)


def summary(
    cases: Sequence[Case], now: datetime, *, more: bool = False, unreadable: Sequence[str] = ()
) -> Iterator[str]:
    """Count cases by state in one line, and name in one more what may wait and cannot be read."""
    counts = Counter(case.state(now).value for case in cases)
    told = ", ".join(f"{counts[state]} {state}" for state in State if counts[state])
    if more:
        told += "; there are more, --limit shows them"
    if told or not unreadable:
        yield told or "nothing waits for a person"
    if unreadable:
        what = "1 checkpoint" if len(unreadable) == 1 else f"{len(unreadable)} checkpoints"
        names = " ".join(shown_line(one) for one in unreadable)
        yield f"{what} cannot be read, and may wait for a person: {names}"


def _row(case: Case, now: datetime) -> tuple[str, ...]:
    checkpoint, end = case.checkpoint, ends_at(case)
    left = "" if end is None else (lasting(end - now) if end > now else "over")
    return (
        checkpoint.id[:ID_SHOWN],
        checkpoint.tool,
        checkpoint.zone.value,
        case.state(now).value,
        lasting(now - checkpoint.created_at),
        left,
        " ".join(checkpoint.reasons),
        checkpoint.cost_usd,
        checkpoint.requester or "",
    )
