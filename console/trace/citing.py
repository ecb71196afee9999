"""Find which passages answers name, over a whole session: numbers run on from turn to turn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from agent_image.contract import Span
from console.trace.forest import NONE, Forest
from console.trace.passages import Named
from console.trace.runs import Run
from console.trace.turns import numbers_in
from console.trace.values import count


def cited_in(forest: Forest, runs: Sequence[Run], named: Mapping[int, Named]) -> Mapping[int, Collection[int]]:
    """Give the numbers that an answer names, by the place of the retrieval that gave them; runs come in their order.

    An answer may name what an earlier turn read. Of two passages under one number it means the one read last.
    """
    latest: dict[int, int] = {}
    cited: dict[int, set[int]] = {}
    for run in runs:
        # Places are in the order of time.
        for place in sorted(run.places):
            if (found := named.get(place)) is not None:
                latest.update(dict.fromkeys(_numbers(forest, place, found), place))
        for number in () if run.root == NONE else numbers_in(forest.spans[run.root].attributes.get(Span.CITED)):
            if (place := latest.get(number, NONE)) != NONE:
                cited.setdefault(place, set()).add(number)
    return cited


def _numbers(forest: Forest, place: int, named: Named) -> Iterable[int]:
    first = count(forest.spans[place].attributes.get(Span.FIRST))
    return () if first is None else range(first, first + len(named.documents or ()))
