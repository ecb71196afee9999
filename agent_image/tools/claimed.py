"""Keep a tool from running unless the guard lets exactly this call run.

The gate stands in the agent's middleware. A tool that another agent holds, that a tool calls by itself, or that is
called directly passes no gate: wrapped, it refuses.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

from strands.types.tools import AgentTool, ToolSpec, ToolUse

from agent_image.guard.canonical import canonical, digest
from agent_image.guard.claim import take_claim


class ClaimedTool(AgentTool):
    """Run a tool under a claim for its name and arguments, once; otherwise raise `Unclaimed`."""

    def __init__(self, tool: AgentTool) -> None:
        """Take the tool."""
        super().__init__()
        self._tool = tool

    @property
    def tool_name(self) -> str:
        """Give the tool's name."""
        return self._tool.tool_name

    @property
    def tool_spec(self) -> ToolSpec:
        """Give the tool's specification."""
        return self._tool.tool_spec

    @property
    def tool_type(self) -> str:
        """Give the tool's type."""
        return self._tool.tool_type

    def get_display_properties(self) -> dict[str, str]:
        """Give what the tool shows of itself."""
        return self._tool.get_display_properties()

    async def stream(
        self, tool_use: ToolUse, invocation_state: dict[str, Any], **kwargs: Any
    ) -> AsyncGenerator[Any, None]:
        """Run the tool.

        Raises:
            Unclaimed: nothing lets this call run, or not with these arguments, or not again.
            NotCanonical: the arguments are not JSON.
        """
        text = canonical(tool_use["input"])
        take_claim(self.tool_name, digest(text))
        # What was hashed is what runs: others may hold the arguments that came, and change them.
        own: ToolUse = {**tool_use, "input": json.loads(text)}
        events = self._tool.stream(own, invocation_state, **kwargs)
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()
