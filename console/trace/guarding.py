"""Make the steps of the guard: calls of tools with what became of them, and what it, a person or a hook said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent_image.contract import EventName, Field, Ruling, Span
from console.trace.beside import beside, plain
from console.trace.joining import RULED, Call, ruling_of
from console.trace.record import EventRecord, SpanRecord
from console.trace.session import GuardStep, Step, ToolCall, Words
from console.trace.steps import FAILED, began, error_of, first_text
from console.trace.texts import NOT_IN_TRAIL, words_of
from console.trace.values import amount, count, flag, milliseconds_between, moment_of, nanoseconds_of, text

GUARD: Final = "guard"
"""The event of what only a span tells of."""
NOT_RUN: Final = frozenset(
    {Ruling.ASKED, Ruling.BLOCKED, Ruling.REJECTED, Ruling.CANCELLED, Ruling.EXPIRED, Ruling.REPLAYED}
)
"""Rulings under which a run carries nothing out, and pays for nothing."""
_SHOWN: Final = frozenset({*Field} - {Field.EVIDENCE, Field.TOKENS, Field.OUTCOME, Field.STOP_REASON, Field.MODEL})
_TOOL_NAMES: Final = ("gen_ai.tool.name", Span.TOOL.value, "tool.name", "traceloop.entity.name")
_TOOL_FAILED: Final = "error"
_BY_WEIGHT: Final = (EventName.GATE, EventName.TOOL_CALL, EventName.TOOL_RESULT)


def tool_call(
    call: Call, span: SpanRecord | None, guards: Mapping[str, SpanRecord], children: tuple[Step, ...], why: str
) -> ToolCall:
    """Make a tool's call of its span, its events and the guard's spans; `why` says why it has no words."""
    said: Mapping[str, Any] = {} if span is None else span.attributes
    told = [event.fields for event in call.events]
    intent = next((event for event in call.events if event.name == EventName.TOOL_CALL), None)
    result = next((event for event in reversed(call.events) if event.name == EventName.TOOL_RESULT), None)
    rulings = [ruling for event in call.events if (ruling := ruling_of(event))] or list(guards)
    ended: Mapping[str, Any] = {} if result is None else result.fields
    arguments = _of_any(told, Field.ARGS)
    tool = _first(told, Field.TOOL) or first_text(said, _TOOL_NAMES)
    tool = tool or next((text(one.attributes.get(Span.TOOL)) for one in guards.values()), "")
    zones = (text(one.attributes.get(Span.ZONE)) for one in guards.values())
    lone = next(iter(guards.values()), None)
    start = _start(span, intent or (call.events[0] if call.events else None), lone)
    took = None if span is None else milliseconds_between(span.start_ns, span.end_ns)
    return ToolCall(
        title=tool or ("" if span is None else span.name) or "tool",
        span_id="" if span is None else span.span_id,
        started=moment_of(start),
        duration_ms=amount(ended.get(Field.LATENCY_MS)) if took is None else took,
        error=_error(span, ended, rulings[-1] if rulings else ""),
        children=children,
        attributes=beside(said),
        tool=tool,
        tool_use_id=_first(told, Field.TOOL_USE_ID) or text(said.get("gen_ai.tool.call.id")),
        zone=_first(told, Field.ZONE) or next(zones, ""),
        ruling=rulings[-1] if rulings else "",
        arguments=words_of(arguments, why) if arguments is not None else Words(why=NOT_IN_TRAIL),
        result=_result(ended, rulings[-1] if rulings else "", why),
        cost_usd=amount(ended.get(Field.COST_USD)),
    )


def said_of(call: Call, guards: Mapping[str, SpanRecord], why: str) -> Iterator[tuple[EventRecord | None, GuardStep]]:
    """Give what the guard, people and hooks said of a call, each once; that it was simply allowed needs no words."""
    rulings: dict[str, list[EventRecord]] = {ruling: [] for ruling in guards}
    for event in call.events:
        if event.name == EventName.HOOK:
            yield event, guard_step([event], None, why)
        elif (ruling := ruling_of(event)) and ruling != Ruling.ALLOWED:
            rulings.setdefault(ruling, []).append(event)
    for ruling, events in rulings.items():
        # The gate knows the most of a decision; a call and its result repeat it.
        weighed = sorted(events, key=lambda one: _BY_WEIGHT.index(EventName(one.name)))
        yield (weighed[0] if weighed else None), guard_step(weighed, guards.get(ruling), why)


def guard_step(
    events: Sequence[EventRecord], span: SpanRecord | None, why: str, children: tuple[Step, ...] = ()
) -> GuardStep:
    """Make one step of the events that say the same, the one that knows most first, and of the guard's span."""
    told = [event.fields for event in events]
    said: Mapping[str, Any] = {} if span is None else span.attributes
    name = events[0].name if events else EventName.HOOK if Span.HOOK in said else GUARD
    ruling = _first(told, Field.DECISION) or text(said.get(Span.DECISION))
    code = _first(told, Field.CODE) or text(said.get(Span.REASON))
    start = None if span is None else span.start_ns
    if start is None and events and events[0].ts is not None:
        start = nanoseconds_of(events[0].ts)
    reasons = _of_any(told, Field.REASONS)
    failed = bool(told) and flag(told[0].get(Field.IS_ERROR)) is True and name == EventName.ERROR
    return GuardStep(
        title=f"{GUARD if name in RULED else name} {ruling or code}".rstrip(),
        span_id="" if span is None else span.span_id,
        started=moment_of(start),
        duration_ms=None if span is None else milliseconds_between(span.start_ns, span.end_ns),
        error=(code or FAILED) if failed else "" if span is None else error_of(span),
        children=children,
        attributes={**beside(said), **_evidence(told)},
        event=name,
        ruling=ruling,
        tool=_first(told, Field.TOOL) or text(said.get(Span.TOOL)),
        zone=_first(told, Field.ZONE) or text(said.get(Span.ZONE)),
        checkpoint_id=_first(told, Field.CHECKPOINT_ID) or text(said.get(Span.CHECKPOINT)),
        approver=_first(told, Field.APPROVER),
        hook=_first(told, Field.HOOK) or text(said.get(Span.HOOK)),
        code=code,
        severity=_first(told, Field.SEVERITY),
        reasons=tuple(filter(None, map(text, reasons))) if isinstance(reasons, list) else (),
        reason=words_of(_of_any(told, Field.REASON), why if _of_any(told, Field.REASON) is not None else ""),
        waited_ms=count(_of_any(told, Field.WAITED_MS)),
    )


def _start(span: SpanRecord | None, event: EventRecord | None, guard: SpanRecord | None) -> int | None:
    if span is not None and span.start_ns is not None:
        return span.start_ns
    if event is not None and event.ts is not None:
        return began(event)
    return None if guard is None else guard.start_ns


def _result(ended: Mapping[str, Any], ruling: str, why: str) -> Words:
    if Field.RESULT in ended:
        return words_of(ended[Field.RESULT], why)
    return Words() if ruling in NOT_RUN else Words(why=NOT_IN_TRAIL)


def _error(span: SpanRecord | None, ended: Mapping[str, Any], ruling: str) -> str:
    """Say what failed in a call; one that was not let run did not fail."""
    if ruling in NOT_RUN:
        return ""
    if flag(ended.get(Field.IS_ERROR)):
        return text(ended.get(Field.CODE)) or FAILED
    if span is None:
        return ""
    return error_of(span) or (FAILED if span.attributes.get("gen_ai.tool.status") == _TOOL_FAILED else "")


def _evidence(told: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Give what events say beside, under names that nothing else shows."""
    return {key: plain(value) for fields in told for key, value in fields.items() if key not in _SHOWN}


def _first(told: Sequence[Mapping[str, Any]], name: Field) -> str:
    return next(filter(None, (text(fields.get(name)) for fields in told)), "")


def _of_any(told: Sequence[Mapping[str, Any]], name: Field) -> Any:  # noqa: ANN401 - JSON of any shape
    return next((fields[name] for fields in told if name in fields), None)
