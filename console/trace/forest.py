"""Hang spans below their parents, whatever they say of them: parents that are missing, and parents in a circle."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from console.trace.record import SpanRecord

DEEPEST: Final = 100
"""Levels below a root; what lies deeper hangs at the last one, so that nothing that walks a tree runs out of stack."""
NONE: Final = -1
_NEVER: Final = 2**63


@dataclass(frozen=True, slots=True)
class Forest:
    """Hold spans in the order of their time, and what hangs where, by their places in it.

    Attributes:
        above: the place of each one's parent; NONE for a root.
        order: every place, a parent before its children.
        orphans: whose parents are named and not there.
        circles: how many circles of parents were cut.
        flattened: how many lay too deep.
    """

    spans: Sequence[SpanRecord]
    above: Sequence[int]
    order: Sequence[int]
    orphans: frozenset[int]
    circles: int
    flattened: int


def by_time(spans: Collection[SpanRecord]) -> list[SpanRecord]:
    """Sort spans by their starts; those without one come last."""
    return sorted(spans, key=lambda one: (_NEVER if one.start_ns is None else one.start_ns, one.trace_id, one.span_id))


def planted(spans: Sequence[SpanRecord], roots: Collection[int]) -> Forest:
    """Hang spans below their parents, in linear time; those at `roots` are roots, whoever asked for them."""
    places = {(one.trace_id, one.span_id): place for place, one in enumerate(spans)}
    above = [
        places.get((one.trace_id, one.parent_id), NONE) if one.parent_id and place not in roots else NONE
        for place, one in enumerate(spans)
    ]
    orphans = frozenset(
        place for place, one in enumerate(spans) if one.parent_id and above[place] == NONE and place not in roots
    )
    below: list[list[int]] = [[] for _ in spans]
    for place, parent in enumerate(above):
        if parent != NONE:
            below[parent].append(place)
    order: list[int] = []
    flattened = _walk([place for place, parent in enumerate(above) if parent == NONE], above, below, order)
    circles = 0
    if len(order) < len(spans):
        for circle in _circles(above, frozenset(range(len(spans))).difference(order)):
            # The earliest is the root; the others hang below it as they say.
            below[above[circle]].remove(circle)
            above[circle] = NONE
            flattened += _walk([circle], above, below, order)
            circles += 1
    return Forest(spans, above, order, orphans, circles, flattened)


def _walk(roots: Sequence[int], above: list[int], below: Sequence[Sequence[int]], order: list[int]) -> int:
    """Put what hangs below roots in order, and hang what lies too deep higher; tell how many that were."""
    flattened = 0
    stack = [(root, 0) for root in reversed(roots)]
    while stack:
        place, depth = stack.pop()
        order.append(place)
        children = below[place]
        if not children:
            continue
        if depth < DEEPEST:
            stack.extend((child, depth + 1) for child in reversed(children))
            continue
        for child in children:
            above[child] = above[place]
        flattened += len(children)
        stack.extend((child, depth) for child in reversed(children))
    return flattened


def _circles(above: Sequence[int], left: frozenset[int]) -> Iterator[int]:
    """Give the earliest of each circle among those that no root leads to."""
    seen: set[int] = set()
    for place in sorted(left):
        path: list[int] = []
        here = place
        while here not in seen:
            seen.add(here)
            path.append(here)
            here = above[here]
        if here in path:
            yield min(path[path.index(here) :])
