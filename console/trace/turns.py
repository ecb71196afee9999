"""Make a turn of a run: what was asked and answered, how it ended, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, localcontext
from typing import Any, Final

from agent_image.contract import EventName, Field, Kind, Outcome, Ruling, Span
from console.trace.guarding import NOT_RUN
from console.trace.joining import checkpoint_of
from console.trace.record import SpanRecord
from console.trace.runs import Run
from console.trace.session import ModelCall, Step, Tokens, ToolCall, Turn, Words, walk
from console.trace.steps import FAILED, error_of, tokens_in
from console.trace.texts import NOT_IN_TRAIL, spoken, words_of
from console.trace.values import amount, count, milliseconds_between, moment_of, nanoseconds_of, text

_PRECISION: Final = 500
"""Digits of a sum: an amount has at most 200, so that none is rounded."""
_ANSWERING: Final = frozenset({Kind.PROMPT.value, Kind.RESUME.value})
_NUMBER_DIGITS: Final = 9


def numbers_in(value: object) -> tuple[int, ...]:
    """Read numbers that are separated by spaces; what is none is left out."""
    return tuple(
        int(one) for one in text(value).split() if one.isascii() and one.isdigit() and len(one) <= _NUMBER_DIGITS
    )


def turn_of(
    run: Run, span: SpanRecord | None, steps: tuple[Step, ...], why: str, *, resumes: str, resumed_by: tuple[str, ...]
) -> Turn:
    """Make a turn; `why` says why texts have no words, the last two name the runs before it and after it."""
    said: Mapping[str, Any] = {} if span is None else span.attributes
    began: Mapping[str, Any] = {} if run.started is None else run.started.fields
    ended: Mapping[str, Any] = {} if run.ended is None else run.ended.fields
    counted = ended.get(Field.TOKENS)
    outcome = text(said.get(Span.OUTCOME)) or text(ended.get(Field.OUTCOME))
    kind = text(said.get(Span.RUN_KIND)) or text(began.get(Field.KIND))
    started, duration = _times(run, span)
    return Turn(
        run=run.id,
        kind=kind,
        trace_id=_trace(run, span),
        started=started,
        duration_ms=duration,
        outcome=outcome,
        question=_question(said, began, kind, why),
        answer=_answer(said, kind, outcome, why),
        answer_fingerprint=text(said.get(Span.ANSWER)),
        cited=numbers_in(said.get(Span.CITED)),
        unsupported=numbers_in(said.get(Span.UNSUPPORTED)),
        cost_usd=_cost(run, said, ended, steps),
        tokens=tokens_in(counted) if isinstance(counted, dict) else _summed(steps),
        steps=steps,
        resumes=resumes,
        resumed_by=resumed_by,
        checkpoint_id=_checkpoint(run, steps) if outcome == Outcome.SUSPENDED else "",
        archive_lost=count(said.get(Span.ARCHIVE_LOST)) or 0,
        verdict=text(said.get(Span.VERDICT)),
        note=_note(said, why),
        error=_error(run, span),
    )


def _times(run: Run, span: SpanRecord | None) -> tuple[datetime | None, Decimal | None]:
    starts = [] if run.started is None or run.started.ts is None else [nanoseconds_of(run.started.ts)]
    ends = [] if run.ended is None or run.ended.ts is None else [nanoseconds_of(run.ended.ts)]
    if span is not None:
        starts, ends = [*_known(span.start_ns), *starts], [*_known(span.end_ns), *ends]
    start = next(iter(starts), None)
    if start is not None:
        return moment_of(start), milliseconds_between(start, next(iter(ends), None))
    moments = (one.ts for one in run.told if one.ts is not None)
    return min(moments, default=None), None


def _known(time: int | None) -> list[int]:
    return [] if time is None else [time]


def _trace(run: Run, span: SpanRecord | None) -> str:
    return span.trace_id if span is not None else next((one.trace_id for one in run.told if one.trace_id), "")


def _question(said: Mapping[str, Any], began: Mapping[str, Any], kind: str, why: str) -> Words:
    told = words_of(began.get(Field.REASON), why)
    asked = said.get(Span.QUESTION)
    if isinstance(asked, str):
        whole = spoken(asked)
        return Words(whole.text, whole.size, told.digest)
    return told if Field.REASON in began or kind == Kind.PROMPT else Words()


def _answer(said: Mapping[str, Any], kind: str, outcome: str, why: str) -> Words:
    answered = said.get(Span.ANSWER_TEXT)
    if isinstance(answered, str):
        return spoken(answered)
    if kind and kind not in _ANSWERING:
        return Words()
    if outcome == Outcome.COMPLETED:
        return Words(why=why)
    # How a run ended that gave no answer says its outcome; of one that has not ended nobody knows.
    return Words() if outcome else Words(why=NOT_IN_TRAIL)


def _note(said: Mapping[str, Any], why: str) -> Words:
    if isinstance(noted := said.get(Span.NOTE), str):
        return spoken(noted)
    size = count(said.get(Span.NOTE_BYTES))
    return Words() if size is None else Words(None, size, text(said.get(Span.NOTE_DIGEST)), why)


def _checkpoint(run: Run, steps: tuple[Step, ...]) -> str:
    """Give the checkpoint that was asked first."""
    asked = (
        checkpoint_of(one)
        for one in run.events
        if one.name == EventName.GATE and one.fields.get(Field.DECISION) == Ruling.ASKED
    )
    shown = (getattr(one, "checkpoint_id", "") for one in walk(steps) if getattr(one, "ruling", "") == Ruling.ASKED)
    return next(filter(None, (*asked, *shown)), "")


def _error(run: Run, span: SpanRecord | None) -> str:
    said = "" if span is None else error_of(span)
    told = (text(one.fields.get(Field.CODE)) or FAILED for one in reversed(run.events) if one.name == EventName.ERROR)
    return said or next(told, "")


def _cost(run: Run, said: Mapping[str, Any], ended: Mapping[str, Any], steps: tuple[Step, ...]) -> Decimal | None:
    """Give what a run cost: as its last event says, else its span, else as its steps add up to, if each is known."""
    calls = (one for one in run.events if one.name == EventName.LLM_CALL)
    if any(amount(one.fields.get(Field.COST_USD)) is None for one in calls):
        # A model without a price: whatever the others add up to, it is not what the run cost.
        return None
    for told in (ended.get(Field.COST_USD), said.get(Span.COST)):
        if (cost := amount(told)) is not None:
            return cost
    return _sum(
        [step.cost_usd for step in walk(steps) if isinstance(step, ModelCall | ToolCall) and not _is_free(step)]
    )


def _is_free(step: Step) -> bool:
    return isinstance(step, ToolCall) and step.cost_usd is None and step.ruling in NOT_RUN


def _sum(amounts: Sequence[Decimal | None]) -> Decimal | None:
    known = [one for one in amounts if one is not None]
    if not known or len(known) < len(amounts):
        return None
    with localcontext() as context:
        context.prec = _PRECISION
        return sum(known, Decimal(0))


def _summed(steps: tuple[Step, ...]) -> Tokens:
    calls = [step.tokens for step in walk(steps) if isinstance(step, ModelCall)]
    return Tokens(
        _total(one.input for one in calls),
        _total(one.output for one in calls),
        _total(one.cache_read for one in calls),
        _total(one.cache_write for one in calls),
    )


def _total(counts: Iterable[int | None]) -> int | None:
    listed = list(counts)
    known = [one for one in listed if one is not None]
    return sum(known) if known and len(known) == len(listed) else None
