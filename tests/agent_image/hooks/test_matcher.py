"""A matcher is held against the whole name of a tool, case and all."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.hooks.hook import Hook, HookEvent, HookLevel, HookType
from agent_image.hooks.matcher import MATCHER_LIMIT, is_matcher, matches


def hook(matcher: str | None) -> Hook:
    return Hook(
        level=HookLevel.AGENT,
        event=HookEvent.POST_TOOL_USE,
        number=1,
        type=HookType.COMMAND,
        matcher=matcher,
        script="",
    )


@pytest.mark.parametrize(
    ("matcher", "tool", "fires"),
    [
        ("refund", "refund", True),
        ("refund", "refund_order", False),
        ("refund", "my_refund", False),
        ("refund", "Refund", False),
        ("refund", "refund\n", False),
        ("Bash|ExecuteShellCommand", "Bash", True),
        ("Bash|ExecuteShellCommand", "ExecuteShellCommand", True),
        ("Bash|ExecuteShellCommand", "BashX", False),
        ("Bash|ExecuteShellCommand", "XExecuteShellCommand", False),
        ("a|ab", "ab", True),
        ("refund.*", "refund_order", True),
        ("^refund$", "refund", True),
        ("(?i)refund", "REFUND", True),
        ("[[a]x", "[x", True),
        ("*", "anything at all", True),
        ("*", "", True),
        (".*", "anything", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        (None, "refund", False),
    ],
)
def test_the_whole_name_is_matched(matcher: str | None, tool: str, *, fires: bool) -> None:
    """`a|ab` is anchored as a whole, `*` stands for all, and a hook without a matcher fires for no tool."""
    assert matches(hook(matcher), tool) is fires


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_plain_name_matches_itself_alone(name: str, other: str) -> None:
    """Whatever the name is."""
    assert matches(hook(re.escape(name)), name)
    assert matches(hook(re.escape(name)), other) is (name == other)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("*", True),
        ("a" * MATCHER_LIMIT, True),
        ("a" * (MATCHER_LIMIT + 1), False),
        ("", False),
        (" ", False),
        ("(", False),
        ("**", False),
        ("a{99999999999}", False),
        ("(" * (MATCHER_LIMIT // 2) + ")" * (MATCHER_LIMIT // 2), None),
    ],
)
def test_a_matcher_compiles(text: str, *, holds: bool | None) -> None:
    """What does not compile is none; what is too deep to compile raises nothing."""
    assert is_matcher(text) in ([holds] if holds is not None else [True, False])
