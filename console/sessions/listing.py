"""Lay recent sessions out: a table for people, an object for programs. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from console.sessions.standing import Standing
from console.table import Table
from console.trace import phrases
from console.trace.document import amount, moment, scanned
from console.trace.record import Note
from console.trace.trail import Scan

HEADER: Final = ("session", "last run, UTC", "turns", "outcome", "USD", "guard", "feedback")
_NUMBERS: Final = frozenset({2, 4})


def table(found: Sequence[Standing]) -> Table:
    """Lay sessions out."""
    return Table(HEADER, tuple(_row(one) for one in found), _NUMBERS)


def summary(found: Sequence[Standing], more: int) -> str:
    """Count them, in one line."""
    if not found:
        return "no session of that time is like that"
    told = phrases.counted(len(found), "session")
    return f"{told}; {more:,} more, --limit shows them" if more else told


def trace_command(found: Sequence[Standing], option: str) -> str:
    """Give the command that shows the first of them; empty where none can be named."""
    first = next((one.session_id for one in found if one.session_id and one.session_id.isprintable()), "")
    return f"rastro trace --session {shlex.quote(first)}{option}" if first else ""


def document(found: Sequence[Standing], more: int, notes: Sequence[Note], scan: Scan) -> dict[str, Any]:
    """Write them as JSON."""
    return {
        "sessions": [
            {
                "session_id": one.session_id,
                "started": moment(one.started),
                "last": moment(one.last),
                "turns": one.turns,
                "outcome": one.outcome or None,
                "outcomes": sorted(one.outcomes),
                "cost_usd": amount(one.cost_usd),
                "unpriced_turns": one.unpriced,
                "guard": dict(one.guard),
                "feedback": list(one.verdicts),
            }
            for one in found
        ],
        "more": more,
        "notes": [asdict(note) for note in notes],
        "scan": scanned(scan),
    }


def _row(one: Standing) -> tuple[str, ...]:
    cost = phrases.UNKNOWN if one.cost_usd is None else phrases.exact(one.cost_usd)
    return (
        one.session_id or "without an id",
        phrases.clock(one.last),
        f"{one.turns:,}",
        one.outcome or "no end in the trail",
        f"at least {cost}" if one.unpriced and one.cost_usd is not None else cost,
        ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in one.guard.items()),
        " ".join(one.verdicts),
    )
