"""The rows of options say what the reader does: the schema and the documentation are made from them."""

from __future__ import annotations

from typing import Any

import pytest

from agent_image.hooks.hook import TOOL_EVENTS, FailMode, HookEvent, HookType
from agent_image.hooks.options import FAIL_MODES, REJECTIONS, ROWS, Option, OptionRow
from tests.agent_image.hooks.hook_files import faults_of, file_of, plainest, read_value

BY_KEY = {row.key: row for row in ROWS}
ALL, STOP = frozenset(HookEvent), frozenset({HookEvent.STOP})
PROMPT, COMMAND = frozenset({HookType.PROMPT}), frozenset({HookType.COMMAND})
BOTH = PROMPT | COMMAND
FIELDS = {Option.FAIL_MODE: "fail_mode", Option.MAX_REJECTIONS: "max_rejections"}
GOOD: dict[Option, Any] = {
    Option.TYPE: "prompt",
    Option.PROMPT: "a",
    Option.MODEL: "a",
    Option.COMMAND: "a",
    Option.SCRIPT: "a",
    Option.MATCHER: "a",
    Option.TIMEOUT: 7,
    Option.FAIL_MODE: "block",
    Option.MAX_REJECTIONS: 7,
}


def test_each_option_has_one_row() -> None:
    """In the order in which the documentation lists them."""
    assert [row.key for row in ROWS] == list(Option)


@pytest.mark.parametrize(
    ("option", "events", "types", "required", "default", "span"),
    [
        ("type", ALL, BOTH, False, "prompt", None),
        ("prompt", ALL, PROMPT, True, "", None),
        ("model", ALL, PROMPT, False, "the agent's own", None),
        ("command", ALL, COMMAND, False, "", None),
        ("script", ALL, COMMAND, False, "", None),
        ("matcher", TOOL_EVENTS, BOTH, True, "", None),
        ("timeout", ALL, BOTH, False, "30", (1, 300)),
        ("failMode", ALL, BOTH, False, "block for PreToolUse; allow for PostToolUse; allow for Stop", None),
        ("maxRejections", STOP, BOTH, False, "3 for prompt hooks; 25 for command hooks", (1, 25)),
    ],
)
def test_a_row_says_what_the_format_says(
    option: str,
    events: frozenset[HookEvent],
    types: frozenset[HookType],
    required: bool,  # noqa: FBT001 - a column
    default: str,
    span: tuple[int, int] | None,
) -> None:
    """Who takes an option, whether it has to be there, what holds where it is left out, and its range."""
    row = BY_KEY[Option(option)]
    quantity = row.quantity

    assert (row.events, row.types, row.required, row.default) == (events, types, required, default)
    assert (None if quantity is None else (int(quantity.minimum), int(quantity.maximum or 0))) == span


def test_the_defaults_are_those_of_the_format() -> None:
    """But for what stands before a tool, and for the ceiling of programs."""
    assert dict(FAIL_MODES) == {
        HookEvent.PRE_TOOL_USE: FailMode.BLOCK,
        HookEvent.POST_TOOL_USE: FailMode.ALLOW,
        HookEvent.STOP: FailMode.ALLOW,
    }
    assert dict(REJECTIONS) == {HookType.PROMPT: 3, HookType.COMMAND: 25}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_is_for_people_too(row: OptionRow) -> None:
    """A sentence, and a form that names the range and the choices there are."""
    assert row.meaning.endswith(".")
    assert row.form
    assert all(choice in row.form for choice in row.choices)
    if row.quantity is not None:
        assert f"{row.quantity.minimum} to {row.quantity.maximum}" in row.form
    if row.text_limit:
        assert f"{row.text_limit:,} bytes" in row.form


@pytest.mark.parametrize("event", HookEvent)
@pytest.mark.parametrize("kind", HookType)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_the_reader_takes_an_option_where_its_row_says(event: HookEvent, kind: HookType, row: OptionRow) -> None:
    """There it is part of the hook; elsewhere it is a fault."""
    options = plainest(event, kind)
    value = kind.value if row.key is Option.TYPE else GOOD[row.key]
    if row.key in row.one_of:
        options = {key: one for key, one in options.items() if key not in row.one_of}
    document = file_of(event, options | {row.key.value: value})

    if event in row.events and kind in row.types:
        (hook,) = read_value(document)
        assert getattr(hook, FIELDS.get(row.key, row.key.value)) == value
    else:
        assert faults_of(document)
