"""What the page about approvals says is what the commands do."""

from __future__ import annotations

import re

from typer.core import TyperGroup
from typer.main import get_command

from console.cli import app
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "approvals.md").read_text()
COMMANDS = sorted(
    line.partition(" #")[0].partition(" |")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("rastro ")
)
RULES = (ROOT / "console" / "approvals" / "rules.py").read_text()


def test_every_command_about_approvals_and_the_audit_is_shown() -> None:
    """With an example."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    for name in ("approvals", "audit"):
        group = root.commands[name]
        assert isinstance(group, TyperGroup)
        assert {one for one in group.commands if not any(f"{name} {one}" in command for command in COMMANDS)} == set()


def test_every_code_is_described() -> None:
    """And no other."""
    codes = set(re.findall(r'(?:Refusal\(|: Final = )"([a-z_]+)"', RULES))
    described = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE))

    assert len(codes) > 5
    assert described == codes
