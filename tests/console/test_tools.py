"""`rastro tools` says what each tool may do alone, and who says so; the agent need not run."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from agent_image.contract import Level, Zone
from agent_image.guard.policy import Row
from agent_image.guard.rules import Rule
from console.screen import Screen
from console.tools import policy_of, rule_text, show, table
from console.where import Where


def shown(folder: Path, *, as_json: bool = False) -> str:
    written: list[str] = []
    show(Where(folder / "state"), Screen(written.append), as_json=as_json)
    return "".join(written)


def test_every_tool_is_listed_with_its_zone_its_level_and_why(tmp_path: Path) -> None:
    """Those that `rastro dev` gives its agent; nothing is made on the way."""
    lines = shown(tmp_path).splitlines()

    assert lines[0].split() == ["tool", "zone", "level", "USD", "a", "call", "red", "when", "why"]
    assert [line.split()[:2] for line in lines[2:5]] == [
        ["open_ticket", "yellow"],
        ["refund_order", "red"],
        ["search_knowledge", "green"],
    ]
    assert "3, asks, may be edited" in lines[3]
    assert all(line.endswith("declared in the code") for line in lines[2:5])
    assert lines[-1] == f"policy {policy_of(Where(tmp_path)).version}"
    assert list(tmp_path.iterdir()) == []


def test_a_program_gets_the_same(tmp_path: Path) -> None:
    """With the digest that every card and every run names."""
    found = json.loads(shown(tmp_path, as_json=True))

    assert found["policy"] == policy_of(Where(tmp_path)).version
    assert [tool["tool"] for tool in found["tools"]] == ["open_ticket", "refund_order", "search_knowledge"]
    assert found["tools"][1]["level"] == 3
    assert found["tools"][1]["price_usd"] == "0"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (Rule("amount", over=Decimal("500.00")), "amount over 500.00"),
        (Rule("to.*.country", outside=("BR", "PT")), "to.*.country outside BR, PT"),
        (Rule("force", equals=True), "force equals True"),
    ],
)
def test_a_rule_is_told_in_words(rule: Rule, said: str) -> None:
    """What makes a call red, by its argument."""
    assert rule_text(rule) == said


def test_what_the_settings_changed_says_why() -> None:
    """The reason that somebody wrote stands beside the tool."""
    row = Row(
        "pay", Zone.YELLOW, Level.BLOCK, "set by the settings: trial", Decimal("0.10"), (Rule("a", over=Decimal(1)),)
    )

    assert table([row]).rows == (("pay", "yellow", "2, asks", "0.10", "a over 1", "set by the settings: trial"),)
