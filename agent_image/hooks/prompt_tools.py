"""Hand the transcript to a prompt hook's model as two tools that only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from strands import tool
from strands.types.tools import AgentTool

from agent_image.hooks.prompt_text import READ, SEARCH, Marks
from agent_image.hooks.transcript_tools import LINES, Refused, TranscriptFile


def tools_over(file: TranscriptFile, marks: Marks) -> list[AgentTool]:
    """Build the tools over one file; none where it holds nothing."""
    if not file.exists:
        return []

    @tool(name=READ)
    def read(path: str, offset: int = 1, limit: int = LINES) -> dict[str, Any]:
        """Read lines of the conversation, each behind its number.

        Args:
            path: The file that execution_summary names; there is no other.
            offset: The first line to read, from 1.
            limit: How many lines to read.
        """
        return _answered(lambda: file.read(path, offset, limit), marks)

    @tool(name=SEARCH)
    def search(path: str, text: str, offset: int = 1) -> dict[str, Any]:
        """Search the conversation for lines that hold a text, in upper or lower case. It is no regular expression.

        Args:
            path: The file that execution_summary names; there is no other.
            text: The text to look for, as it would stand in the file.
            offset: The first line to search, from 1.
        """
        return _answered(lambda: file.search(path, text, offset), marks)

    return [read, search]


def _answered(look: Callable[[], str], marks: Marks) -> dict[str, Any]:
    try:
        return {"status": "success", "content": [{"text": marks.around(look())}]}
    except Refused as refused:
        return {"status": "error", "content": [{"text": str(refused)}]}
