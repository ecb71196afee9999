"""Tie a tool to its rules: what it may do alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypedDict, Unpack

from strands.types.tools import AgentTool

from agent_image.contract import Level, Zone
from agent_image.guard.rules import Rule, ToolRule

Fence = Callable[[str, int], None]
"""Tells what a tool acts on that a session has a new owner, whose token is this: it refuses those before."""


class Facts(TypedDict, total=False):
    """Name what a tool's author may say beside its zone."""

    level: Level | None
    price_usd: Decimal | int
    red_when: tuple[Rule, ...]
    poll: bool
    min_interval_seconds: int
    volatile: tuple[str, ...]
    idempotent: bool
    notify: bool
    settle: Callable[[str], str] | None
    fence: Fence | None


@dataclass(frozen=True, slots=True)
class ZonedTool:
    """Hold a tool and its rules; a tool that nobody classified is red.

    Attributes:
        zone: None where nobody said; `rule.zone` is red then.
        rule: what the policy reads; see ToolRule for the other attributes.
        fence: for a tool that refuses a stalled owner's call.
    """

    tool: AgentTool
    zone: Zone | None = None
    level: Level | None = None
    price_usd: Decimal | int = 0
    red_when: tuple[Rule, ...] = ()
    poll: bool = False
    min_interval_seconds: int = 0
    volatile: tuple[str, ...] = ()
    idempotent: bool = False
    notify: bool = False
    settle: Callable[[str], str] | None = None
    fence: Fence | None = None
    rule: ToolRule = field(init=False)

    def __post_init__(self) -> None:
        """Build the rules.

        Raises:
            ValueError: they contradict themselves.
        """
        rule = ToolRule(
            zone=self.zone or Zone.RED,
            level=self.level,
            price_usd=Decimal(self.price_usd) if isinstance(self.price_usd, int) else self.price_usd,
            red_when=self.red_when,
            poll=self.poll,
            min_interval_seconds=self.min_interval_seconds,
            volatile=self.volatile,
            idempotent=self.idempotent,
            notify=self.notify,
            settle=self.settle,
            classified=self.zone is not None,
        )
        object.__setattr__(self, "rule", rule)

    @property
    def name(self) -> str:
        """Give the name that the model calls it by."""
        return self.tool.tool_name

    @property
    def schema(self) -> Mapping[str, Any]:
        """Give the JSON schema of its arguments."""
        declared: Mapping[str, Any] = self.tool.tool_spec["inputSchema"]
        inner = declared.get("json", declared)
        return inner if isinstance(inner, Mapping) else {}


def zoned(zone: Zone, **facts: Unpack[Facts]) -> Callable[[AgentTool], ZonedTool]:
    """Classify the tool below: `@zoned(Zone.GREEN)` over `@tool`."""
    return lambda tool: ZonedTool(tool, zone, **facts)
