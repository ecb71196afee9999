"""Lay a session out as a tree of lines: turns, and in each what the agent did, step by step.

Pure; one pass, however many spans a session has and however deep they nest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from agent_image.contract import Kind, Outcome, Regime
from console.trace import phrases, roles, step_lines
from console.trace.display import Cell, Line, Role, line, noted
from console.trace.reads import Finding
from console.trace.session import Retrieval, Session, Turn, Words, walk

TEXT_SHOWN: Final = 1_200
"""Characters of a question or an answer."""
UNREAD_SHOWN: Final = 3
"""Lines that could not be read whose beginnings are shown."""


@dataclass(frozen=True, slots=True)
class _Around:
    """Hold what a turn is laid out with: the numbers of runs, the runs, and what holds for the whole session."""

    places: Mapping[str, int]
    turns: Mapping[str, Turn]
    regime: Regime | None
    finding: Finding | None
    most: int


def tree(session: Session, finding: Finding | None, *, most: int = TEXT_SHOWN) -> Iterator[Line]:
    """Lay a session out; `finding` tells what became of a passage, and is None where nobody looked.

    Of a question or an answer `most` characters are shown.
    """
    yield from _header(session)
    places = {turn.run: number for number, turn in enumerate(session.turns, start=1) if turn.run}
    turns = {turn.run: turn for turn in session.turns if turn.run}
    around = _Around(places, turns, session.regime, finding, most)
    for number, turn in enumerate(session.turns, start=1):
        yield Line(0, ())
        yield from _turn(number, turn, around)
    if session.apart:
        yield Line(0, ())
        yield line(0, Cell("apart", Role.TITLE), Cell("spans that belong to no turn of this session", Role.DIM))
        yield from step_lines.lines(session.apart, session.regime, finding)
    yield from _notes(session)


def _header(session: Session) -> Iterator[Line]:
    yield line(0, Cell("session", Role.NAME), Cell(session.id or "without an id", Role.TITLE))
    spent, unknown = phrases.total(turn.cost_usd for turn in session.turns if _spends(turn))
    cost = phrases.amount(spent)
    if unknown and spent is not None:
        cost = f"at least {cost}: {phrases.counted(unknown, 'turn')} without a cost"
    used = phrases.tokens(phrases.added(turn.tokens for turn in session.turns))
    yield line(
        0,
        Cell(phrases.regimes(session.regimes)),
        Cell(_when(session)),
        Cell(phrases.counted(len(session.turns), "turn"), Role.NUMBER),
        Cell(cost, Role.NUMBER),
        Cell(f"tokens {used}" if used else "", Role.NUMBER),
        below=True,
    )


def _when(session: Session) -> str:
    started = [turn.started for turn in session.turns if turn.started is not None]
    if not started:
        return phrases.moment(None)
    ends = [end for turn in session.turns if (end := _end(turn)) is not None]
    first = min(started)
    lasted = phrases.took(Decimal((max(ends) - first) / timedelta(milliseconds=1))) if ends else ""
    return f"{phrases.moment(first)}, over {lasted}" if lasted else phrases.moment(first)


def _end(turn: Turn) -> datetime | None:
    if turn.started is None or turn.duration_ms is None:
        return turn.started
    try:
        return turn.started + timedelta(milliseconds=float(turn.duration_ms))
    except (OverflowError, ValueError):
        return turn.started


def _turn(number: int, turn: Turn, around: _Around) -> Iterator[Line]:
    used = phrases.tokens(turn.tokens)
    yield line(
        0,
        Cell(f"turn {number}", Role.TITLE),
        Cell(turn.kind or "kind unknown", Role.NAME),
        Cell(turn.outcome or "no end in the trail", roles.OUTCOMES.get(turn.outcome, Role.WARN)),
        Cell(phrases.moment(turn.started)),
        Cell(phrases.took(turn.duration_ms), Role.NUMBER),
        Cell(phrases.amount(turn.cost_usd) if _spends(turn) else "", Role.NUMBER),
        Cell(used, Role.NUMBER),
        Cell(f"run {turn.run[: phrases.ID_SHOWN]}" if turn.run else "", Role.DIM),
    )
    if turn.error:
        yield line(1, Cell("error", Role.NAME), Cell(phrases.cut(turn.error, phrases.VALUE_SHOWN), Role.BAD))
    if turn.resumes:
        waited = _waited(around.turns.get(turn.resumes), turn)
        yield line(1, Cell("goes on with", Role.NAME), Cell(_place(turn.resumes, around.places)), waited)
    if turn.kind == Kind.FEEDBACK or turn.verdict:
        yield from _feedback(turn, around.most)
    if turn.kind not in {Kind.FEEDBACK, Kind.SWEEP, Kind.RESUME}:
        yield _words("question", turn.question, around.most)
    yield from step_lines.lines(turn.steps, around.regime, around.finding)
    yield from _ending(turn, around)


def _waited(before: Turn | None, turn: Turn) -> Cell | None:
    """Say how long a run was suspended: from its end to the beginning of the one that goes on with it."""
    ended = _end(before) if before is not None else None
    if ended is None or turn.started is None or turn.started < ended:
        return None
    return Cell(
        f"after waiting {phrases.took(Decimal((turn.started - ended) / timedelta(milliseconds=1)))}", Role.NUMBER
    )


def _spends(turn: Turn) -> bool:
    """Tell whether a turn calls models: feedback and sweeps have no cost that could be unknown."""
    return turn.kind not in {Kind.FEEDBACK, Kind.SWEEP} or turn.cost_usd is not None


def _feedback(turn: Turn, most: int) -> Iterator[Line]:
    yield line(
        1,
        Cell("verdict", Role.NAME),
        Cell(turn.verdict or phrases.UNKNOWN, roles.VERDICTS.get(turn.verdict, Role.PLAIN)),
    )
    if turn.note.text is not None or turn.note.size or turn.note.digest:
        yield _words("note", turn.note, most)


def _ending(turn: Turn, around: _Around) -> Iterator[Line]:
    if turn.outcome == Outcome.SUSPENDED or turn.resumed_by:
        on = ", ".join(_place(run, around.places) for run in turn.resumed_by)
        yield line(
            1,
            Cell("suspended", Role.WARN),
            Cell(f"goes on in {on}" if on else "nothing in the trail goes on with it"),
            step_lines.checkpoint(turn.checkpoint_id),
        )
    if turn.outcome == Outcome.COMPLETED and turn.kind in {Kind.PROMPT, Kind.RESUME, ""}:
        yield _words("answer", turn.answer, around.most, _cites(turn))
    if turn.archive_lost:
        lost = phrases.counted(turn.archive_lost, "passage")
        yield line(1, Cell("archive", Role.NAME), Cell(f"{lost} of this turn did not reach the archive", Role.BAD))


def _cites(turn: Turn) -> tuple[Cell | None, ...]:
    read = any(isinstance(step, Retrieval) for step in walk(turn.steps))
    nothing = "cites nothing" if read else ""
    cited = "cites " + " ".join(f"[{number}]" for number in turn.cited) if turn.cited else nothing
    wrong = " ".join(f"[{number}]" for number in turn.unsupported)
    return (
        Cell(cited, Role.GOOD if turn.cited else Role.WARN),
        Cell(f"names {wrong}, which nobody read", Role.BAD) if wrong else None,
        Cell(f"fingerprint {turn.answer_fingerprint}", Role.DIM) if turn.answer_fingerprint else None,
    )


def _words(label: str, words: Words, most: int, beside: tuple[Cell | None, ...] = ()) -> Line:
    if words.text is None:
        return line(1, Cell(label, Role.NAME), Cell(phrases.absent(words), Role.DIM), *beside)
    measured, partly = Cell(phrases.measured(words), Role.DIM), Cell(words.why, Role.WARN)
    return line(1, Cell(label, Role.NAME), measured, partly, *beside, words=phrases.cut(words.text, most))


def _place(run: str, places: Mapping[str, int]) -> str:
    short = run[: phrases.ID_SHOWN]
    return f"turn {places[run]} (run {short})" if run in places else f"run {short}, which is not in the trail"


def _notes(session: Session) -> Iterator[Line]:
    if not session.notes and not session.unread:
        return
    yield Line(0, ())
    yield line(0, Cell("notes", Role.TITLE))
    yield from (noted(note, 1) for note in session.notes)
    for unread in session.unread[:UNREAD_SHOWN]:
        beginning = phrases.cut(unread.beginning, phrases.VALUE_SHOWN)
        yield line(1, Cell("unread", Role.NAME), Cell(unread.reason, Role.WARN), Cell(beginning, Role.DIM))
    if (more := len(session.unread) - UNREAD_SHOWN) > 0:
        yield line(1, Cell("unread", Role.NAME), Cell(f"and {phrases.counted(more, 'more line')}", Role.WARN))
