"""The committed JSON Schema is current, and says what the reader of hook files says, as far as a schema can."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.hooks import json_schema
from agent_image.hooks.hook import HookEvent, HookType
from agent_image.hooks.options import Option
from tests.agent_image.hooks.hook_files import AGENT, faults_of, file_of, plainest

SCHEMA = json_schema.schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker(["regex"]))
VALUES: dict[str, list[Any]] = {
    "type": ["prompt", "command", "Prompt", None, 1],
    "prompt": ["a", " ", "", "a\0", None, 1, ["a"]],
    "model": ["judge", "", None, 1],
    "command": ["true", "\n", "a\0", "a" * 65_536, "a" * 65_537, None, 1],
    "script": ["true", "#!/bin/bash -e\n", "#!/usr/bin/env python3", "#!/bin/sh\n", "\n#!/bin/bash\n", "", None, 1],
    "matcher": ["*", "a|b", "(", "**", "", " ", "a" * 1_000, "a" * 1_001, None, 1, ["*"]],
    "timeout": [1, 30, 300, 0, 301, -1, 1.5, 30.0, True, "30", None],
    "failMode": ["allow", "block", "Block", "", None, True],
    "maxRejections": [1, 25, 0, 26, 2.0, 2.5, True, "3", None],
    "unknown": [1, None],
}
EVENTS = st.sampled_from(HookEvent)


def holds(document: Any) -> bool:
    """Tell whether the schema accepts what a file holds."""
    return bool(VALIDATOR.is_valid(document))


@st.composite
def hooks(draw: st.DrawFn, event: HookEvent) -> Any:
    """Draw a hook, often sound, of which up to three options are left out or are something else."""
    options: dict[str, Any] = plainest(event, draw(st.sampled_from(HookType)))
    for key in draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=3, unique=True)):
        if key in options and draw(st.booleans()):
            del options[key]
        else:
            options[key] = draw(st.sampled_from(VALUES[key]))
    return options


@st.composite
def by_event(draw: st.DrawFn) -> Any:
    """Draw lists of hooks, by event."""
    return {event.value: draw(st.lists(hooks(event), max_size=2)) for event in draw(st.sets(EVENTS))}


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, [], {}, "a", 1, {"Start": []}, {"Stop": None}, {"Stop": [1]}, {"stop": []}]
)
DECLARED = by_event() | ODD
SPECS = st.fixed_dictionaries({"hooks": DECLARED}, optional={"tools": st.just([1])}) | ODD
DOCUMENTS = (
    st.fixed_dictionaries({"hooks": DECLARED}, optional={"version": st.just(1)})
    | st.fixed_dictionaries(
        {"kind": st.sampled_from(["ExtendedAgent"] * 4 + ["Agent", None]), "spec": SPECS},
        optional={
            "metadata": st.sampled_from([{"name": AGENT}, {}, {"name": 1}, {"name": None}, {"other": 1}, None, []]),
            "api_version": st.just("azuresre.ai/v2"),
            "hooks": DECLARED,
        },
    )
    | st.fixed_dictionaries({}, optional={"kind": st.just("ExtendedAgent"), "spec": SPECS})
    | ODD.filter(lambda value: value is not None)
)


def test_the_committed_schema_is_current() -> None:
    """The committed schema is what the rows of options give now."""
    committed = json_schema.PATH.read_text(encoding="utf-8")

    assert committed == json_schema.text(), f"run `python -m {json_schema.__name__}`"


def test_the_schema_is_one() -> None:
    """It is valid, and plain ASCII, so that any editor reads its patterns as they are meant."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert json_schema.text().isascii()


@pytest.mark.parametrize("event", HookEvent)
def test_every_option_is_described(event: HookEvent) -> None:
    """Wherever it may stand."""
    hook = SCHEMA["$defs"][event]
    described = {**hook["then"]["properties"], **hook["else"]["properties"]}
    missing = {Option.MATCHER} if event is HookEvent.STOP else {Option.MAX_REJECTIONS}

    assert set(described) == {option.value for option in Option} - missing
    assert all(value["description"].endswith(".") for value in described.values())


@pytest.mark.parametrize("event", HookEvent)
@pytest.mark.parametrize("kind", HookType)
@pytest.mark.parametrize(("option", "value"), [(key, value) for key, values in VALUES.items() for value in values],
    ids=lambda value: str(value)[:12])  # fmt: skip
def test_the_schema_says_what_the_reader_says(event: HookEvent, kind: HookType, option: str, value: Any) -> None:
    """Of each value of each option, in every hook."""
    options = plainest(event, kind)
    if option == "script":
        options.pop("command", None)
    document = file_of(event, options | {option: value})

    assert holds(document) is (not faults_of(document))


@given(DOCUMENTS)
def test_the_schema_accepts_what_the_reader_accepts(document: Any) -> None:
    """And refuses what it refuses, whatever a document holds."""
    assert holds(document) is (not faults_of(document))


@pytest.mark.parametrize(
    "document",
    [
        file_of(HookEvent.STOP, {"type": "command", "script": "é" * 65_536}),
        {"kind": "ExtendedAgent", "metadata": {"name": "other"}, "spec": {"hooks": {}}},
        {"kind": "ExtendedAgent", "spec": {"hooks": {}, "k" * 201: 1}},
    ],
    ids=["bytes", "the agent's name", "a long key"],
)
def test_what_a_schema_cannot_say_the_reader_does(document: Any) -> None:
    """Bytes, names and limits of the file."""
    assert holds(document)
    assert faults_of(document)


def test_hooks_do_not_stand_in_two_places() -> None:
    """At the top and in a spec."""
    document = {"kind": "ExtendedAgent", "spec": {"hooks": {}}}

    assert holds(document)
    assert not holds({**document, "hooks": {}})


def test_patterns_are_written_as_they_are() -> None:
    """A control character or half a one within a pattern would be lost on the way to an editor."""
    assert (
        "\\u0000\\ud800-\\udfff"
        in json.loads(json_schema.text())["$defs"]["Stop"]["else"]["properties"]["prompt"]["not"]["pattern"]
    )
