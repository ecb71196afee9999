"""Every command that a page shows can be given as it stands there."""

from __future__ import annotations

import re
import shlex

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from console.cli import app
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
SHOWN = [
    (page.name, line.strip())
    for page in PAGES
    for block in BLOCK.findall(page.read_text())
    for line in block.replace("\\\n", " ").splitlines()
    if line.strip().startswith("rastro ")
]


@pytest.mark.parametrize("line", sorted({line for _, line in SHOWN}))
def test_a_command_is_understood(line: str) -> None:
    """Its name, its options and their values."""
    found = get_command(app)
    _, *words = shlex.split(line.partition(" | ")[0], comments=True)
    while isinstance(found, TyperGroup):
        name, *words = words
        found = found.commands[name]

    found.make_context(line, words)


def test_every_page_of_commands_is_read() -> None:
    """A block that nobody finds would be held to nothing."""
    assert {page for page, _ in SHOWN} >= {"README.md", "approvals.md", "cost.md", "doctor.md", "erase.md", "trace.md"}
