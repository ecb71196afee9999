"""Tie a tool to its zone: what it may do alone."""

from __future__ import annotations

from dataclasses import dataclass

from strands.types.tools import AgentTool

from agent_image.contract import Zone


@dataclass(frozen=True, slots=True)
class ZonedTool:
    """Hold a tool and its zone; a tool that nobody classified is red."""

    tool: AgentTool
    zone: Zone = Zone.RED
