"""Tools whose runs a test can count, and the questions that lead to them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from strands import tool

from agent_image.contract import Zone
from agent_image.errors import NoEffect
from agent_image.guard.claim import claim_of
from agent_image.tools.zoned import ZonedTool
from tests.agent_image.scripted import Calls


@dataclass
class Effects:
    """Count what tools did."""

    done: list[tuple[str, Any]] = field(default_factory=list)
    raises: list[Exception] = field(default_factory=list)

    def pay(self, **rules: Any) -> ZonedTool:
        """Build a red tool that pays under its claim."""

        @tool(name="pay")
        def pay(amount: float, to: str = "shop") -> str:
            """Pay.

            Args:
                amount: how much.
                to: whom.
            """
            claim_of("pay")
            if self.raises:
                raise self.raises.pop(0)
            self.done.append(("pay", {"amount": amount, "to": to}))
            return f"paid {amount}"

        return ZonedTool(pay, **{"zone": Zone.RED, **rules})

    def look(self, zone: Zone | None = Zone.GREEN, **rules: Any) -> ZonedTool:
        """Build a tool that only looks."""

        @tool(name="look")
        def look(at: str) -> str:
            """Look.

            Args:
                at: what to look at.
            """
            if self.raises:
                raise self.raises.pop(0)
            self.done.append(("look", at))
            return f"saw {at}"

        return ZonedTool(look, zone, **rules)

    def draft(self, **rules: Any) -> ZonedTool:
        """Build a yellow tool."""

        @tool(name="draft")
        def draft(text: str) -> str:
            """Draft.

            Args:
                text: what to write.
            """
            if self.raises:
                raise self.raises.pop(0)
            self.done.append(("draft", text))
            return f"drafted {text}"

        return ZonedTool(draft, Zone.YELLOW, **rules)


class Refused(NoEffect):
    """A tool that says that nothing happened."""


def paying(amount: float = 150, tool_use_id: str = "call-1", **more: Any) -> Calls:
    """Call the red tool."""
    return Calls("pay", json.dumps({"amount": amount, **more}), tool_use_id)


def looking(at: str = "here", tool_use_id: str = "call-1") -> Calls:
    """Call the green tool."""
    return Calls("look", json.dumps({"at": at}), tool_use_id)


def results(messages: list[Any]) -> list[dict[str, Any]]:
    """List the tool results of a conversation, in their order."""
    return [block["toolResult"] for message in messages for block in message["content"] if "toolResult" in block]


def text_of(result: dict[str, Any]) -> str:
    """Join a result's texts."""
    return " ".join(block["text"] for block in result["content"])


def valid(messages: list[Any]) -> None:
    """Roles alternate, and every call has exactly one result in the message that follows."""
    roles = [message["role"] for message in messages]
    assert all(one != other for one, other in pairwise(roles))
    for message, following in pairwise(messages):
        uses = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
        answered = [block["toolResult"]["toolUseId"] for block in following["content"] if "toolResult" in block]
        assert sorted(uses) == sorted(answered)
