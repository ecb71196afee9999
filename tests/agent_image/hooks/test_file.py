"""A file of hooks is read whole: every default filled in, or every fault at once."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from agent_image.hooks.hook import FailMode, Hook, HookEvent, HookLevel, HookType
from tests.agent_image.hooks.hook_files import AGENT, faults, faults_of, file_of, plainest, read, read_value

PRE, POST, STOP = HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE, HookEvent.STOP
PROMPT, COMMAND = HookType.PROMPT, HookType.COMMAND
EVERY = list(product(HookEvent, HookType))
MATCHER = "* in quotes, or a regular expression of 1,000 characters or fewer"
OPTIONS = "type, prompt, model, command, script, matcher, timeout, failMode, maxRejections"

DOCUMENTED = f"""\
api_version: azuresre.ai/v2
kind: ExtendedAgent
metadata:
  name: {AGENT}
spec:
  instructions: |
    Answer questions about orders.
  handoffDescription: ""
  enableVanillaMode: true
  hooks:
    Stop:
      - type: prompt
        prompt: |
          Does the answer name an order?
          $ARGUMENTS
          Say {{"ok": true}}, or {{"ok": false, "reason": "Name the order."}}
        timeout: 30

    PostToolUse:
      - type: command
        matcher: "refund|ship_order"
        timeout: 45
        failMode: block
        script: |
          #!/usr/bin/env python3
          import json, sys

          if "99999" in json.load(sys.stdin)["tool_result"]:
              print(json.dumps({{"decision": "block", "reason": "No such order."}}))
"""
TOP = """\
hooks:
  PreToolUse:
    - prompt: May this order be shipped?
      model: judge
      matcher: ship_order
      failMode: allow
  PostToolUse:
    - type: command
      matcher: "*"
      command: jq -r .tool_name >&2
  Stop:
    - type: command
      failMode: block
      maxRejections: 2
      script: |
        #!/bin/bash
        grep -q "order" || { echo "Name the order." >&2; exit 2; }
"""


def test_a_documented_file_loads() -> None:
    """As an agent's document declares it; what else its spec holds is not read."""
    after, stop = read(DOCUMENTED, HookLevel.AGENT)

    assert (stop.event, stop.type, stop.timeout, stop.fail_mode) == (STOP, PROMPT, 30, FailMode.ALLOW)
    assert stop.prompt is not None
    assert stop.prompt.splitlines()[1] == "$ARGUMENTS"
    assert (after.event, after.type, after.timeout, after.fail_mode) == (POST, COMMAND, 45, FailMode.BLOCK)
    assert after.matcher == "refund|ship_order"
    assert after.script is not None
    assert after.script.startswith("#!/usr/bin/env python3\nimport json")


def test_a_file_of_hooks_alone_loads() -> None:
    """Those before a tool come first; each has its place among its event's as its number."""
    assert read(TOP, HookLevel.DEPLOYMENT) == (
        Hook(
            level=HookLevel.DEPLOYMENT,
            event=PRE,
            number=1,
            type=PROMPT,
            matcher="ship_order",
            timeout=30,
            fail_mode=FailMode.ALLOW,
            model="judge",
            prompt="May this order be shipped?",
        ),
        Hook(
            level=HookLevel.DEPLOYMENT,
            event=POST,
            number=1,
            type=COMMAND,
            matcher="*",
            timeout=30,
            fail_mode=FailMode.ALLOW,
            command="jq -r .tool_name >&2",
        ),
        Hook(
            level=HookLevel.DEPLOYMENT,
            event=STOP,
            number=1,
            type=COMMAND,
            timeout=30,
            fail_mode=FailMode.BLOCK,
            script='#!/bin/bash\ngrep -q "order" || { echo "Name the order." >&2; exit 2; }\n',
            max_rejections=2,
        ),
    )


@pytest.mark.parametrize("level", HookLevel)
@pytest.mark.parametrize("event", HookEvent)
def test_every_event_has_hooks_at_both_levels(level: HookLevel, event: HookEvent) -> None:
    """The trail names each by its level, its event and its place."""
    document = file_of(event, plainest(event, PROMPT) | {"prompt": "a"}, plainest(event, PROMPT) | {"prompt": "b"})
    hooks = read(json.dumps(document), level)

    assert [hook.id for hook in hooks] == [f"{level}/{event}/1", f"{level}/{event}/2"]
    assert [hook.prompt for hook in hooks] == ["a", "b"]


@pytest.mark.parametrize(
    ("event", "kind", "mode", "rejections"),
    [
        (PRE, PROMPT, FailMode.BLOCK, None),
        (PRE, COMMAND, FailMode.BLOCK, None),
        (POST, PROMPT, FailMode.ALLOW, None),
        (POST, COMMAND, FailMode.ALLOW, None),
        (STOP, PROMPT, FailMode.ALLOW, 3),
        (STOP, COMMAND, FailMode.ALLOW, 25),
    ],
)
def test_what_is_left_out_has_its_default(
    event: HookEvent, kind: HookType, mode: FailMode, rejections: int | None
) -> None:
    """A prompt, 30 seconds, the agent's own model; before a tool a hook that fails refuses."""
    (hook,) = read_value(file_of(event, plainest(event, kind)))

    assert (hook.type, hook.timeout, hook.fail_mode) == (kind, 30, mode)
    assert (hook.model, hook.max_rejections) == (None, rejections)


@pytest.mark.parametrize(("event", "kind"), EVERY)
@pytest.mark.parametrize(("seconds", "holds"), [(1, True), (300, True), (30.0, True), (0, False), (301, False),
    (-1, False), (1.5, False), (True, False), ("30", False), (None, False), ([30], False)])  # fmt: skip
def test_a_timeout_is_a_number_of_whole_seconds(event: HookEvent, kind: HookType, seconds: Any, *, holds: bool) -> None:
    """1 to 300."""
    assert (not faults_of(file_of(event, plainest(event, kind) | {"timeout": seconds}))) is holds
    if holds:
        assert read_value(file_of(event, plainest(event, kind) | {"timeout": seconds}))[0].timeout == int(seconds)


@pytest.mark.parametrize("kind", HookType)
@pytest.mark.parametrize(("number", "holds"), [(1, True), (25, True), (0, False), (26, False), (True, False),
    ("3", False), (2.5, False), (None, False)])  # fmt: skip
def test_max_rejections_is_a_small_number(kind: HookType, number: Any, *, holds: bool) -> None:
    """1 to 25, for prompts and for commands."""
    document = file_of(STOP, plainest(STOP, kind) | {"maxRejections": number})

    assert (not faults_of(document)) is holds
    if holds:
        assert read_value(document)[0].max_rejections == number


@pytest.mark.parametrize(("event", "kind"), EVERY)
@pytest.mark.parametrize(("mode", "holds"), [("allow", True), ("block", True), ("Allow", False), ("deny", False),
    (True, False), ("", False), (None, False)])  # fmt: skip
def test_fail_mode_is_one_of_two(event: HookEvent, kind: HookType, mode: Any, *, holds: bool) -> None:
    """In every event."""
    document = file_of(event, plainest(event, kind) | {"failMode": mode})

    assert (not faults_of(document)) is holds
    if holds:
        assert read_value(document)[0].fail_mode.value == mode


@pytest.mark.parametrize(("event", "kind"), EVERY)
@pytest.mark.parametrize("option", ["prompt", "model", "command", "script", "matcher", "maxRejections"])
def test_an_option_stands_where_it_belongs(event: HookEvent, kind: HookType, option: str) -> None:
    """A model's with a model, a program's with a program, a matcher with tools, a ceiling with Stop."""
    value: Any = 3 if option == "maxRejections" else "a"
    options = plainest(event, kind)
    if option == "script":
        options.pop("command", None)
    belongs = {
        "prompt": kind is PROMPT,
        "model": kind is PROMPT,
        "command": kind is COMMAND,
        "script": kind is COMMAND,
        "matcher": event is not STOP,
        "maxRejections": event is STOP,
    }[option]
    found = faults_of(file_of(event, options | {option: value}))

    assert (found == []) is belongs
    if not belongs:
        assert found[0].startswith(f"hooks.{event}[0].{option} does not belong here; allowed: ")


@pytest.mark.parametrize(("event", "kind"), EVERY)
def test_what_a_hook_needs_is_asked_for(event: HookEvent, kind: HookType) -> None:
    """A prompt or a program, and a matcher with tools."""
    path = f"hooks.{event}[0]"
    needed = (
        [f"{path}.prompt is missing; allowed: a text"]
        if kind is PROMPT
        else [f"{path}.command is missing; allowed: command or script"]
    )
    matcher = f"{path}.matcher is missing; allowed: {MATCHER}"

    assert faults_of(file_of(event, {"type": kind.value})) == [*needed, *([] if event is STOP else [matcher])]


@pytest.mark.parametrize("event", HookEvent)
def test_a_command_and_a_script_exclude_each_other(event: HookEvent) -> None:
    """One program runs."""
    options = plainest(event, COMMAND) | {"script": "true"}

    assert faults_of(file_of(event, options)) == [
        f"hooks.{event}[0].script stands beside command; allowed: one of the two"
    ]


@pytest.mark.parametrize("event", [PRE, POST])
@pytest.mark.parametrize("matcher", ["", " ", "\n", None])
def test_an_empty_matcher_is_a_dead_hook(event: HookEvent, matcher: str | None) -> None:
    """Azure lets it match nothing; here the file is refused."""
    assert faults_of(file_of(event, plainest(event, COMMAND) | {"matcher": matcher})) == [
        f"hooks.{event}[0].matcher matches nothing: a dead hook; allowed: {MATCHER}"
    ]


@pytest.mark.parametrize("matcher", ["(", "**", "[", "a" * 1_001, "a{99999999999}", 3, ["*"], True, "\0"])
def test_a_matcher_is_a_regular_expression(matcher: Any) -> None:
    """One that compiles, and is not too long."""
    (fault,) = faults_of(file_of(POST, plainest(POST, COMMAND) | {"matcher": matcher}))

    assert fault.startswith("hooks.PostToolUse[0].matcher is ")


@pytest.mark.parametrize("option", ["command", "script"])
@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a" * 65_536, True),
        ("a" * 65_537, False),
        ("é" * 32_768, True),
        ("é" * 32_768 + "a", False),
        ("", False),
        (" \n", False),
        ("a\0b", False),
        (3, False),
        (None, False),
    ],
    ids=lambda value: f"{type(value).__name__}-{len(value)}" if isinstance(value, str) else str(value),
)
def test_a_program_is_a_text_of_64_kilobytes(option: str, text: Any, *, holds: bool) -> None:
    """Bytes count, not characters, and a NUL would end it early."""
    document = file_of(STOP, {"type": "command", option: text})

    assert (not faults_of(document)) is holds
    if holds:
        assert getattr(read_value(document)[0], option) == text


@pytest.mark.parametrize(
    ("script", "holds"),
    [
        ("true", True),
        ("#!/bin/bash\ntrue", True),
        ("#!/bin/bash", True),
        ("#! /bin/bash \r\ntrue", True),
        ("#!/usr/local/bin/bash\n", True),
        ("#!/usr/bin/env bash\ntrue", True),
        ("#!/bin/bash -eu\ntrue", True),
        ("#!/usr/bin/env -S bash -e -u\ntrue", True),
        ("#!/usr/bin/python3\nprint()", True),
        ("#!/usr/bin/env python3\nprint()", True),
        ("#!/usr/bin/env python3 -u\nprint()", True),
        ("# a comment\n#!/bin/sh\n", True),
        ("#!/bin/sh\ntrue", False),
        ("#!/usr/bin/env node\n", False),
        ("#!/usr/bin/env python\n", False),
        ("#!/usr/bin/env python3.11\n", False),
        ("#!bash\n", False),
        ("#!/bin/bash -c\n", False),
        ("#!/bin/bash -\n", False),
        ("#!/bin/bash script\n", False),
        ("#!\n", False),
        ("\n#!/bin/bash\n", False),
        ("  #!/usr/bin/env python3\n", False),
    ],
)
def test_a_script_names_bash_or_python(script: str, *, holds: bool) -> None:
    """On its first line, or bash runs it; one that stands lower would be lost in silence."""
    assert (not faults_of(file_of(STOP, {"type": "command", "script": script}))) is holds


@pytest.mark.parametrize("option", ["prompt", "model"])
@pytest.mark.parametrize("value", ["", " ", 1, True, None, ["a"], {"a": 1}, "a\0"])
def test_a_prompt_and_a_model_are_texts(option: str, value: Any) -> None:
    """That say something."""
    (fault,) = faults_of(file_of(STOP, plainest(STOP, PROMPT) | {option: value}))

    assert fault.startswith(f"hooks.Stop[0].{option} ")


def test_half_a_character_reaches_no_program() -> None:
    """YAML can write one, and no system call can take it."""
    assert faults('hooks: {Stop: [{type: command, command: "\\ud800"}]}') == [
        "hooks.Stop[0].command is not what it may be; allowed: a text of 65,536 bytes or fewer"
    ]


@pytest.mark.parametrize("kind", ["Prompt", "http", "", None, True, ["prompt"]])
def test_a_type_is_one_of_two(kind: Any) -> None:
    """No fault follows from a guess what the hook was meant to be."""
    (fault,) = faults_of(file_of(STOP, {"type": kind, "command": "true"}))

    assert fault.startswith("hooks.Stop[0].type ")
    assert "; allowed: prompt, command" in fault


def test_every_fault_is_told_at_once() -> None:
    """With its path and what is allowed, the file first; a prompt and a program are not repeated."""
    text = """\
hooks:
  PreToolUse:
    - prompt: "secret\\0prompt"
      matcher: ""
      timeout: 0
      failmode: block
  PostToolUse: {}
  Stop:
    - echo
    - type: command
      command: true
      maxRejections: 26
  stop: []
"""
    assert faults(text) == [
        "hooks.stop is no event; allowed: PreToolUse, PostToolUse, Stop",
        f"hooks.PreToolUse[0].failmode is no setting; allowed: {OPTIONS}",
        f"hooks.PreToolUse[0].matcher matches nothing: a dead hook; allowed: {MATCHER}",
        "hooks.PreToolUse[0].timeout is 0; allowed: a whole number, 1 to 300",
        "hooks.PreToolUse[0].prompt is not what it may be; allowed: a text",
        "hooks.PostToolUse is no list; allowed: a list of hooks",
        "hooks.Stop[0] is no object; allowed: the options of a hook",
        "hooks.Stop[1].command is not what it may be; allowed: a text of 65,536 bytes or fewer",
        "hooks.Stop[1].maxRejections is 26; allowed: a whole number, 1 to 25",
    ]


BY_EVENT = "an object of lists of hooks, by event: PreToolUse, PostToolUse, Stop"


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ([], [f"is no object; allowed: hooks: {BY_EVENT}"]),
        ("hooks", [f"is no object; allowed: hooks: {BY_EVENT}"]),
        ({}, [f"hooks is missing; allowed: {BY_EVENT}"]),
        ({"hooks": None}, [f"hooks is missing; allowed: {BY_EVENT}"]),
        ({"hooks": []}, [f"hooks is no object; allowed: {BY_EVENT}"]),
        ({"hook": {}}, ["hook is not known; allowed: hooks", f"hooks is missing; allowed: {BY_EVENT}"]),
        ({"hooks": {}, "version": 1}, ["version is not known; allowed: hooks"]),
        ({"hooks": {"Start": []}}, ["hooks.Start is no event; allowed: PreToolUse, PostToolUse, Stop"]),
        ({"hooks": {"Stop": None}}, ["hooks.Stop is no list; allowed: a list of hooks"]),
        ({"hooks": {"Stop": [None]}}, ["hooks.Stop[0] is no object; allowed: the options of a hook"]),
        ({"hooks": {}}, []),
        ({"hooks": {"Stop": []}}, []),
        ({"kind": "ExtendedAgent", "spec": {"hooks": {}}}, []),
        ({"kind": "ExtendedAgent", "metadata": {}, "spec": {"hooks": {}, "tools": [1]}}, []),
        ({"kind": "ExtendedAgent", "metadata": {"name": AGENT}, "spec": {"hooks": {}}}, []),
        (
            {"kind": "ExtendedAgent", "metadata": {"name": "other"}, "spec": {"hooks": {}}},
            [f"metadata.name is 'other'; allowed: {AGENT}, the agent's name in its code; or leave it out"],
        ),
        (
            {"kind": "ExtendedAgent", "metadata": {"name": None}, "spec": {"hooks": {}}},
            [f"metadata.name is missing; allowed: {AGENT}, the agent's name in its code; or leave it out"],
        ),
        (
            {"kind": "ExtendedAgent", "metadata": "x", "spec": {"hooks": {}}},
            ["metadata is no object; allowed: an object"],
        ),
        ({"kind": "Agent", "spec": {"hooks": {}}}, ["kind is not ExtendedAgent; allowed: ExtendedAgent"]),
        ({"spec": {"hooks": {}}}, ["kind is not ExtendedAgent; allowed: ExtendedAgent"]),
        ({"kind": "ExtendedAgent", "spec": {}}, [f"spec.hooks is missing; allowed: {BY_EVENT}"]),
        ({"kind": "ExtendedAgent", "spec": []}, ["spec is no object; allowed: an object"]),
        ({"kind": "ExtendedAgent"}, ["spec is missing; allowed: an object"]),
        (
            {"kind": "ExtendedAgent", "spec": {"hooks": {}}, "hooks": {}},
            ["hooks stands beside spec; allowed: one of the two"],
        ),
        (
            {"kind": "ExtendedAgent", "spec": {"hooks": {"Stop": [{}]}}},
            ["spec.hooks.Stop[0].prompt is missing; allowed: a text"],
        ),
    ],
)
def test_hooks_stand_at_the_top_or_in_a_spec(document: Any, found: list[str]) -> None:
    """In the document of this agent, if it names one."""
    assert faults_of(document) == found


def test_faults_of_the_yaml_begin_with_the_file_too() -> None:
    """Before anything of hooks is looked at."""
    assert faults("hooks: {Stop: [], Stop: []}\n") == ["line 1, column 19: hooks.Stop stands twice; allowed: once"]


def test_options_may_be_shared() -> None:
    """An anchor and its aliases, as YAML has them."""
    hooks = read("hooks: {Stop: [&check {prompt: Done}, *check]}")

    assert [hook.prompt for hook in hooks] == ["Done", "Done"]


@pytest.mark.parametrize("matcher", ["refund", "*", "refund|ship", "mcp__.*", "[a-z_]+", r"\*"])
@pytest.mark.parametrize("event", [PRE, POST])
def test_matchers_are_kept_as_they_are(event: HookEvent, matcher: str) -> None:
    """They are anchored where they are used."""
    assert read_value(file_of(event, plainest(event, PROMPT) | {"matcher": matcher}))[0].matcher == matcher
