"""Play a model that reads the conversation alone, so that any process can go on with it."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

from strands.types.content import Message, Messages
from strands.types.streaming import StreamEvent
from strands.types.tools import ToolSpec

from agent_image.tools.open_ticket import OPEN_TICKET
from agent_image.tools.refund_order import REFUND_ORDER
from tests.agent_image.scripted import Calls, CallsAll, Says, ScriptedModel, Turn

LOOK_UP = "look_up"
WISH = "Look up order 5501, open a ticket, and pay it back."
QUESTION = "What has happened?"
AMOUNT = 150
EDITED = 120
_BATCH = CallsAll(
    (
        Calls(LOOK_UP, '{"order_id": "5501"}', "use-1"),
        Calls(OPEN_TICKET, '{"subject": "order 5501"}', "use-2"),
        Calls(REFUND_ORDER, f'{{"order_id": "5501", "amount": {AMOUNT}}}', "use-3"),
    )
)


class WishingModel(ScriptedModel):
    """Call three tools at once for a wish, and speak otherwise; tool-use ids are the same in every message."""

    def __init__(self) -> None:
        super().__init__([Says("")])

    async def stream(
        self,
        messages: Messages,
        tool_specs: list[ToolSpec] | None = None,
        system_prompt: str | None = None,
        **kwargs: Any,
    ) -> AsyncIterable[StreamEvent]:
        self.turns = [_turn(messages[-1])]
        async for event in super().stream(messages, tool_specs, system_prompt, **kwargs):
            yield event


def _turn(last: Message) -> Turn:
    texts = [block["text"] for block in last["content"] if "text" in block]
    return _BATCH if texts == [WISH] else Says("That is all.")
