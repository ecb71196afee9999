"""Stand in for Bedrock: ConverseStream, Retrieve and the listing of ingestion jobs, by a script.

What a model says depends on the conversation alone: the number of tool results behind the last question picks the step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.loopback.eventstream import message
from tests.loopback.server import QuietHandler, serving

EVENT_STREAM = "application/vnd.amazon.eventstream"


@dataclass(frozen=True)
class Answer:
    """Say something."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """Call a tool."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Refusal:
    """Refuse a request by an AWS error."""

    status: int
    code: str
    message: str


Step = Answer | ToolCall | Refusal


@dataclass
class Bedrock:
    """Hold the script, and what was asked.

    Attributes:
        steps: what the model does in a turn, by the number of tool results so far; the last step ends every turn.
        retrieve: gives the results of one Retrieve call, or refuses it.
        jobs: ingestion jobs of the one data source, newest first.
    """

    steps: Sequence[Step]
    retrieve: Callable[[str], Sequence[Mapping[str, Any]] | Refusal] = lambda _: ()
    jobs: list[Mapping[str, Any]] = field(default_factory=list)
    url: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)

    def step(self, request: Mapping[str, Any]) -> Step:
        """Choose the next step of a conversation."""
        results = 0
        for said in request["messages"]:
            blocks = said["content"]
            if said["role"] == "user":
                found = sum("toolResult" in block for block in blocks)
                results = results + found if found else 0
        return self.steps[min(results, len(self.steps) - 1)]


def _events(step: Answer | ToolCall, call_id: str) -> Iterator[bytes]:
    yield message("messageStart", {"role": "assistant"})
    if isinstance(step, ToolCall):
        start = {"toolUse": {"toolUseId": call_id, "name": step.name}}
        yield message("contentBlockStart", {"contentBlockIndex": 0, "start": start})
        arguments = json.dumps(step.arguments)
        yield message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": arguments}}})
    else:
        for piece in step.text.splitlines(keepends=True):
            yield message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": piece}})
    yield message("contentBlockStop", {"contentBlockIndex": 0})
    yield message("messageStop", {"stopReason": "tool_use" if isinstance(step, ToolCall) else "end_turn"})
    usage = {"inputTokens": 1200, "outputTokens": 80, "totalTokens": 1280}
    yield message("metadata", {"usage": usage, "metrics": {"latencyMs": 5}})


@dataclass(frozen=True)
class _Reply:
    body: bytes
    content_type: str = "application/json"


def _reply(bedrock: Bedrock, path: str, request: Mapping[str, Any]) -> _Reply | Refusal:
    if path.endswith("/converse-stream"):
        step = bedrock.step(request)
        call_id = f"call-{len(request['messages'])}"
        return step if isinstance(step, Refusal) else _Reply(b"".join(_events(step, call_id)), EVENT_STREAM)
    if path.endswith("/retrieve"):
        found = bedrock.retrieve(request["retrievalQuery"]["text"])
        return found if isinstance(found, Refusal) else _json({"retrievalResults": list(found)})
    if path.endswith("/ingestionjobs/"):
        return _json({"ingestionJobSummaries": bedrock.jobs[:1]})
    if path.endswith("/datasources/"):
        return _json({"dataSourceSummaries": [{"knowledgeBaseId": "KB", "dataSourceId": "DS1"}]})
    return Refusal(404, "ResourceNotFoundException", path)


def _json(document: Mapping[str, Any]) -> _Reply:
    return _Reply(json.dumps(document).encode())


@contextmanager
def speaking(bedrock: Bedrock) -> Iterator[Bedrock]:
    """Serve the script on loopback until the block ends."""

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = self.body()
            bedrock.asked.append((self.path, body.decode()))
            match _reply(bedrock, self.path, json.loads(body or b"{}")):
                case Refusal(status, code, text):
                    refusal = json.dumps({"message": text}).encode()
                    self.answer(refusal, status=status, **{"x-amzn-ErrorType": code})
                case _Reply(body, content_type):
                    self.answer(body, content_type=content_type)

        do_PUT = do_POST

    with serving(Handler) as url:
        bedrock.url = url
        yield bedrock
