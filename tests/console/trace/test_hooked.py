"""A hook's verdict stands where it was given, with the calls of its model below it; each is paid for once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent_image.contract import SCOPE
from console.trace.document import steps as documents
from console.trace.session import GuardStep, ModelCall, ToolCall
from console.trace.step_lines import lines as step_lines
from tests.console.trace.built import built, every, is_event, outline
from tests.console.trace.trails import asked, chat, event, invocation, span, tool

AFTER, STOP = "agent/PostToolUse/1", "agent/Stop/1"


def hooked(hook: str, ruling: str, span_id: str, parent_id: str, **more: Any) -> dict[str, Any]:
    """Build a hook's span."""
    told = {"rastro__hook": hook, "rastro__decision": ruling, "seconds": 1, **more}
    return span("guard hook", span_id, parent_id, scope=SCOPE, **told)


def agent(span_id: str, parent_id: str, **more: Any) -> dict[str, Any]:
    return span("invoke_agent rastro-hook", span_id, parent_id, gen_ai__operation__name="invoke_agent", **more)


def call(seq: int, span_id: str, hook: str = "", **fields: Any) -> dict[str, Any]:
    """Build the event of a model's call."""
    whose = {"hook": hook} if hook else {}
    tokens = {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0}
    told = {"model": "m", "tokens": tokens, "cost_usd": 0.001, "latency_ms": 100, "is_error": False}
    return event("llm_call", seq, span_id=span_id, **{**told, **whose, **fields})


def run() -> list[dict[str, Any]]:
    """One call of a tool, a hook that read the transcript about it, a hook about the answer, and the answer again."""
    return [
        invocation("prompt", "run-1", "i", start=0, seconds=20),
        chat("c1", "i", start=1),
        call(1, "c1", after=1.5),
        # The hook's model counts its calls by itself, and began before the tool's own span, as before a call.
        hooked(AFTER, "allowed", "h1", "i", start=2, rastro__tool="look"),
        agent("a1", "h1", start=2.1),
        chat("c2", "a1", start=2.2),
        tool("ReadFile", "use-1", "r1", "a1", start=2.4),
        call(2, "c2", AFTER, after=2.4),
        chat("c3", "a1", start=2.6),
        call(3, "c3", AFTER, after=2.8),
        tool("look", "use-1", "t1", "i", start=3),
        event("tool_call", 4, after=3, tool="look", tool_use_id="use-1", decision="allowed", zone="green"),
        event("hook", 5, after=3, hook=AFTER, decision="allowed", tool="look", tool_use_id="use-1"),
        event("tool_result", 6, after=3.5, tool="look", tool_use_id="use-1", decision="allowed", cost_usd=0),
        chat("c4", "i", start=4),
        call(7, "c4", after=4.5),
        hooked(STOP, "blocked", "h2", "i", start=5, rastro__reason="hook_blocked"),
        agent("a2", "h2", start=5.1),
        chat("c5", "a2", start=5.2),
        call(8, "c5", STOP, after=5.5),
        event("hook", 9, after=6, hook=STOP, decision="blocked", code="hook_blocked"),
        chat("c6", "i", start=7),
        call(10, "c6", after=7.5),
    ]


TREE = [
    "m",
    ["look", ["hook allowed", "m", "ReadFile", "m"]],
    "m",
    ["hook blocked", "m"],
    "m",
]


def test_a_verdict_stands_below_the_call_that_it_speaks_of_with_its_models_calls_below() -> None:
    """Of an answer it speaks among the calls."""
    (turn,) = built(run()).turns

    assert outline(turn.steps) == TREE
    verdicts = [step for step in every(built(run()), GuardStep) if step.event == "hook"]
    assert [(step.hook, step.ruling, step.tool, step.code) for step in verdicts] == [
        (AFTER, "allowed", "look", ""),
        (STOP, "blocked", "", "hook_blocked"),
    ]
    assert all(step.duration_ms == 1_000 for step in verdicts)


def test_the_tree_says_how_long_each_hook_took() -> None:
    """A run that waits for a hook is slow for no other reason that a reader could see."""
    (turn,) = built(run()).turns
    told = [[cell.text for cell in line.cells] for line in step_lines(turn.steps, None, None)]

    assert ["hook", "allowed", "look", f"hook {AFTER}", "1.0 s"] in told
    assert ["hook", "blocked", "hook_blocked", f"hook {STOP}", "1.0 s"] in told


def test_the_steps_add_up_to_the_turn_whoever_called_the_model() -> None:
    """A hook's look into the transcript has no price, and leaves nothing unknown."""
    (turn,) = built(run()).turns

    assert turn.cost_usd == Decimal("0.006")
    assert turn.tokens.input == 60
    assert [step.hook for step in every(built(run()), ModelCall)] == ["", AFTER, AFTER, "", STOP, ""]


def test_a_hooks_look_takes_no_events_of_the_agents_calls() -> None:
    """Though its model numbered it as the agent's did."""
    look, read = every(built(run()), ToolCall)

    assert (look.tool, look.ruling, look.zone, look.span_id) == ("look", "allowed", "green", "t1")
    assert (read.tool, read.ruling, read.zone, read.span_id) == ("ReadFile", "", "", "r1")


def test_where_there_are_no_spans_events_alone_tell_the_same() -> None:
    """Each model's call says whose it is."""
    session = built(one for one in run() if is_event(one))
    (turn,) = session.turns

    assert outline(turn.steps) == ["m", "m", "m", ["look", "hook allowed"], "m", "m", "hook blocked", "m"]
    assert turn.cost_usd == Decimal("0.006")
    assert [step.hook for step in every(session, ModelCall)] == ["", AFTER, AFTER, "", STOP, ""]
    assert [step.hook for step in every(session, GuardStep)] == [AFTER, STOP]


def test_where_there_are_no_events_spans_alone_tell_what_they_know() -> None:
    """Of which call a hook spoke, no span says: it stands among them, and is no call of a tool."""
    session = built(one for one in run() if not is_event(one))
    (turn,) = session.turns

    assert [step for step in outline(turn.steps) if isinstance(step, list)] == [
        ["hook allowed", "offline", "ReadFile", "offline"],
        ["hook blocked", "offline"],
    ]
    assert [(step.hook, step.event) for step in every(session, GuardStep)] == [(AFTER, "hook"), (STOP, "hook")]


def test_a_span_takes_the_event_of_its_own_hook_and_verdict() -> None:
    """A hook that fired twice has two of each; one whose span was lost keeps its event."""
    lines = run()
    lines += [
        event("hook", 20, after=8, hook=STOP, decision="allowed"),
        hooked(STOP, "allowed", "h3", "i", start=8),
        event("hook", 21, after=9, hook=STOP, decision="blocked", code="hook_timeout"),
    ]

    verdicts = [(step.span_id, step.ruling, step.code) for step in every(built(lines), GuardStep)]

    assert sorted(verdicts) == sorted(
        [
            ("h1", "allowed", ""),
            ("h2", "blocked", "hook_blocked"),
            ("h3", "allowed", ""),
            ("", "blocked", "hook_timeout"),
        ]
    )


@pytest.mark.parametrize("seconds", [0.1, 3.2])
def test_wherever_the_hooks_span_began_it_stands_below_its_call(seconds: float) -> None:
    """Before the call's own span, as it does before a call, or after, as it does after one."""
    lines = [
        {**one, "startTimeUnixNano": one["startTimeUnixNano"] + int(seconds * 10**9)}
        if one.get("spanId") in {"h1", "a1", "c2", "r1", "c3"}
        else one
        for one in run()
    ]
    lines = [one for one in lines if is_event(one)] + [one for one in lines if not is_event(one)][::-1]

    (turn,) = built(lines).turns

    assert ["look", ["hook allowed", "m", "ReadFile", "m"]] in outline(turn.steps)


def test_a_models_call_says_whose_it_is_in_text_and_in_json() -> None:
    """Only where it is a hook's."""
    (turn,) = built(run()).turns
    shown = [str(one) for one in step_lines(turn.steps, None, None)]

    assert sum(f"hook {STOP}" in line for line in shown) == 2
    models = [one for one in documents(turn.steps, None) if one["step"] == "model"]
    assert [one["hook"] for one in models] == [None, AFTER, AFTER, None, STOP, None]


def test_a_trail_without_hooks_is_as_it_was() -> None:
    """Nothing of this asks for a hook."""
    (turn,) = built(asked()).turns

    assert outline(turn.steps) == ["offline", ["search_knowledge", "retrieval KB12345678"], "offline"]
