"""The pages that are written from the code leave nothing out."""

from __future__ import annotations

import re

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from agent_image import contract
from console.cli import app
from stacks.observability.alarms import ALARMS
from stacks.observability.metrics import METRICS
from tests.conftest import ROOT

REFERENCE = ROOT / "docs" / "reference"
STATEMENTS = sorted(
    {
        found
        for module in (ROOT / "stacks" / "policies").glob("*.py")
        for found in re.findall(r'sid="(\w+)"', module.read_text())
    }
)


def commands(command: object, path: str) -> list[str]:
    """List every command below one."""
    if not isinstance(command, TyperGroup):
        return [path]
    return [one for name, below in command.commands.items() for one in commands(below, f"{path} {name}")]


def test_every_command_has_its_section() -> None:
    """In the order of the help."""
    assert re.findall(r"^## (.+)$", (REFERENCE / "commands.md").read_text(), re.MULTILINE) == commands(
        get_command(app), "rastro"
    )


@pytest.mark.parametrize("sid", STATEMENTS)
def test_every_statement_that_the_code_makes_is_on_the_page(sid: str) -> None:
    """A right that nobody lists is a right that nobody reviews."""
    assert f"| `{sid}`" in (REFERENCE / "iam.md").read_text()


@pytest.mark.parametrize(
    "kind", [contract.Setting, contract.Field, contract.Span, contract.Item, contract.Discovery, contract.EventName]
)
def test_every_name_of_a_shared_table_is_on_the_page(kind: type[contract.Setting]) -> None:
    """Under the docstring of its enumeration."""
    page = (REFERENCE / "contract.md").read_text()
    line = page.partition(f"`{kind.__name__}`: ")[2].split("\n\n")[1]

    assert re.findall(r"`([^`]+)`", line) == [member.value for member in kind]


def test_every_public_constant_of_the_contract_is_on_the_page() -> None:
    """Named as the code names it."""
    source = (ROOT / "agent_image" / "contract.py").read_text()
    page = (REFERENCE / "contract.md").read_text()

    constants = re.findall(r"^([A-Z][A-Z_]+): Final", source, re.MULTILINE)
    assert constants
    assert [name for name in constants if f"`{name}`" not in page] == []


def test_every_metric_and_alarm_has_its_row() -> None:
    """Each once."""
    page = (REFERENCE / "alarms.md").read_text()

    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [row.name for row in METRICS]
    assert re.findall(r"^\| \[`(\w+)`\]", page, re.MULTILINE) == [row.key for row in ALARMS]
