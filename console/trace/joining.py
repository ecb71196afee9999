"""Join what spans and events say of the same calls of one run: by the span's id, the call's id, and the checkpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from agent_image.contract import EventName, Field, Ruling, Span
from console.trace.forest import NONE, Forest
from console.trace.kinds import Kind, is_botocore
from console.trace.record import EventRecord
from console.trace.values import text

OF_CALLS: Final = frozenset({EventName.TOOL_CALL, EventName.TOOL_RESULT, EventName.GATE, EventName.HOOK})
RULED: Final = frozenset({EventName.TOOL_CALL, EventName.TOOL_RESULT, EventName.GATE})
"""Events whose decision is what became of the call."""
UNKNOWN_TOOL: Final = "unknown"
"""What a guard's span says of a tool that the agent does not have."""
_BESIDE: Final = frozenset({Ruling.EDITED, Ruling.IN_DOUBT})
"""Rulings under which a call runs, and leaves a span of its own."""
_SAID: Final[Mapping[Field, Span]] = MappingProxyType(
    {Field.HOOK: Span.HOOK, Field.DECISION: Span.DECISION, Field.CODE: Span.REASON, Field.TOOL: Span.TOOL}
)
"""What a hook's event and its span both say."""


@dataclass(slots=True)
class Call:
    """Gather what there is of one call of a tool.

    Attributes:
        events: in the order of their time.
        span: the place of its span, or NONE.
        guards: places of the guard's spans, by their rulings.
    """

    events: list[EventRecord] = field(default_factory=list)
    span: int = NONE
    guards: dict[str, int] = field(default_factory=dict)

    @property
    def place(self) -> int:
        """Tell at which span it stands; NONE where only events tell of it."""
        return self.span if self.span != NONE else min(self.guards.values(), default=NONE)


@dataclass(frozen=True, slots=True)
class Hooked:
    """Hold what tells of a hook's verdict beside its span.

    Attributes:
        call: of the tool that it speaks of; None where it speaks of none, or nobody says which.
    """

    event: EventRecord | None = None
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Hold what belongs together.

    Attributes:
        models: the event of each model's call, by the place of its span.
        inner: the AWS client's span of the same call, by the place of the outer one.
        calls: of tools, in no order.
        hooks: verdicts of hooks, by the places of their spans.
        within: places of those spans, and of all below them: a hook's model calls tools of its own.
        apart: events that belong to no span and no call.
    """

    models: Mapping[int, EventRecord]
    inner: Mapping[int, int]
    calls: Sequence[Call]
    hooks: Mapping[int, Hooked]
    within: Collection[int]
    apart: Sequence[EventRecord]


def joined(forest: Forest, kinds: Sequence[Kind], places: Iterable[int], events: Iterable[EventRecord]) -> Joined:
    """Join the spans of a run, at their places, parents first, with its events, in the order of their time."""
    by_kind: dict[Kind, list[int]] = {}
    within: set[int] = set()
    for place in places:
        by_kind.setdefault(kinds[place], []).append(place)
        if kinds[place] is Kind.HOOK or forest.above[place] in within:
            within.add(place)
    models, others = _model_events(forest, by_kind.get(Kind.MODEL, ()), events)
    hooks, others = _hook_events(forest, sorted(by_kind.get(Kind.HOOK, ())), others)
    calls, apart = _calls_of(others)
    _join_tools(forest, by_kind.get(Kind.TOOL, ()), calls, within)
    every = [*calls.values()]
    _join_guards(forest, sorted(by_kind.get(Kind.GUARD, ())), every)
    inner = dict(_inner(forest, kinds, by_kind.get(Kind.MODEL, ())))
    hooked = {
        place: Hooked(event, None if event is None else calls.get(text(event.fields.get(Field.TOOL_USE_ID))))
        for place, event in hooks.items()
    }
    return Joined(models, inner, every, hooked, within, apart)


def ruling_of(event: EventRecord) -> str:
    """Tell what an event says became of its call."""
    return text(event.fields.get(Field.DECISION)) if event.name in RULED else ""


def checkpoint_of(event: EventRecord) -> str:
    """Give the id of an event's checkpoint."""
    return text(event.fields.get(Field.CHECKPOINT_ID))


def _model_events(
    forest: Forest, places: Sequence[int], events: Iterable[EventRecord]
) -> tuple[dict[int, EventRecord], list[EventRecord]]:
    spans = forest.spans
    # Where the outer span of a call is lost, the AWS client's still names it as its parent.
    named = {spans[place].parent_id: place for place in reversed(places) if place in forest.orphans}
    named |= {spans[place].span_id: place for place in reversed(places)}
    models: dict[int, EventRecord] = {}
    others: list[EventRecord] = []
    for event in events:
        place = named.get(event.span_id) if event.name == EventName.LLM_CALL else None
        if place is None or place in models:
            others.append(event)
        else:
            models[place] = event
    return models, others


def _hook_events(
    forest: Forest, places: Sequence[int], events: Sequence[EventRecord]
) -> tuple[dict[int, EventRecord | None], list[EventRecord]]:
    """Give each hook's span the first event, of those that no span has, in which the same hook says the same."""
    waiting: dict[tuple[str, ...], deque[EventRecord]] = {}
    for event in events if places else ():
        if event.name == EventName.HOOK:
            waiting.setdefault(tuple(text(event.fields.get(name)) for name in _SAID), deque()).append(event)
    told: dict[int, EventRecord | None] = {}
    for place in places:
        attributes = forest.spans[place].attributes
        found = waiting.get(tuple(text(attributes.get(name)) for name in _SAID.values()))
        told[place] = found.popleft() if found else None
    taken = {id(event) for event in told.values()}
    return told, [event for event in events if id(event) not in taken]


def _inner(forest: Forest, kinds: Sequence[Kind], places: Sequence[int]) -> Iterator[tuple[int, int]]:
    below: dict[int, list[int]] = {}
    for place in places:
        parent = forest.above[place]
        if parent != NONE and kinds[parent] is Kind.MODEL and is_botocore(forest.spans[place]):
            below.setdefault(parent, []).append(place)
    # More than one are calls of their own, such as a second try.
    return ((parent, found[0]) for parent, found in below.items() if len(found) == 1)


def _calls_of(events: Sequence[EventRecord]) -> tuple[dict[str, Call], list[EventRecord]]:
    """Gather the events of each call; a sweep's event knows the checkpoint alone."""
    keys: dict[str, str] = {}
    for event in events:
        if event.name in RULED and (use := text(event.fields.get(Field.TOOL_USE_ID))) and checkpoint_of(event):
            keys.setdefault(checkpoint_of(event), use)
    calls: dict[str, Call] = {}
    apart: list[EventRecord] = []
    for event in events:
        use = text(event.fields.get(Field.TOOL_USE_ID)) or keys.get(checkpoint_of(event), "")
        if event.name in OF_CALLS and use:
            calls.setdefault(use, Call()).events.append(event)
        else:
            apart.append(event)
    return calls, apart


def _join_tools(forest: Forest, places: Iterable[int], calls: dict[str, Call], within: Collection[int]) -> None:
    for place in sorted(places):
        # A hook's model numbers its calls by itself.
        use = "" if place in within else text(forest.spans[place].attributes.get("gen_ai.tool.call.id"))
        call = calls.get(use) if use else None
        if call is None or call.span != NONE:
            # A second span under the same id, or none at all: a call of its own.
            call = calls[use if use and call is None else f"\0{place}"] = Call()
        call.span = place


def _join_guards(forest: Forest, places: Sequence[int], calls: list[Call]) -> None:
    """Give each guard's span to the call that it speaks of; one that no event tells of is a call of its own."""
    if not places:
        return
    waiting = _waiting(forest, calls)
    beside = {(forest.above[call.span], _tool(forest, call)): call for call in reversed(calls) if call.span != NONE}
    for place in places:
        attributes = forest.spans[place].attributes
        tool, ruling, checkpoint = (text(attributes.get(name)) for name in (Span.TOOL, Span.DECISION, Span.CHECKPOINT))
        keys = ((ruling, checkpoint), (tool, ruling, True)) if checkpoint else ((tool, ruling, False),)
        call = next((found for key in keys if (found := _next(waiting.get(key), ruling)) is not None), None)
        if call is None and ruling in _BESIDE:
            call = beside.get((forest.above[place], tool))
        if call is None or ruling in call.guards:
            call = Call()
            calls.append(call)
        call.guards[ruling] = place


def _waiting(forest: Forest, calls: Iterable[Call]) -> dict[tuple[object, ...], deque[Call]]:
    """Index calls by what a guard's span may say of them."""
    waiting: dict[tuple[object, ...], deque[Call]] = {}
    for call in calls:
        for event in call.events:
            if not (ruling := ruling_of(event)):
                continue
            checkpoint = checkpoint_of(event)
            if checkpoint:
                waiting.setdefault((ruling, checkpoint), deque()).append(call)
            for tool in (_tool(forest, call), UNKNOWN_TOOL):
                waiting.setdefault((tool, ruling, False), deque()).append(call)
                if not checkpoint:
                    waiting.setdefault((tool, ruling, True), deque()).append(call)
    return waiting


def _next(calls: deque[Call] | None, ruling: str) -> Call | None:
    while calls and ruling in calls[0].guards:
        calls.popleft()
    return calls[0] if calls else None


def _tool(forest: Forest, call: Call) -> str:
    named = (text(event.fields.get(Field.TOOL)) for event in call.events)
    said = next(filter(None, named), "")
    return said or ("" if call.span == NONE else text(forest.spans[call.span].attributes.get("gen_ai.tool.name")))
