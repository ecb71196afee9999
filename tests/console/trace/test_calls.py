"""Each call is one step, whatever is left of it: its span, its events, the guard's span, or some of them."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import pytest

from console.trace.session import GuardStep, ModelCall, OtherStep, Retrieval, Tokens, ToolCall
from tests.console.trace.built import built, codes, every, is_event, outline
from tests.console.trace.trails import (
    BOTOCORE,
    CHECKPOINT_ID,
    chat,
    event,
    guarded,
    invocation,
    retrieval,
    slim,
    span,
    story,
    tool,
)


def turn_of(*documents: dict[str, Any]) -> list[Any]:
    """Outline the only turn of these lines, below an invocation's span."""
    (turn,) = built([invocation("prompt", "run-1", "i1", seconds=60), *documents]).turns
    return outline(turn.steps)


def test_spans_alone_show_the_same_calls() -> None:
    """Without events the tree is the same, and what only events say is unknown."""
    found = built(one for one in story() if not is_event(one))
    assert [outline(turn.steps) for turn in found.turns] == [
        ["offline", ["search_knowledge", "retrieval KB12345678"], "offline"],
        ["offline", ["refund_order", "guard asked"]],
        ["refund_order", "offline"],
    ]
    call = next(every(found, ModelCall))
    assert (call.cost_usd, call.stop_reason, call.tokens) == (None, "", Tokens(100, 10))
    searched, refund, _ = every(found, ToolCall)
    assert (searched.zone, searched.ruling, searched.cost_usd, searched.arguments.why) == (
        "", "", None, "not in the trail",
    )  # fmt: skip
    assert (refund.zone, refund.ruling) == ("red", "asked")
    assert codes(found) == ["no_events"]


def test_events_alone_show_the_same_calls() -> None:
    """Without spans the tree is the same but for what was retrieved."""
    found = built(one for one in story() if is_event(one))
    assert [outline(turn.steps) for turn in found.turns] == [
        ["offline", "search_knowledge", "offline"],
        ["offline", ["refund_order", "guard asked"]],
        [["refund_order", "guard approved"], "offline"],
    ]
    call = next(every(found, ModelCall))
    assert (call.span_id, call.duration_ms, call.cost_usd) == ("", Decimal(1000), Decimal("0.001"))
    assert [(turn.outcome, turn.duration_ms) for turn in found.turns] == [
        ("completed", Decimal(8400)), ("suspended", Decimal(1900)), ("completed", Decimal(3900)),
    ]  # fmt: skip
    assert codes(found) == ["no_invocation"]


@pytest.mark.parametrize("lost", range(len(story())))
def test_one_lost_line_changes_nothing_but_what_it_said(lost: int) -> None:
    """Every call is still one step."""
    found = built(one for n, one in enumerate(story()) if n != lost)
    assert len(found.turns) == 3
    counts = [sum(1 for _ in every(found, kind)) for kind in (ModelCall, ToolCall, OtherStep)]
    assert counts == [4, 3, 0]
    assert len([*every(found, Retrieval)]) == (story()[lost].get("spanId") != "r1")


def test_the_aws_clients_span_of_a_models_call_is_the_same_call() -> None:
    """One call of a model, with what either span knows."""
    inner = span("chat amazon.nova", "b1", "c1", scope=BOTOCORE, kind="CLIENT", start=1, gen_ai__operation__name="chat",
                 gen_ai__response__finish_reasons=["end_turn"], aws__region="eu-west-1")  # fmt: skip
    found = built([invocation("prompt", "run-1", "i1"), chat("c1", "i1", start=1), inner, span("x", "x1", "b1")])
    (call,) = every(found, ModelCall)
    assert (call.span_id, call.stop_reason, call.attributes["aws.region"]) == ("c1", "end_turn", "eu-west-1")
    assert outline(call.children) == ["x"]


def test_an_aws_clients_second_try_is_a_call_of_its_own() -> None:
    """Two spans below one call are two exchanges: neither is swallowed."""
    tries = [
        span(
            "chat m", f"b{n}", "c1", scope=BOTOCORE, start=n, gen_ai__operation__name="chat", gen_ai__request__model="m"
        )
        for n in (1, 2)
    ]
    assert turn_of(chat("c1", "i1", start=1), *tries) == [["offline", "m", "m"]]


def test_an_aws_clients_span_stands_for_an_outer_one_that_is_lost() -> None:
    """The event names the outer span, which the inner one names as its parent."""
    inner = span("chat m", "b1", "c1", scope=BOTOCORE, start=1, gen_ai__operation__name="chat")
    told = event("llm_call", 2, after=2, span_id="c1", model="m", cost_usd=0.5)
    found = built([invocation("prompt", "run-1", "i1"), inner, told])
    (call,) = every(found, ModelCall)
    assert (call.span_id, call.cost_usd) == ("b1", Decimal("0.5"))


def test_the_aws_clients_span_of_a_retrieval_is_the_same_retrieval() -> None:
    """It says nothing more, unless it failed; any other call below stays."""
    inner: dict[str, Any] = {"scope": BOTOCORE, "kind": "CLIENT", "rpc__method": "Retrieve", "start": 1}
    denied = span("Bedrock Agent Runtime.Retrieve", "b1", "r1", status="ERROR", error__type="AccessDenied", **inner)
    other = span("S3.GetObject", "b2", "r1", scope=BOTOCORE, start=2)
    found = built([invocation("prompt", "run-1", "i1"), retrieval("r1", "i1", ()), denied, other])
    (read,) = every(found, Retrieval)
    assert (read.error, outline(read.children)) == ("AccessDenied", ["S3.GetObject"])


@pytest.mark.parametrize(
    ("ruling", "code"), [("blocked", "loop"), ("rejected", ""), ("cancelled", ""), ("expired", ""), ("replayed", "")]
)
def test_a_call_that_was_not_let_run_is_shown_as_what_it_is(ruling: str, code: str) -> None:
    """It has no span; the guard's and the event of its answer are one step below it, and it is no failure."""
    told = event("tool_result", 5, after=2.1, tool="refund_order", tool_use_id="use-2", zone="red", decision=ruling,
                 is_error=True, result=slim(20), **({"code": code} if code else {}))  # fmt: skip
    found = built([invocation("prompt", "run-1", "i1"), guarded(ruling, "refund_order", "a1", "i1", start=2), told])
    (call,) = every(found, ToolCall)
    assert (call.ruling, call.error, call.result.size) == (ruling, "", 20)
    (said,) = every(found, GuardStep)
    assert (said.span_id, said.ruling, said.code) == ("a1", ruling, code)


def test_a_call_in_doubt_is_shown_as_that() -> None:
    """It ran, nobody knows to what end: the ruling is the last word, beside who approved it."""
    red: dict[str, Any] = {"tool": "refund_order", "tool_use_id": "use-2", "zone": "red", "checkpoint_id": "k1"}
    documents = [
        tool("refund_order", "use-2", "t1", "i1", start=1, status="ERROR"),
        guarded("in_doubt", "refund_order", "a1", "i1", start=1.6, rastro__checkpoint="k1"),
        event("tool_call", 4, after=1, **red, decision="approved", approver="maria"),
        event("tool_result", 5, after=1.5, **red, decision="in_doubt", is_error=True, result=slim(9)),
        event("gate", 6, after=1.5, **red, decision="in_doubt"),
    ]
    found = built([invocation("prompt", "run-1", "i1"), *documents])
    (call,) = every(found, ToolCall)
    assert (call.ruling, call.error) == ("in_doubt", "error")
    assert outline(call.children) == ["guard approved", "guard in_doubt"]
    assert [one.span_id for one in every(found, GuardStep)] == ["", "a1"]


def test_an_edited_call_without_its_events_is_still_one_call() -> None:
    """The guard's span stands beside the tool's, and speaks of it."""
    beside = guarded("edited", "refund_order", "a1", "i1", start=1, rastro__checkpoint="k1")
    assert turn_of(beside, tool("refund_order", "use-2", "t1", "i1", start=1.1)) == [["refund_order", "guard edited"]]


def test_a_sweep_speaks_of_the_call_that_waited() -> None:
    """Its event knows the checkpoint alone, in a chain of its own."""
    swept = event("gate", 1, after=9_000, run="run-2", chain=f"sweep:{CHECKPOINT_ID}", trace_id="", tool="refund_order",
                  zone="red", decision="expired", checkpoint_id=CHECKPOINT_ID)  # fmt: skip
    found = built([one for one in story() if one.get("run") != "run-3" and one.get("traceId") != "c3" * 16] + [swept])
    *_, paused = found.turns
    assert outline(paused.steps) == ["offline", ["refund_order", "guard asked", "guard expired"]]
    (call,) = (one for one in every(found, ToolCall) if one.tool == "refund_order")
    assert call.ruling == "expired"
    assert found.notes == ()


def test_two_blocked_calls_of_one_tool_are_two() -> None:
    """The guard's spans are told apart by their order, however many there are."""
    spans = [guarded("blocked", "look", f"a{n}", "i1", start=n) for n in range(1, 4)]
    events = [
        event("tool_result", n, after=n + 0.1, tool="look", tool_use_id=f"u{n}", decision="blocked", code=f"c{n}")
        for n in range(1, 4)
    ]
    for left in (spans[:2], spans):
        found = built([invocation("prompt", "run-1", "i1"), *left, *events])
        assert [(one.tool_use_id, one.ruling) for one in every(found, ToolCall)] == [
            ("u1", "blocked"), ("u2", "blocked"), ("u3", "blocked"),
        ]  # fmt: skip
        assert [one.code for one in every(found, GuardStep)] == ["c1", "c2", "c3"]
    lone = built([invocation("prompt", "run-1", "i1"), *spans, *events[:1]])
    assert [(one.tool, one.tool_use_id) for one in every(lone, ToolCall)] == [
        ("look", "u1"),
        ("look", ""),
        ("look", ""),
    ]


def test_a_guards_span_never_takes_another_checkpoints_event() -> None:
    """Both are shown, each as what it is."""
    asked = event("gate", 3, after=1.1, tool="refund_order", tool_use_id="u1", decision="asked", checkpoint_id="k1")
    found = built([
        invocation("prompt", "run-1", "i1"),
        guarded("asked", "refund_order", "a1", "i1", start=1, rastro__checkpoint="k2"),
        asked,
    ])  # fmt: skip
    assert sorted(one.checkpoint_id for one in every(found, GuardStep)) == ["k1", "k2"]
    assert len([*every(found, ToolCall)]) == 2


def test_a_tool_that_the_agent_does_not_have_is_one_call() -> None:
    """The guard's span does not repeat a name that the model made up; the event may."""
    told = event("tool_result", 4, after=1, tool="teleport", tool_use_id="u1", decision="blocked", code="unknown_tool")
    found = built([invocation("prompt", "run-1", "i1"), guarded("blocked", "unknown", "a1", "i1", start=1), told])
    (call,) = every(found, ToolCall)
    assert (call.tool, call.ruling) == ("teleport", "blocked")


def test_two_spans_under_one_calls_id_are_two_calls() -> None:
    """The events belong to the first."""
    found = built([
        invocation("prompt", "run-1", "i1"),
        tool("look", "u1", "t1", "i1", start=1),
        tool("look", "u1", "t2", "i1", start=2),
        event("tool_call", 2, after=1, tool="look", tool_use_id="u1", zone="green", decision="allowed"),
    ])  # fmt: skip
    assert [(one.span_id, one.zone) for one in every(found, ToolCall)] == [("t1", "green"), ("t2", "")]


def test_an_agent_below_a_tool_keeps_its_name() -> None:
    """A tool may be an agent of its own: which one is worth a line."""
    inner = [
        span("invoke_agent researcher", "g2", "t1", start=1.1, gen_ai__operation__name="invoke_agent"),
        span("execute_event_loop_cycle", "l2", "g2", start=1.2, gen_ai__operation__name="execute_event_loop_cycle"),
        chat("c2", "l2", start=1.3),
    ]
    assert turn_of(tool("research", "u1", "t1", "i1", start=1), *inner) == [
        ["research", ["invoke_agent researcher", "offline"]]
    ]


def test_a_wrapper_that_failed_alone_is_shown() -> None:
    """What nothing else says is not folded away."""
    cycle = span("execute_event_loop_cycle", "l1", "i1", start=1, status="ERROR")
    assert turn_of(cycle) == ["execute_event_loop_cycle"]
    assert turn_of(cycle, chat("c1", "l1", start=1, status="ERROR")) == ["offline"]


def test_memory_is_folded_away_and_other_spans_stay() -> None:
    """Strands' memory spans wrap; a database is a step."""
    assert turn_of(span("memory.search", "m1", "i1"), span("db query", "d1", "m1", scope="vendor")) == ["db query"]


def test_a_models_call_that_failed_says_so() -> None:
    """The code is the event's, else the span's."""
    told = event("llm_call", 2, after=2, span_id="c1", is_error=True, code="throttled", cost_usd=0)
    found = built([invocation("prompt", "run-1", "i1"), chat("c1", "i1", start=1, status="ERROR"), told])
    assert [one.error for one in every(found, ModelCall)] == ["throttled"]
    bare = built([invocation("prompt", "run-1", "i1"), chat("c1", "i1", status="ERROR", error__type="Timeout")])
    assert [one.error for one in every(bare, ModelCall)] == ["Timeout"]


def test_every_half_of_the_lines_shows_every_fact_once() -> None:
    """Whatever half of a turn's lines is there, no call is told twice."""
    documents = [one for one in story() if one.get("run") == "run-2" or one.get("traceId") == "b2" * 16]
    for half in itertools.combinations(documents, len(documents) // 2):
        found = built(half)
        assert len([*every(found, ModelCall)]) <= 1
        assert len([*every(found, ToolCall)]) <= 1
        assert len([*every(found, GuardStep)]) <= 1
