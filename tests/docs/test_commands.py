"""Every command that a page shows can be given as it stands there."""

from __future__ import annotations

import shlex

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from console.cli import app
from tests.docs.blocks import PAGES, blocks_of

SHOWN = [
    (block.page, command.strip())
    for page in PAGES
    for block in blocks_of(page)
    for command in block.commands
    if block.language == "sh" and command.strip().startswith("rastro ")
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
    pages = {
        "README.md",
        *(f"docs/{name}.md" for name in ("approvals", "cost", "doctor", "erase", "trace", "tutorial")),
    }

    assert {page for page, _ in SHOWN} >= pages
