"""What the page about erasing says is what the command does."""

from __future__ import annotations

import inspect
import re

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from agent_image.contract import ERASURE_OBJECT_PREFIX, Item
from agent_image.guard.audit import TEXT_LIMIT
from agent_image.guard.checkpoint import SKEW
from agent_image.guard.store import CLOSED_KEPT, SESSION_KEPT
from agent_image.stores.dynamodb import INLINE_LIMIT
from console.cli import app
from console.erase import limits
from console.erase.erasing import Fate
from console.erase.events import ATTEMPT, DONE, INCOMPLETE
from console.erase.words import LEAST_BYTES, mark
from stacks.agent import STATE_OBJECT_DAYS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "erase.md").read_text()
CODES = set(re.findall(r'Limit\(\s*"([a-z_]+)"', inspect.getsource(limits)))


def rows(header: str) -> set[str]:
    """Give what stands in the first column of the table with this header."""
    _, _, below = PAGE.partition(f"| {header} |")
    return set(re.findall(r"^\| `([a-z_]+)` \|", below.partition("\n\n")[0], re.MULTILINE))


def test_every_fate_and_every_limit_is_described() -> None:
    """And no other."""
    assert rows("a session is | means") == {*Fate}
    assert rows("code | what stays") == CODES
    assert len(CODES) > 8


def test_every_option_is_told() -> None:
    """The page leaves none out."""
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    options = {name for parameter in root.commands["erase"].params for name in parameter.opts if name.startswith("--")}

    assert {name for name in options if name not in PAGE} == set()


@pytest.mark.parametrize(
    "told",
    [
        mark("FINGERPRINT"),
        f"than {LEAST_BYTES} bytes",
        f"up to {TEXT_LIMIT} characters",
        f"over {INLINE_LIMIT:,} bytes",
        f"for {limits.STATE_DAYS} days",
        f"recovery, {limits.BACKUP_DAYS} days",
        f"another {SESSION_KEPT.days} days",
        *(f"`{code}`" for code in (ATTEMPT, DONE, INCOMPLETE)),
        *(f"`{item}`" for item in (Item.FINGERPRINT, Item.SESSION, Item.CHECKPOINT)),
        f"`{ERASURE_OBJECT_PREFIX}`",
    ],
)
def test_the_page_s_figures_and_names_are_the_code_s(told: str) -> None:
    """Each as it stands there."""
    assert told in PAGE


def test_what_limits_say_is_what_the_stacks_and_the_stores_do() -> None:
    """Days are stated in two places, which never import each other."""
    assert limits.STATE_DAYS == STATE_OBJECT_DAYS
    assert (SESSION_KEPT.days, CLOSED_KEPT.days, SKEW.seconds) == (30, 90, 5 * 60)
    assert "30 days after its last turn" in inspect.getsource(limits)
    assert "90 days after it was closed" in inspect.getsource(limits)
