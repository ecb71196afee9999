"""Each difference from the Azure format is listed, and does what the list says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest

from agent_image.guard.checkpoint import Call
from agent_image.guard.verdict import UNSAID, Outcome, Say
from agent_image.hooks.answer import CUT, cut, read_answer
from agent_image.hooks.context import after_context, before_context
from agent_image.hooks.deviations import DEVIATIONS, Deviation
from agent_image.hooks.hook import FailMode, HookEvent, HookFailed, HookFault, HookLevel, HookType
from tests.agent_image.hooks.hook_files import faults, faults_of, file_of, plainest, read_value
from tests.agent_image.hooks.scenes import scene

PRE, POST, STOP = HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE, HookEvent.STOP
PLACE = Path("transcript.txt")
CALL = Call(session_id="s", message="m", tool_use_id="t-1", tool="look", arguments={})
ELSEWHERE: Final = {
    "a script of Python that is not there",
    "additionalContext of several hooks",
    "where hooks' words stand",
    "execution_summary",
}
"""Points of what runs hooks, and of the guard that hears them: held by the tests of those."""


def only(event: HookEvent, **options: Any) -> Any:
    (hook,) = read_value(file_of(event, plainest(event, HookType.COMMAND) | options))
    return hook


def events() -> bool:
    known = {event.value for event in HookEvent}
    return known == {"PreToolUse", "PostToolUse", "Stop"} and bool(faults_of({"hooks": {"Start": []}}))


def levels() -> bool:
    return [level.value for level in HookLevel] == ["deployment", "agent"]


def fail_mode() -> bool:
    modes = [only(event).fail_mode for event in (PRE, POST, STOP)]
    return (
        modes == [FailMode.BLOCK, FailMode.ALLOW, FailMode.ALLOW] and only(PRE, failMode="allow").fail_mode == "allow"
    )


def max_rejections() -> bool:
    return (only(STOP).max_rejections, only(STOP, maxRejections=4).max_rejections) == (25, 4)


def empty_matcher() -> bool:
    return all(faults_of(file_of(PRE, {"prompt": "a", "matcher": one})) for one in ("", None, "(", "a" * 1_001))


def unknown_options() -> bool:
    return all(
        faults_of(file_of(STOP, {"prompt": "a"} | one))
        for one in ({"failmode": "block"}, {"matcher": "a"}, {"command": "a"}, {"timeout": None})
    ) and bool(faults("hooks: {Stop: [], Stop: []}"))


def yaml() -> bool:
    refused = ("a: !!str b", "a: 1\n---\nb: 1", b"\xff", "hooks: {<<: {Stop: []}}", "hooks: {Stop: [{prompt: 1}]}")
    return all(faults(one) for one in refused) and not faults("hooks: {Stop: [{prompt: no}]}")


def agent_document() -> bool:
    document = {"kind": "ExtendedAgent", "metadata": {"name": "other"}, "spec": {"tools": 1, "hooks": {}}}
    return bool(faults_of(document)) and not faults_of({**document, "metadata": {}})


def model() -> bool:
    (hook,) = read_value(file_of(STOP, {"prompt": "a"}))
    return hook.model is None


def command() -> bool:
    return bool(faults_of(file_of(STOP, {"type": "command", "command": "a" * 65_537})))


def first_line() -> bool:
    texts = ("#!/bin/sh\n", "\n#!/bin/bash\n", "#!/usr/bin/env node")
    return all(faults_of(file_of(STOP, {"type": "command", "script": text})) for text in texts)


def strict_answers() -> bool:
    return all(
        _malformed(text)
        for text in ('Yes: {"ok": true}', '{"ok": true, "a": 1}', '{"ok": true, "ok": true}', '{"ok": 1}')
    )


def _malformed(text: str) -> bool:
    with pytest.raises(HookFailed) as caught:
        read_answer(text, POST)
    return caught.value.fault is HookFault.MALFORMED


def no_reason() -> bool:
    return read_answer('{"ok": false}', STOP).say is Say.DENY and bool(UNSAID)


def ask_and_edit() -> bool:
    said = read_answer('{"decision": "ask", "hookSpecificOutput": {"updatedInput": {"a": 1}}}', PRE)
    return (said.say, said.arguments) == (Say.ASK, {"a": 1})


def alert() -> bool:
    return read_answer('{"decision": "allow", "hookSpecificOutput": {"alert": "page"}}', POST).alert == "page"


def length() -> bool:
    return cut("a" * 9_000) == "a" * 8_000 + CUT


def other_calls() -> bool:
    context = after_context(scene(), PLACE, Outcome(CALL, {"content": []}, succeeded=False, ruling="rejected"))
    return (context["tool_succeeded"], context["tool_decision"]) == (False, "rejected")


def own_fields() -> bool:
    return before_context(scene(), PLACE, CALL)["tool_use_id"] == "t-1" and other_calls()


HERE: Final[Mapping[str, Callable[[], bool]]] = MappingProxyType(
    {
        "events": events,
        "levels": levels,
        "failMode of PreToolUse": fail_mode,
        "maxRejections of command hooks": max_rejections,
        "an empty matcher": empty_matcher,
        "unknown and misplaced options": unknown_options,
        "YAML": yaml,
        "the document of an agent": agent_document,
        "model": model,
        "command": command,
        "the first line of a script": first_line,
        "what answers may hold": strict_answers,
        "a refusal without a reason": no_reason,
        "ask and updatedInput": ask_and_edit,
        "alert": alert,
        "length of what is said": length,
        "PostToolUse on other calls": other_calls,
        "tool_use_id and tool_decision": own_fields,
    }
)


def test_every_difference_is_held_by_a_test() -> None:
    """One that nobody holds would be a claim."""
    points = [deviation.point for deviation in DEVIATIONS]

    assert len(points) == len(set(points))
    assert set(points) == set(HERE) | ELSEWHERE


@pytest.mark.parametrize("point", HERE)
def test_a_difference_is_one(point: str) -> None:
    """What the list says is what happens."""
    assert HERE[point]()


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda deviation: deviation.point)
def test_a_difference_is_told_in_sentences(deviation: Deviation) -> None:
    """What Azure does, what happens here, and why; they fit a row of a table."""
    for text in (deviation.azure, deviation.ours, deviation.why):
        assert text.endswith(".")
        assert not {"|", "\n"} & set(text)
