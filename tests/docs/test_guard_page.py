"""The page about the guard says what the code does."""

from __future__ import annotations

import re
from typing import Any

from agent_image.contract import Item, Level, Ruling, Zone
from agent_image.guard.checkpoint import State
from agent_image.guard.settings import parse_guard
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "guard.md").read_text()
RAISED = re.compile(r'(?:Error|Stopped|Unavailable|Canonical|code=)\(?"([a-z][a-z_]*)"')
SOURCES = ("guard", "strands", "stores", "tools")


def test_every_code_is_described() -> None:
    """Who meets one finds it here."""
    folders = [ROOT / "agent_image" / name for name in SOURCES]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    files += [ROOT / "agent_image" / f"{name}.py" for name in ("turns", "run", "conversation")]
    codes = {code for path in files for code in RAISED.findall(path.read_text())}

    assert len(codes) > 20
    assert {code for code in codes - ELSEWHERE if f"`{code}`" not in PAGE} == set()


ELSEWHERE = {
    # told to the model or in alerts, and described there
    "invalid_arguments",
    "arguments_too_large",
    # of the sample's tools
    "ledger_unwritten",
}


def test_every_state_zone_and_decision_is_named() -> None:
    """In the words of the code."""
    for state in State:
        assert state.name in PAGE
    for zone in Zone:
        assert zone.value in PAGE
    for level in Level:
        assert f"| {int(level)} |" in PAGE
    told = (ROOT / "docs" / "audit.md").read_text()
    assert [ruling for ruling in Ruling if f"`{ruling}`" not in told] == []


def test_the_defaults_are_those_of_the_settings() -> None:
    """A number that changed is to be changed here."""
    settings = parse_guard({})

    assert f"| a question | {settings.approval_minutes} minutes |" in PAGE
    assert f"| an approval, until it is carried out | {settings.execute_minutes} minutes |" in PAGE
    assert f"| a silent run, until it loses its session | {settings.lease_seconds} seconds |" in PAGE


def test_the_records_are_those_of_the_table() -> None:
    """By their prefixes."""
    for item in (Item.SESSION, Item.CHECKPOINT, Item.DECISION, Item.OUTBOX):
        assert f"`{item}" in PAGE


def test_the_example_is_a_tool() -> None:
    """It can be copied as it stands."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, "guard.md", "exec"), names)  # noqa: S102 - the page's own example

    assert names["close_account"].rule.zone is Zone.RED
    assert names["close_account"].name == "close_account"
