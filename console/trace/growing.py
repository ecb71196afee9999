"""Grow the tree of steps out of spans and events: what only wraps is folded away, and what is below it pulled up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from operator import itemgetter
from typing import Final

from agent_image.contract import EventName
from console.trace.forest import NONE, Forest
from console.trace.guarding import guard_step, said_of, tool_call
from console.trace.joining import Call, Hooked, Joined
from console.trace.kinds import INVOKE_AGENT, OPERATION, Kind, is_botocore, is_retrieve
from console.trace.passages import Named
from console.trace.record import EventRecord, SpanRecord
from console.trace.session import Step
from console.trace.steps import began, error_of, model_call, other, retrieval
from console.trace.values import nanoseconds_of

_NEVER: Final = 2**63
_Key = tuple[int, int, str]
_Grown = list[tuple[_Key, Step]]
_key_of = itemgetter(0)


@dataclass(frozen=True, slots=True)
class Ground:
    """Hold what all trees of a session stand on.

    Attributes:
        kinds: what each span is, by its place.
        named: the documents of each retrieval, by its place.
        cited: the numbers, of each retrieval's, that answers name, by its place.
        why: why texts have no words.
    """

    forest: Forest
    kinds: Sequence[Kind]
    named: Mapping[int, Named]
    cited: Mapping[int, Collection[int]]
    why: str


@dataclass(slots=True)
class Growing:
    """Grow the steps of one turn, or of what belongs to none.

    Attributes:
        root: the place of the invocation, whose steps these are; NONE where there is none.
        failed: the turn says itself that it failed: what wraps need not say so again.
    """

    ground: Ground
    joined: Joined
    root: int = NONE
    failed: bool = False
    _below: dict[int, _Grown] = field(default_factory=dict)
    _calls: dict[int, Call] = field(default_factory=dict)
    _retrieves: dict[int, list[SpanRecord]] = field(default_factory=dict)
    _folded: set[int] = field(default_factory=set)

    def steps(self, places: Sequence[int]) -> tuple[Step, ...]:
        """Give the steps, in the order of their time; `places` come with parents before children."""
        self._prepare(places)
        for place in self._in_turn(places):
            if place in self._folded:
                self._pull_up(place, self._below.pop(place, []))
            else:
                self._grow(place)
        top = self._below.pop(NONE, [])
        for call in self.joined.calls:
            if call.place == NONE:
                top.append(self._call(call, ()))
        top.extend(self._event(event) for event in self.joined.apart)
        return _sorted(top)

    def _in_turn(self, places: Sequence[int]) -> Iterator[int]:
        """Give children before parents, and hooks, with what is below them, before the calls that they speak of."""
        for within in (True, False) if self.joined.within else (False,):
            yield from (place for place in reversed(places) if (place in self.joined.within) is within)

    def _prepare(self, places: Sequence[int]) -> None:
        """Find what folds into something else: guards' spans of calls, and the AWS client's."""
        for call in self.joined.calls:
            if (at := call.place) != NONE:
                self._calls[at] = call
                self._folded.update(place for place in call.guards.values() if place != at)
        self._folded.update(self.joined.inner.values())
        kinds, above, spans = self.ground.kinds, self.ground.forest.above, self.ground.forest.spans
        for place in places:
            parent = above[place]
            if kinds[place] is Kind.OTHER and parent != NONE and kinds[parent] is Kind.RETRIEVAL:
                span = spans[place]
                if is_botocore(span) and is_retrieve(span):
                    self._retrieves.setdefault(parent, []).append(span)
                    self._folded.add(place)

    def _grow(self, place: int) -> None:
        ground = self.ground
        kind, span = ground.kinds[place], ground.forest.spans[place]
        children = self._below.pop(place, [])
        if (call := self._calls.get(place)) is not None:
            self._pull_up(place, [self._call(call, children)])
            return
        if (hooked := self.joined.hooks.get(place)) is not None:
            self._hook(place, hooked, children)
            return
        if kind is Kind.WRAPPER and self._folds(place, span, children):
            self._pull_up(place, children)
            return
        below = _sorted(children)
        step: Step
        if kind is Kind.MODEL:
            inner = self.joined.inner.get(place)
            inside = None if inner is None else ground.forest.spans[inner]
            step = model_call(span, inside, self.joined.models.get(place), below)
        elif kind is Kind.RETRIEVAL:
            step = retrieval(
                span, ground.named[place], ground.cited.get(place, ()), self._retrieves.get(place, ()), below
            )
        else:
            step = other(span, below)
        self._pull_up(place, [((_NEVER if span.start_ns is None else span.start_ns, 0, span.span_id), step)])

    def _hook(self, place: int, hooked: Hooked, children: _Grown) -> None:
        """Put a hook's verdict, with the calls of its model, below the call that it speaks of."""
        span = self.ground.forest.spans[place]
        events = [] if hooked.event is None else [hooked.event]
        step = guard_step(events, span, self.ground.why, _sorted(children))
        grown: _Grown = [((_NEVER if span.start_ns is None else span.start_ns, 0, span.span_id), step)]
        if hooked.call is None or hooked.call.place == NONE:
            self._pull_up(place, grown)
        else:
            self._below.setdefault(hooked.call.place, []).extend(grown)

    def _pull_up(self, place: int, grown: _Grown) -> None:
        """Put what stands at a place, or below it, below the place's parent."""
        above = self.ground.forest.above[place]
        self._below.setdefault(NONE if above == self.root else above, []).extend(grown)

    def _call(self, call: Call, children: Iterable[tuple[_Key, Step]]) -> tuple[_Key, Step]:
        spans, why = self.ground.forest.spans, self.ground.why
        guards = {ruling: spans[place] for ruling, place in call.guards.items()}
        said: _Grown = []
        for event, step in said_of(call, guards, why):
            span = guards.get(step.ruling)
            start = _NEVER if span is None or span.start_ns is None else span.start_ns
            said.append((_key(event) if span is None and event is not None else (start, 0, step.span_id), step))
        span = None if call.span == NONE else spans[call.span]
        made = tool_call(call, span, guards, _sorted([*children, *said]), why)
        if call.span in self.joined.within:
            # A hook's model only reads, and pays for that by its own tokens.
            made = replace(made, cost_usd=Decimal(0))
        if span is not None and span.start_ns is not None:
            return (span.start_ns, 0, span.span_id), made
        first = min((_key(event) for event in call.events), default=None)
        lone = min(((_NEVER if one.start_ns is None else one.start_ns, 0, one.span_id) for one in guards.values()),
                   default=None)  # fmt: skip
        return first or lone or (_NEVER, 0, made.span_id), made

    def _event(self, event: EventRecord) -> tuple[_Key, Step]:
        if event.name == EventName.LLM_CALL:
            start = began(event)
            return (_NEVER if start is None else start, event.seq or 0, ""), model_call(None, None, event, ())
        return _key(event), guard_step([event], None, self.ground.why)

    def _folds(self, place: int, span: SpanRecord, children: _Grown) -> bool:
        """Tell whether a wrapper says nothing: neither an error of its own, nor which agent a tool asked."""
        if error_of(span) and not self.failed and not any(step.error for _, step in children):
            return False
        return span.attributes.get(OPERATION) != INVOKE_AGENT or not self._under_tool(place)

    def _under_tool(self, place: int) -> bool:
        above, kinds = self.ground.forest.above, self.ground.kinds
        while (place := above[place]) != NONE:
            if kinds[place] is Kind.TOOL:
                return True
        return False


def _key(event: EventRecord) -> _Key:
    return (_NEVER if event.ts is None else nanoseconds_of(event.ts), event.seq or 0, "")


def _sorted(grown: _Grown) -> tuple[Step, ...]:
    if len(grown) > 1:
        grown.sort(key=_key_of)
    return tuple([step for _, step in grown])
