"""Show where a passage lies, and what became of it: as a card, and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Final

from agent_image.retrieval.store import State
from console.card import Card, Row, row
from console.erase.erasing import AGAIN, Fate, Found, Outcome, Plan
from console.erase.limits import Limit
from console.erase.readers import Readers
from console.trace.record import Note

_SESSIONS_SHOWN: Final = 50
"""Sessions that a card lists; all of them are in the JSON."""
_WILL: Final[Mapping[Fate, str]] = MappingProxyType(
    {
        Fate.ERASED: "will be erased",
        Fate.CLEAN: "no copy",
        Fate.NOT_LOCATED: "was reading it, and no copy is found",
        Fate.FORGOTTEN: "the store does not know it",
        Fate.IN_USE: "a run works on it: it would be left",
        Fate.FAILED: "cannot be read",
    }
)
_WAS: Final[Mapping[Fate, str]] = MappingProxyType(
    {
        **_WILL,
        Fate.ERASED: "erased",
        Fate.NOT_LOCATED: "was reading it, and no copy was found",
        Fate.IN_USE: "left: a run works on it",
        Fate.FAILED: "failed",
    }
)
_ARCHIVED: Final[Mapping[State | None, str]] = MappingProxyType(
    {
        State.KNOWN: "stored",
        State.ERASED: "erased before",
        None: "never stored; a mark keeps it out",
    }
)


def plan_card(plan: Plan, limits: Sequence[Limit], notes: Sequence[Note]) -> Card:
    """Show what would be touched."""
    return Card(
        title=f"passage {plan.fingerprint}",
        badge="to be erased",
        warnings=_warnings(plan, notes),
        rows=(row("archive", _ARCHIVED[plan.archived]), _sessions(plan, _WILL), _limits(limits)),
    )


def outcome_card(outcome: Outcome, limits: Sequence[Limit], readers: Readers, option: str) -> Card:
    """Show what became of it; where the trail was not read whole, there may be readers that nobody knows of."""
    plan = outcome.plan
    again = () if outcome.done and readers.are_all else (("again", f"rastro erase {plan.fingerprint}{option}"),)
    return Card(
        title=f"passage {plan.fingerprint}",
        badge=_badge(outcome, readers),
        warnings=(*_failures(outcome), *_unread(readers.notes)),
        rows=(
            row("archive", f"failed ({outcome.archive_why})" if outcome.archive_why else "erased"),
            _sessions(plan, _WAS),
            row("event", outcome.event),
            _limits(limits),
        ),
        commands=again,
    )


def _badge(outcome: Outcome, readers: Readers) -> str:
    if not outcome.done:
        return "not erased everywhere: give the command again when the cause is gone"
    if not readers.are_all:
        return "erased as far as the trail was read: give the command again when it can be read whole"
    return "erased"


def document(
    plan: Plan, limits: Sequence[Limit], notes: Sequence[Note], scan: Mapping[str, Any], outcome: Outcome | None = None
) -> dict[str, Any]:
    """Write it for a program; without an outcome, nothing was touched."""
    return {
        "fingerprint": plan.fingerprint,
        "done": outcome is not None and outcome.done and not any(note.partial for note in notes),
        "dry_run": outcome is None,
        "archive": {
            "state": "never_stored" if plan.archived is None else plan.archived.value,
            "erased": outcome is not None and not outcome.archive_why,
            "forged": plan.forged,
            "why": "" if outcome is None else outcome.archive_why,
        },
        "sessions": [
            {
                "session_id": one.session_id,
                "fate": one.fate.value,
                "copies": one.copies,
                "left": one.left,
                "why": one.why,
            }
            for one in plan.sessions
        ],
        "event": None if outcome is None else outcome.event,
        "unsaid": "" if outcome is None else outcome.unsaid,
        "limits": [asdict(limit) for limit in limits],
        "notes": [asdict(note) for note in notes],
        "scan": dict(scan),
    }


def _warnings(plan: Plan, notes: Sequence[Note]) -> tuple[str, ...]:
    forged = ("the archive holds other words under this fingerprint; they go as well",) if plan.forged else ()
    return (*forged, *_unread(notes))


def _unread(notes: Sequence[Note]) -> Iterator[str]:
    return (note.text for note in notes if note.partial)


def _failures(outcome: Outcome) -> Iterator[str]:
    if outcome.archive_why:
        yield f"the archive may still have the words ({outcome.archive_why})"
    if left := sum(one.fate in AGAIN for one in outcome.plan.sessions):
        yield f"{left:,} of the sessions may still have them; give the command again when their runs have ended"
    if outcome.unsaid:
        yield f"the audit holds that it began, and not what it came to ({outcome.unsaid})"


def _sessions(plan: Plan, told: Mapping[Fate, str]) -> Row:
    lines = [_session(one, told) for one in plan.sessions[:_SESSIONS_SHOWN]]
    if (more := len(plan.sessions) - len(lines)) > 0:
        lines.append(f"and {more:,} more; --json lists them")
    return row("sessions", *(lines or ["none is known to have read it"]))


def _session(found: Found, told: Mapping[Fate, str]) -> str:
    copies = f", {found.copies:,} {'copy' if found.copies == 1 else 'copies'}" if found.copies else ""
    left = f", {found.left:,} that stay" if found.left else ""
    why = f" ({found.why})" if found.why else ""
    return f"{found.session_id}: {told[found.fate]}{copies}{left}{why}"


def _limits(limits: Sequence[Limit]) -> Row:
    return row("not reached", *(limit.text for limit in limits))
