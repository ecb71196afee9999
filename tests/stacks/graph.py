"""Read the dependency graph out of a synthesised stack: references and declared waits alike."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

from tests.synthesis import Stack
from tests.terraform_schema.references import COMMENT, references_in

Graph = dict[str, set[str]]


def graph_of(stack: Stack) -> Graph:
    """Map each resource to the resources it waits for."""
    return {address: set(_waits_for(arguments)) for address, arguments in stack.each()}


def _waits_for(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield from (reference.address for reference in references_in(value))
        case list():
            for item in value:
                yield from _waits_for(item)
        case dict():
            yield from value.get("depends_on", [])
            for key, item in value.items():
                if key != COMMENT:
                    yield from _waits_for(item)


def cycle_in(graph: Graph) -> list[str] | None:
    """Find a cycle, as the addresses along it, or None."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return None


def before(graph: Graph, address: str) -> set[str]:
    """Collect everything that stands before a resource, however far back."""
    found: set[str] = set()
    open_ = [address]
    while open_:
        for waited in graph[open_.pop()] - found:
            found.add(waited)
            open_.append(waited)
    return found
