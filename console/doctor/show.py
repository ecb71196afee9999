"""Show what the doctor found: what is wrong first, each on a card, and what is right in one list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from console.card import Card, Row, row
from console.doctor.check import Checked, State
from console.doctor.declared import Declared
from console.screen import Screen
from console.table import Table
from console.terminal import shown

ON_CARDS = (State.FAULT, State.WARNING)
"""What is shown on a card of its own."""
_PLURALS = {State.FAULT: "faults", State.WARNING: "warnings"}


def show(screen: Screen, declared: Declared, asked_at: datetime, found: Sequence[Checked]) -> None:
    """Show every result to a person."""
    for one in found:
        if one.result.state in ON_CARDS:
            screen.card(card(one))
            screen.line()
    for table in (_unsure(found), _right(found)):
        if table.rows:
            screen.table(table)
            screen.line()
    screen.line(shown(summary(declared, asked_at, found)))


def card(one: Checked) -> Card:
    """Lay out what is wrong, what is wanted and how to mend it."""
    result = one.result
    rows = (
        row("what", result.says),
        *_row("found", result.found),
        *_row("wanted", result.wanted),
        row("why", one.check.why),
        *_row("mend", result.mend),
    )
    return Card(one.check.name, result.state, rows, commands=tuple(("run", command) for command in result.commands))


def summary(declared: Declared, asked_at: datetime, found: Iterable[Checked]) -> str:
    """Say in one line how it stands with the environment."""
    counts = Counter(one.result.state for one in found)
    told = ", ".join(
        f"{counts[state]} {_PLURALS.get(state, state) if counts[state] > 1 else state}" for state in counts
    )
    moment = asked_at.strftime("%Y-%m-%d %H:%M UTC")
    return f"{declared.environment} in {declared.region}, {moment}: {told}"


def document(declared: Declared, asked_at: datetime, found: Iterable[Checked]) -> dict[str, Any]:
    """Build the JSON object of every result."""
    checks = [_document(one) for one in found]
    counts = Counter(check["state"] for check in checks)
    return {
        "environment": declared.environment,
        "account_id": declared.account_id,
        "region": declared.region,
        "asked_at": asked_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "checks": checks,
        "counts": {state.value: counts[state.value] for state in State},
    }


def _document(one: Checked) -> dict[str, Any]:
    result = one.result
    return {
        "name": one.check.name,
        "state": result.state.value,
        "says": result.says,
        "found": [*result.found],
        "wanted": [*result.wanted],
        "mend": [*result.mend],
        "commands": [*result.commands],
        "looks_at": one.check.looks_at,
        "why": one.check.why,
    }


def _row(label: str, lines: tuple[str, ...]) -> Iterator[Row]:
    if lines:
        yield row(label, *lines)


def _unsure(found: Iterable[Checked]) -> Table:
    rows = tuple(
        (one.result.state.value, one.check.name, one.result.says, "; ".join((*one.result.mend, *one.result.commands)))
        for one in found
        if one.result.state is State.UNKNOWN
    )
    return Table(("", "check", "not known, because", "to do"), rows)


def _right(found: Iterable[Checked]) -> Table:
    rows = tuple(
        (one.result.state.value, one.check.name, one.result.says)
        for one in found
        if one.result.state in {State.OK, State.SKIPPED}
    )
    return Table(("", "check", "what was found"), rows)
