"""A model that says what a test tells it to, event by event, as Strands' providers do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from pydantic import BaseModel
from strands.models import Model
from strands.types.content import Messages
from strands.types.streaming import StreamEvent
from strands.types.tools import ToolSpec

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Says:
    """Answer with a text."""

    text: str


@dataclass(frozen=True)
class Calls:
    """Call a tool."""

    tool: str
    arguments: str
    id: str = "call-1"


@dataclass(frozen=True)
class CallsAll:
    """Call several tools in one message."""

    calls: tuple[Calls, ...]


@dataclass(frozen=True)
class Raises:
    """Fail."""

    error: Exception


Turn = Says | Calls | CallsAll | Raises


@dataclass
class ScriptedModel(Model):
    """Play the turns in their order; the last one again and again."""

    turns: Sequence[Turn]
    seen: list[Messages] = field(default_factory=list)
    id: str = "scripted"
    stop: Literal["max_tokens"] | None = None

    def update_config(self, **model_config: Any) -> None:
        """Take no configuration."""

    def get_config(self) -> dict[str, Any]:
        """Have no configuration."""
        return {"model_id": self.id}

    def structured_output(
        self, output_model: type[T], prompt: Messages, system_prompt: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[dict[str, T | Any], None]:
        """Give none."""
        raise NotImplementedError

    async def stream(
        self,
        messages: Messages,
        tool_specs: list[ToolSpec] | None = None,
        system_prompt: str | None = None,
        **kwargs: Any,
    ) -> AsyncIterable[StreamEvent]:
        """Play the next turn."""
        turn = self.turns[min(len(self.seen), len(self.turns) - 1)]
        self.seen.append([*messages])
        if isinstance(turn, Raises):
            raise turn.error
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, Says):
            yield {"contentBlockStart": {"start": {}}}
            for word in turn.text.split(" "):
                yield {"contentBlockDelta": {"delta": {"text": f"{word} "}}}
            yield {"contentBlockStop": {}}
        else:
            for call in turn.calls if isinstance(turn, CallsAll) else (turn,):
                yield {"contentBlockStart": {"start": {"toolUse": {"name": call.tool, "toolUseId": call.id}}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": call.arguments}}}}
                yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": self.stop or ("end_turn" if isinstance(turn, Says) else "tool_use")}}
        usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}  # type: ignore[typeddict-item]
