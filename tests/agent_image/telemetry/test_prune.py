"""Noise is left out, and the tree stays a tree."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import set_span_in_context

from agent_image.telemetry.prune import EVENT_LOOP, REMEMBERED
from tests.agent_image.telemetry.spans import Memory, Trail

NOISE = "POST /invocations http send"


def tree(spans: tuple[ReadableSpan, ...]) -> dict[str, str | None]:
    """Map each span's name to its parent's."""
    names = {span.context.span_id: span.name for span in spans}
    return {span.name: names[span.parent.span_id] if span.parent else None for span in spans}


@pytest.mark.parametrize(("event_loop", "cycle"), [(True, "invoke_agent"), (False, EVENT_LOOP)])
def test_children_of_pruned_spans_hang_where_those_hung(event_loop: bool, cycle: str) -> None:  # noqa: FBT001
    """The agent's cycles nest in each other; all of them lead to the agent."""
    trail = Trail(memory := Memory(), event_loop=event_loop)
    with trail.tracing() as provider:
        tracer = provider.get_tracer("strands")
        with tracer.start_as_current_span("invoke_agent"), tracer.start_as_current_span(EVENT_LOOP):
            with tracer.start_as_current_span("chat"):
                pass
            with tracer.start_as_current_span(NOISE), tracer.start_as_current_span(EVENT_LOOP):
                tracer.start_span("execute_tool").end()

    assert tree(memory.spans)["execute_tool"] == cycle
    assert tree(memory.spans)["chat"] == cycle
    assert tree(memory.spans)["invoke_agent"] is None
    assert NOISE not in memory.names()
    assert (EVENT_LOOP in memory.names()) is not event_loop


def test_children_of_a_pruned_root_are_roots() -> None:
    """Nothing hangs from a span that is not there."""
    trail = Trail(memory := Memory())
    with trail.tracing() as provider:
        tracer = provider.get_tracer("asgi")
        with tracer.start_as_current_span(NOISE):
            tracer.start_span("chat").end()

    assert tree(memory.spans) == {"chat": None}


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([NOISE, EVENT_LOOP, "kept"])), max_size=25))
def test_every_kept_span_hangs_from_its_nearest_kept_ancestor(nodes: list[tuple[int, str]]) -> None:
    """Whatever the tree, and in whatever order its spans end."""
    trail = Trail(memory := Memory(), event_loop=True)
    started: list[tuple[trace.Span, int | None, str]] = []
    with trail.tracing() as provider:
        tracer = provider.get_tracer("any")
        for number, (above, name) in enumerate(nodes):
            parent = above % number if number and above < number else None
            context = set_span_in_context(started[parent][0]) if parent is not None else Context()
            started.append((tracer.start_span(name, context=context), parent, name))
        for span, _, _ in reversed(started):
            span.end()

    def nearest(number: int) -> int:
        parent = started[number][1]
        if parent is None:
            return 0
        span, _, name = started[parent]
        return span.get_span_context().span_id if name == "kept" else nearest(parent)

    expected = {
        span.get_span_context().span_id: nearest(number)
        for number, (span, _, name) in enumerate(started)
        if name == "kept"
    }
    assert {span.context.span_id: span.parent.span_id if span.parent else 0 for span in memory.spans} == expected


def test_what_is_remembered_is_bounded() -> None:
    """A span that never ends is forgotten in the end; its late children hang from it as they did."""
    trail = Trail(memory := Memory())
    with trail.tracing() as provider:
        tracer = provider.get_tracer("asgi")
        forgotten = tracer.start_span(NOISE)
        for _ in range(REMEMBERED):
            tracer.start_span(NOISE).end()
        tracer.start_span("late", context=set_span_in_context(forgotten)).end()

    (late,) = memory.spans
    assert late.parent == forgotten.get_span_context()


def test_threads_prune_together() -> None:
    """Each thread's spans hang from its own ancestors."""
    trail = Trail(memory := Memory())

    def work(name: str) -> None:
        for _ in range(50):
            with tracer.start_as_current_span(name), tracer.start_as_current_span(NOISE):
                tracer.start_span(f"{name}.child").end()

    with trail.tracing() as provider:
        tracer = provider.get_tracer("asgi")
        threads = [threading.Thread(target=work, args=(f"parent{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    names = {span.context.span_id: span.name for span in memory.spans}
    children = [span for span in memory.spans if span.name.endswith(".child")]
    assert len(children) == 200
    assert all(span.parent and names[span.parent.span_id] == span.name.removesuffix(".child") for span in children)
