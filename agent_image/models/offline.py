"""Answer without a network: do what a plain wish asks, else search once and quote; nobody has thought about it.

The same conversation gets the same answer, so that a laptop and a test see the whole path of an answer at no price.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strands.models.model import Model
from strands.types.content import ContentBlock, Message, Messages
from strands.types.event_loop import Usage
from strands.types.streaming import StreamEvent
from strands.types.tools import ToolResult, ToolSpec, ToolUse

from agent_image.models import wishes
from agent_image.models.quoting import is_portuguese, quotes
from agent_image.tools.open_ticket import OPEN_TICKET
from agent_image.tools.reading import SEARCH_KNOWLEDGE, parse
from agent_image.tools.refund_order import REFUND_ORDER

MODEL_ID: Final = "offline"
_ID_PREFIX: Final = "offline-"
_OWN_ID: Final = re.compile(rf"{_ID_PREFIX}([0-9]{{1,9}})")


@dataclass(frozen=True, slots=True)
class Phrases:
    """Hold what the model says in its own words, in one language."""

    offline: str
    nothing: str
    failed: str
    idle: str
    acted: str
    done: str
    undone: str


ENGLISH: Final = Phrases(
    offline="I am an offline model: I only quote sentences that share words with your question.",
    nothing="I found nothing in the knowledge base that answers it.",
    failed="The knowledge base could not be searched, so I found nothing.",
    idle="I was given nothing to search, so I found nothing.",
    acted="I am an offline model: I do what a plain sentence asks for.",
    done="{tool} answered:",
    undone="{tool} failed, or was refused:",
)
PORTUGUESE: Final = Phrases(
    offline="Sou um modelo offline: apenas cito frases que têm palavras em comum com a sua pergunta.",
    nothing="Não encontrei nada na base de conhecimento que a responda.",
    failed="Não foi possível pesquisar a base de conhecimento, por isso não encontrei nada.",
    idle="Não recebi nada para pesquisar, por isso não encontrei nada.",
    acted="Sou um modelo offline: faço o que uma frase simples pede.",
    done="{tool} respondeu:",
    undone="{tool} falhou, ou foi recusado:",
)


@dataclass(frozen=True, slots=True)
class Intent:
    """Tie a tool to what a person may want of it.

    Attributes:
        tool: the tool's name.
        arguments: reads the call's arguments out of a question; None where the question wants something else.
        report: says what the tool answered, piece by piece.
    """

    tool: str
    arguments: Callable[[str], Mapping[str, object] | None]
    report: Callable[[str, Sequence[ToolResult]], Iterator[str]]


def _report_search(question: str, results: Sequence[ToolResult]) -> Iterator[str]:
    phrases = _phrases(question)
    texts = [
        block["text"]
        for result in results
        if result["status"] == "success"
        for block in result["content"]
        if "text" in block
    ]
    found = quotes(question, [passage for text in texts for passage in parse(text)])
    yield phrases.offline
    if not texts:
        yield f"\n\n{phrases.failed}"
    elif not found:
        yield f"\n\n{phrases.nothing}"
    for quote in found:
        yield f"\n\n\u201c{_without_marks(quote.sentence)}\u201d [{quote.number}]"


def _acting(tool: str, wish: Callable[[str], Mapping[str, object] | None]) -> Intent:
    """Call a tool where a question says nothing but a wish for it, and repeat its answer."""

    def report(question: str, results: Sequence[ToolResult]) -> Iterator[str]:
        phrases = _phrases(question)
        yield phrases.acted
        for result in results:
            said = phrases.done if result["status"] == "success" else phrases.undone
            texts = " ".join(block["text"] for block in result["content"] if "text" in block)
            yield f"\n\n{said.format(tool=tool)} {_without_marks(texts)}"

    return Intent(tool, wish, report)


def _report_nothing(question: str) -> Iterator[str]:
    phrases = _phrases(question)
    yield phrases.offline
    yield f"\n\n{phrases.idle}"


def _phrases(question: str) -> Phrases:
    return PORTUGUESE if is_portuguese(question) else ENGLISH


def _without_marks(sentence: str) -> str:
    """Keep a text's own brackets and back-ticks from passing for the answer's marks, or from hiding them."""
    return sentence.translate(str.maketrans("[]`", "()'"))


INTENTS: Final = (
    _acting(REFUND_ORDER, wishes.refund),
    _acting(OPEN_TICKET, wishes.ticket),
    Intent(SEARCH_KNOWLEDGE, lambda question: {"query": question}, _report_search),
)
"""What the model can do; of several that understand a question, the first does it."""


class OfflineModel(Model):
    """Act or search, then repeat; deterministic and extractive."""

    def __init__(self, intents: Sequence[Intent] = INTENTS) -> None:
        """Take what the model can do."""
        self.config: dict[str, Any] = {"model_id": MODEL_ID}
        self.intents = tuple(intents)

    def update_config(self, **model_config: Any) -> None:
        """Update the configuration; nothing in it changes an answer."""
        self.config.update(model_config)

    def get_config(self) -> dict[str, Any]:
        """Give the configuration."""
        return self.config

    def structured_output(
        self, output_model: type[Any], prompt: Messages, system_prompt: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Refuse: quotes have no other structure.

        Raises:
            NotImplementedError: always.
        """
        message = "the offline model only quotes; structured output needs another model"
        raise NotImplementedError(message)

    async def stream(
        self,
        messages: Messages,
        tool_specs: list[ToolSpec] | None = None,
        system_prompt: str | None = None,
        **kwargs: Any,  # noqa: ARG002 - what steers other models
    ) -> AsyncIterator[StreamEvent]:
        """Call the tool that the last question needs, or say what it answered."""
        written = 0
        for event in self._events(messages, {spec["name"] for spec in tool_specs or []}):
            written += _words_of(event)
            yield event
            # Whoever sends the piece on gets the time to do it.
            await asyncio.sleep(0)
        read = len((system_prompt or "").split()) + sum(_words_in(message) for message in messages)
        usage: Usage = {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}

    def _events(self, messages: Messages, offered: Collection[str]) -> Iterator[StreamEvent]:
        question, since = _turn(messages)
        for intent in self.intents:
            arguments = intent.arguments(question) if intent.tool in offered else None
            if arguments is None:
                continue
            calls = [use["toolUseId"] for use in _tool_uses(since) if use["name"] == intent.tool]
            if calls:
                return _speaking(intent.report(question, _results(since, calls)))
            return _calling(intent.tool, arguments, _next_id(messages))
        return _speaking(_report_nothing(question))


def _turn(messages: Messages) -> tuple[str, Messages]:
    """Find the last question, and what followed it."""
    for position in range(len(messages) - 1, -1, -1):
        content = messages[position]["content"]
        texts = [block["text"] for block in content if "text" in block]
        # What comes with a tool's result is no question of a person.
        if messages[position]["role"] == "user" and texts and not any("toolResult" in block for block in content):
            return "\n".join(texts), messages[position + 1 :]
    return "", messages


def _tool_uses(messages: Messages) -> Iterator[ToolUse]:
    return (block["toolUse"] for message in messages for block in message["content"] if "toolUse" in block)


def _results(messages: Messages, calls: Collection[str]) -> list[ToolResult]:
    found = (block["toolResult"] for message in messages for block in message["content"] if "toolResult" in block)
    return [result for result in found if result["toolUseId"] in calls]


def _next_id(messages: Messages) -> str:
    """Count on from the calls that the conversation still shows: its beginning may have been left out."""
    ids = (_OWN_ID.fullmatch(use["toolUseId"]) for use in _tool_uses(messages))
    return f"{_ID_PREFIX}{max((int(found[1]) for found in ids if found), default=0) + 1}"


def _calling(tool: str, arguments: Mapping[str, object], tool_use_id: str) -> Iterator[StreamEvent]:
    yield {"messageStart": {"role": "assistant"}}
    yield {"contentBlockStart": {"start": {"toolUse": {"name": tool, "toolUseId": tool_use_id}}}}
    yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments, ensure_ascii=False)}}}}
    yield {"contentBlockStop": {}}
    yield {"messageStop": {"stopReason": "tool_use"}}


def _speaking(pieces: Iterable[str]) -> Iterator[StreamEvent]:
    yield {"messageStart": {"role": "assistant"}}
    yield {"contentBlockStart": {"start": {}}}
    for piece in pieces:
        yield {"contentBlockDelta": {"delta": {"text": piece}}}
    yield {"contentBlockStop": {}}
    yield {"messageStop": {"stopReason": "end_turn"}}


def _words_in(message: Message) -> int:
    """Count words, which stand for tokens: they cost nothing, and are the same everywhere."""
    return sum(len(text.split()) for block in message["content"] for text in _texts(block))


def _texts(block: ContentBlock) -> Iterator[str]:
    if "text" in block:
        yield block["text"]
    if "toolUse" in block:
        yield json.dumps(block["toolUse"]["input"], ensure_ascii=False)
    if "toolResult" in block:
        yield from (content["text"] for content in block["toolResult"]["content"] if "text" in content)


def _words_of(event: StreamEvent) -> int:
    delta = event["contentBlockDelta"]["delta"] if "contentBlockDelta" in event else {}
    written = delta.get("text", "") or delta.get("toolUse", {"input": ""})["input"]
    return len(written.split())
