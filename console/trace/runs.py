"""Gather what there is of each run: its invocation's span, the spans below it, and its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_image.contract import EventName, Span
from console.trace.forest import NONE, Forest
from console.trace.kinds import Kind
from console.trace.record import EventRecord, SpanRecord
from console.trace.values import nanoseconds_of, text

_NEVER = 2**63


@dataclass(slots=True)
class Run:
    """Gather one run.

    Attributes:
        root: the place of its invocation's span, or NONE.
        places: of its other spans, parents before their children.
        events: in the order of their time, without the two that say that it began and ended.
    """

    id: str
    root: int = NONE
    places: list[int] = field(default_factory=list)
    started: EventRecord | None = None
    ended: EventRecord | None = None
    events: list[EventRecord] = field(default_factory=list)

    @property
    def told(self) -> list[EventRecord]:
        """List all of its events."""
        return [*filter(None, (self.started, self.ended)), *self.events]

    def began(self, forest: Forest) -> int:
        """Tell when it began, in nanoseconds, as far as anything tells; later than any time where nothing does."""
        if self.root != NONE and (start := forest.spans[self.root].start_ns) is not None:
            return start
        if self.started is not None and self.started.ts is not None:
            return nanoseconds_of(self.started.ts)
        starts = [start for place in self.places if (start := forest.spans[place].start_ns) is not None]
        return min([*starts, *(nanoseconds_of(one.ts) for one in self.told if one.ts is not None)], default=_NEVER)


def invocations(spans: Sequence[SpanRecord], kinds: Sequence[Kind]) -> Mapping[str, int]:
    """Give the place of each run's invocation; a second one under the same run's id is a span like any other."""
    found: dict[str, int] = {}
    for place, kind in enumerate(kinds):
        if kind is Kind.INVOCATION and (run := text(spans[place].attributes.get(Span.RUN))):
            found.setdefault(run, place)
    return found


def gathered(
    forest: Forest, roots: Mapping[str, int], events: Iterable[EventRecord]
) -> tuple[list[Run], list[int], list[EventRecord]]:
    """Give the runs in the order of their time, and the spans and events that belong to none.

    A span belongs to the invocation that it lies below; where none is above it, to the only run of its trace.
    """
    runs = {run: Run(run, place) for run, place in roots.items()}
    traces: dict[str, set[str]] = {}
    for run, place in roots.items():
        traces.setdefault(forest.spans[place].trace_id, set()).add(run)
    apart: list[EventRecord] = []
    nameless: list[EventRecord] = []
    for event in events:
        if not event.run:
            nameless.append(event)
            continue
        _take(runs.setdefault(event.run, Run(event.run)), event)
        if event.trace_id:
            traces.setdefault(event.trace_id, set()).add(event.run)
    lone = {trace: runs[next(iter(ids))] for trace, ids in traces.items() if len(ids) == 1}
    for event in nameless:
        if (found := lone.get(event.trace_id)) is None:
            apart.append(event)
        else:
            found.events.append(event)
    return (*_placed(forest, runs, lone), apart)


def _placed(forest: Forest, runs: Mapping[str, Run], lone: Mapping[str, Run]) -> tuple[list[Run], list[int]]:
    invoked = {run.root: run for run in runs.values() if run.root != NONE}
    owners: list[Run | None] = [None] * len(forest.spans)
    apart: list[int] = []
    for place in forest.order:
        if (owner := invoked.get(place)) is not None:
            owners[place] = owner
            continue
        above = forest.above[place]
        owner = lone.get(forest.spans[place].trace_id) if above == NONE else owners[above]
        owners[place] = owner
        (apart if owner is None else owner.places).append(place)
    return sorted(runs.values(), key=lambda run: (run.began(forest), run.id)), apart


def _take(run: Run, event: EventRecord) -> None:
    if event.name == EventName.RUN_STARTED and run.started is None:
        run.started = event
    elif event.name == EventName.RUN_ENDED and run.ended is None:
        run.ended = event
    else:
        run.events.append(event)
