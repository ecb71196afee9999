"""Walk through what no document says of AWS: what a live account shows of it, and what is left to find out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console.doctor.account import Account
from console.doctor.declared import Declared
from console.doctor.open_points import Open
from console.table import Table


@dataclass(frozen=True, slots=True)
class Answered:
    """Hold an open point, and what the account shows of it; None where it shows nothing."""

    point: Open
    shown: str | None


def walk(points: Iterable[Open], declared: Declared, account: Account) -> tuple[Answered, ...]:
    """Ask each point of what the account answered; those that are settled come first."""
    found = [Answered(point, point.shows(declared, account)) for point in points]
    return tuple(sorted(found, key=lambda one: one.shown is None))


def tables(found: Iterable[Answered]) -> Iterator[Table]:
    """Lay out what the account shows, and what is left to find out."""
    told = [*found]
    yield Table(
        ("this account shows", "question", "answer"),
        tuple((one.point.name, one.point.asks, one.shown) for one in told if one.shown is not None),
    )
    yield Table(
        ("still open", "question", "how to find out"),
        tuple((one.point.name, one.point.asks, one.point.by_hand) for one in told if one.shown is None),
    )


def document(found: Iterable[Answered], declared: Declared) -> list[dict[str, Any]]:
    """Build the JSON list of the points; no account's number is in it."""
    return [
        {
            "name": one.point.name,
            "asks": one.point.asks,
            "shown": None if one.shown is None else masked(one.shown, declared),
            "by_hand": one.point.by_hand,
        }
        for one in found
    ]


def note(found: Iterable[Answered], declared: Declared, asked_at: datetime) -> str:
    """Write what was found as lines to paste into an issue; no account's number is in them."""
    lines = [f"First deployment of {declared.environment} in {declared.region}, {asked_at:%Y-%m-%d}:"]
    told = [*found]
    lines += [f"- {one.point.name}: {one.shown}" for one in told if one.shown is not None]
    lines.append(f"- still open: {', '.join(one.point.name for one in told if one.shown is None)}")
    return masked("\n".join(lines), declared)


def masked(text: str, declared: Declared) -> str:
    """Take account numbers out of a text: the environment's own, and whatever else looks like one."""
    return re.sub(r"(?<![0-9])[0-9]{12}(?![0-9])", "<account>", text.replace(declared.account_id, "<account>"))
