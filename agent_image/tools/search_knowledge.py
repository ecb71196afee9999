"""Let the model read passages of the knowledge base."""

from __future__ import annotations

from typing import Any, Final

from strands import ToolContext, tool

from agent_image.contract import Zone
from agent_image.conversation import Reading
from agent_image.errors import KnowledgeBaseError
from agent_image.retrieval.retriever import Retriever
from agent_image.tools import reading as text_form
from agent_image.tools.zoned import ZonedTool

READING: Final = "reading"
"""Key, in the invocation's state, of the session's numbering of passages."""
NOTHING_FOUND: Final = "No passage of the knowledge base matches this query."


def search_knowledge(retriever: Retriever) -> ZonedTool:
    """Build the tool over one knowledge base; it only reads, so it is green."""

    @tool(name="search_knowledge", context=True)
    def search(query: str, tool_context: ToolContext[Any]) -> dict[str, Any]:  # noqa: D417 - the model reads this
        """Search the knowledge base. Returns numbered passages, best first; cite them by their number.

        Args:
            query: What to look for, in the words that a document would use.
        """
        reading: Reading = tool_context.invocation_state[READING]
        try:
            read = retriever.retrieve(query, reading)
        except KnowledgeBaseError as error:
            return {"status": "error", "content": [{"text": error.message}]}
        passages = read.retrieval.passages
        return {
            "status": "success",
            "content": [{"text": text_form.render(read.first, passages) if passages else NOTHING_FOUND}],
        }

    # The same passages have other numbers each time, and are no other answer.
    return ZonedTool(search, Zone.GREEN, settle=text_form.unnumbered)
