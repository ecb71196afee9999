"""What a hook reads has the documented fields, and a few of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.checkpoint import Call
from agent_image.guard.verdict import Outcome
from agent_image.hooks.context import after_context, before_context, result_text, stop_context
from tests.agent_image.hooks.scenes import scene

PLACE = Path("hook/transcript.txt")
COMMON = {
    "agent_name": "my_agent",
    "current_turn": 5,
    "max_turns": 50,
    "execution_summary": "hook/transcript.txt",
}


def call(**arguments: Any) -> Call:
    return Call(session_id="s", message="m", tool_use_id="t-1", tool="ExecutePythonCode", arguments=arguments)


def result(*blocks: Any, status: str = "success") -> dict[str, Any]:
    return {"status": status, "content": list(blocks)}


@pytest.mark.parametrize(("sent_back", "active"), [(0, False), (1, True), (3, True)])
def test_a_stop_hook_reads_the_answer(sent_back: int, *, active: bool) -> None:
    """And whether, and how often, an answer was sent back."""
    assert stop_context(scene(sent_back), PLACE, "Here is my response...") == {
        "hook_event_name": "Stop",
        **COMMON,
        "final_output": "Here is my response...",
        "stop_hook_active": active,
        "stop_rejection_count": sent_back,
    }


@pytest.mark.parametrize(
    ("succeeded", "ruling"),
    [(True, "allowed"), (True, "approved"), (False, "allowed"), (False, "blocked"), (False, "rejected")],
)
def test_a_hook_after_a_tool_reads_the_result(ruling: str, *, succeeded: bool) -> None:
    """The tool, its input and result, whether it succeeded, and what became of the call at the gate."""
    outcome = Outcome(call(code="print(2+2)"), result({"text": "4"}), succeeded, ruling)

    assert after_context(scene(), PLACE, outcome) == {
        "hook_event_name": "PostToolUse",
        **COMMON,
        "tool_name": "ExecutePythonCode",
        "tool_input": {"code": "print(2+2)"},
        "tool_result": "4",
        "tool_succeeded": succeeded,
        "tool_decision": ruling,
    }


def test_a_hook_before_a_tool_reads_the_call() -> None:
    """With the id that tells it from another of the same tool."""
    assert before_context(scene(), PLACE, call(code="print(2+2)")) == {
        "hook_event_name": "PreToolUse",
        **COMMON,
        "tool_name": "ExecutePythonCode",
        "tool_input": {"code": "print(2+2)"},
        "tool_use_id": "t-1",
    }


@pytest.mark.parametrize(
    ("given_result", "text"),
    [
        (result(), ""),
        ({"status": "success"}, ""),
        ({"status": "success", "content": None}, ""),
        (result({"text": "a"}, {"text": "b\nc"}), "a\nb\nc"),
        (result({"text": ""}, {"text": "b"}), "\nb"),
        (result({"json": {"b": 1, "a": [1.5, None, "é"]}}), '{"a":[1.5,null,"é"],"b":1}'),
        (result({"json": "4"}), '"4"'),
        (result({"text": "a"}, {"json": 4}), "a\n4"),
        (result({"image": {"format": "png"}}), "(image)"),
        (result("loose"), ""),
    ],
)
def test_a_result_is_one_text(given_result: dict[str, Any], text: str) -> None:
    """A line for each block: JSON is compact, and what is no text stands as its kind."""
    assert result_text(given_result) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_a_hook_reads_what_runs(arguments: dict[str, Any]) -> None:
    """Nothing of the arguments is left out, at any depth."""
    assert before_context(scene(), PLACE, call(x=arguments))["tool_input"] == {"x": arguments}


def test_deep_arguments_stay_whole() -> None:
    """A command may lie deeper than what events write down."""
    deep: Any = "rm -rf /"
    for _ in range(60):
        deep = {"inner": deep}

    assert "rm -rf /" in json.dumps(before_context(scene(), PLACE, call(x=deep)))


@pytest.mark.parametrize("value", [float("nan"), b"bytes", {1: 2}, "\ud800"])
def test_arguments_that_are_no_json_are_told_as_json(value: Any) -> None:
    """Such a call does not run; a hook hears of it all the same."""
    outcome = Outcome(call(x=value), result({"text": "no"}, status="error"), succeeded=False, ruling="blocked")

    json.dumps(after_context(scene(), PLACE, outcome), allow_nan=False).encode()
