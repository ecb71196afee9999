"""The page about hooks says what their code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from agent_image.guard.verdict import Say
from agent_image.hooks import examples
from agent_image.hooks.answer import read_answer
from agent_image.hooks.context import Field
from agent_image.hooks.file import read_hooks
from agent_image.hooks.hook import HookEvent, HookLevel
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "hooks.md").read_text()


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_file_that_the_page_begins_with_loads() -> None:
    """A reader may begin with it."""
    hooks = read_hooks(block("yaml").encode(), name="page", level=HookLevel.AGENT, agent="shop")

    assert [hook.event for hook in hooks] == [HookEvent.PRE_TOOL_USE, HookEvent.STOP]


def test_both_forms_of_an_answer_are_read() -> None:
    """As they stand there."""
    simple, expanded = block("json").splitlines()
    said = read_answer(expanded, HookEvent.PRE_TOOL_USE)

    assert read_answer(simple, HookEvent.STOP).say is Say.DENY
    assert (said.say, said.alert) == (Say.DENY, json.loads(expanded)["hookSpecificOutput"]["alert"])


def test_every_field_of_a_context_is_on_the_page() -> None:
    """And every event."""
    assert [field.value for field in Field if f"`{field}`" not in PAGE] == []
    assert [event.value for event in HookEvent if f"| `{event}` |" not in PAGE] == []


def test_every_example_is_on_the_page() -> None:
    """With what it does."""
    shipped = {path.name for path in Path(str(examples.__file__)).parent.glob("*.yaml")}

    assert set(re.findall(r"^\| `([a-z-]+\.yaml)` \|", PAGE, re.MULTILINE)) == shipped
