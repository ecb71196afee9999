"""A tool and its rules stand together, where its author wrote it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from strands import tool

from agent_image.contract import Level, Zone
from agent_image.guard.policy import Policy
from agent_image.guard.rules import UNKNOWN, Rule, ToolRule
from agent_image.guard.settings import parse_guard
from agent_image.tools.zoned import ZonedTool, zoned

OVER_100 = Rule("amount", over=Decimal(100))


@tool
def plain(amount: float) -> str:
    """Do something.

    Args:
        amount: How much.
    """
    return str(amount)


def fence(_session_id: str, _token: int) -> None:
    """Raise a mark."""


@zoned(
    Zone.YELLOW,
    level=Level.BLOCK,
    price_usd=Decimal("0.02"),
    red_when=(OVER_100,),
    poll=True,
    min_interval_seconds=5,
    volatile=("nonce",),
    idempotent=True,
    notify=True,
    fence=fence,
)
@tool
def decorated(amount: float) -> str:
    """Do something.

    Args:
        amount: How much.
    """
    return str(amount)


def test_a_tool_that_nobody_classified_is_red() -> None:
    """And known to be unclassified."""
    assert ZonedTool(plain).rule == UNKNOWN
    assert Policy.of([ZonedTool(plain)], parse_guard({})).classify("plain", {"amount": 1}).reasons == (
        "unclassified",
        "zone_red",
    )


def test_a_tool_that_is_declared_red_is_classified() -> None:
    """Somebody thought about it."""
    assert ZonedTool(plain, Zone.RED).rule == ToolRule(zone=Zone.RED)


def test_a_tool_and_a_zone_suffice() -> None:
    """As the shipped tools say it."""
    assert ZonedTool(plain, Zone.GREEN).rule == ToolRule(zone=Zone.GREEN)


def test_what_the_author_says_is_the_rule() -> None:
    """All of it, and the tool stays a tool."""
    assert decorated.rule == ToolRule(
        zone=Zone.YELLOW,
        level=Level.BLOCK,
        price_usd=Decimal("0.02"),
        red_when=(OVER_100,),
        poll=True,
        min_interval_seconds=5,
        volatile=("nonce",),
        idempotent=True,
        notify=True,
    )
    assert decorated.fence is fence
    assert decorated.tool.tool_name == decorated.name == "decorated"


def test_the_schema_is_the_tool_s() -> None:
    """What an edited call must fit."""
    assert decorated.schema["required"] == ["amount"]
    assert decorated.schema["properties"]["amount"]["type"] == "number"


def test_a_wrapped_tool_keeps_its_rules() -> None:
    """Whoever puts something around it replaces the tool alone."""
    assert replace(decorated, tool=plain).rule == decorated.rule


@pytest.mark.parametrize(
    "facts",
    [
        {"zone": Zone.RED, "level": Level.NOTIFY},
        {"zone": None, "level": Level.NOTIFY},
        {"zone": Zone.GREEN, "price_usd": -1},
        {"zone": Zone.GREEN, "price_usd": 0.5},
    ],
)
def test_a_rule_that_contradicts_itself_is_refused_where_it_is_written(facts: dict[str, Any]) -> None:
    """Not when the first call comes."""
    with pytest.raises(ValueError, match=r"red|price"):
        ZonedTool(plain, **facts)
