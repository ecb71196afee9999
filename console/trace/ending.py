"""Say at the end of a traced session what else there is: other sessions, what reading took, and what to ask next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from agent_image.contract import Outcome
from console.approvals.wish import ID_FORM
from console.trace import phrases
from console.trace.confirming import size
from console.trace.display import Cell, Line, Role, line
from console.trace.document import began
from console.trace.reads import passages
from console.trace.session import Session
from console.trace.trail import Scan

OTHERS_SHOWN: Final = 20
"""Other sessions that are listed."""


def ending(session: Session, others: Sequence[Session], scan: Scan, option: str, *, text: bool) -> Iterator[Line]:
    """Lay the end out; `option` is what a command has to say to reach the same agent."""
    if others:
        yield Line(0, ())
        yield line(0, Cell("other sessions", Role.TITLE), Cell("that the question leads to as well", Role.DIM))
        for other in others[:OTHERS_SHOWN]:
            yield line(1, Cell(other.id or "without an id"), Cell(phrases.moment(began(other)), Role.DIM))
        if (more := len(others) - OTHERS_SHOWN) > 0:
            yield line(1, Cell(f"and {more:,} more", Role.DIM))
    if read := scanned(scan):
        yield Line(0, ())
        yield line(0, Cell("read", Role.NAME), Cell(read, Role.DIM))
    if commands := list(following(session, option, text=text)):
        yield Line(0, ())
        wide = max(len(what) for what, _ in commands)
        for what, command in commands:
            yield Line(0, (Cell(f"{what:<{wide}}", Role.DIM), Cell(command, Role.COMMAND)))


def scanned(scan: Scan) -> str:
    """Say what reading the trail took; nothing where it took nothing that is counted."""
    if not scan.queries:
        return ""
    read = "an unknown number of bytes" if scan.scanned is None else size(scan.scanned)
    return f"{read} in {_queries(scan.queries)}, {phrases.amount(scan.cost_usd)}"


def following(session: Session, option: str, *, text: bool) -> Iterator[tuple[str, str]]:
    """Give the commands that lead on, each with what it is for."""
    here = f"rastro trace --session {shlex.quote(session.id)}{option}"
    read = [passage for _, passage in passages(session)]
    named = bool(session.id) and session.id.isprintable()
    if named and read and not text:
        yield "the words", f"{here} --text"
    for turn in session.turns:
        # Whoever copies a command runs it: nothing but an id stands in one.
        if turn.outcome == Outcome.SUSPENDED and not turn.resumed_by and ID_FORM.fullmatch(turn.checkpoint_id):
            yield "what waits", f"rastro approvals show {turn.checkpoint_id}{option}"
            break
    if named:
        yield "a page", f"{here} --html trace.html"
    addressed = [passage for passage in read if passage.address is not None]
    if first := next((one for one in addressed if one.cited), addressed[0] if addressed else None):
        mark = first.address.fingerprint.text if first.address else ""
        number = f"[{first.number}]" if first.number is not None else "it"
        yield f"who read {number}", f"rastro trace --chunk={mark}{option}"


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"
