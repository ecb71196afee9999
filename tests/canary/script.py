"""Say where every marker stands: what callers ask, what the model does, what the knowledge base and AWS answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.canary import hooked, scenes
from tests.canary.markers import Marker
from tests.loopback.bedrock import Answer, Bedrock, Refusal, Step, ToolCall

TURNS: Final = ("whole", "streamed")
"""The turns that end with an answer: as one JSON document, and as server-sent events."""
PASSAGES: Final = 5
"""Passages that one retrieval finds."""

SYSTEM_PROMPT: Final = Marker("system prompt")
MEMORY: Final = Marker("memory")
MEMORY_QUERY: Final = Marker("query for memories")
AWS_ERROR: Final = Marker("AWS's error message")
MODEL_ERROR: Final = Marker("the model's error message")
EXCEPTION: Final = Marker("exception of a tool")
TOOL_RESULT: Final = Marker("tool result")
NOTE: Final = Marker("feedback note")
FAILED_QUESTION: Final = Marker("question of the turn that fails")
NO_JSON: Final = Marker("body that is no JSON")
NO_KIND: Final = Marker("body of no kind")
QUERY_STRING: Final = Marker("query string")
USER_AGENT: Final = Marker("user agent")
TRACE_STATE: Final = Marker("trace state")
BAGGAGE: Final = Marker("baggage")
USER: Final = Marker("user on whose behalf somebody asks")
WEBHOOK: Final = Marker("address of the webhook")
PRINTED: Final = tuple(Marker(f"printed, {way}") for way in ("out", "error", "bytes", "at import", "traceback"))
LOGGED: Final = tuple(Marker(f"logged, {way}") for way in ("arguments", "whole", "exception", "extra", "at import"))
LOGGED_TO_A_FILE: Final = Marker("logged, to the descriptor itself")
HOOKED: Final = tuple(Marker(f"raised, {way}") for way in ("in a thread", "while collected", "as a warning"))
RECORDED: Final = Marker("exception that a span recorded")
METRIC: Final = Marker("metric attribute")
SPANS: Final = tuple(
    Marker(f"span, {part}") for part in ("name", "attribute", "event", "link", "status", "scope", "URL")
)


def question(turn: str) -> Marker:
    """Give what a turn's caller asks."""
    return Marker(f"{turn}: question")


def answer(turn: str) -> Marker:
    """Give what a turn's model answers."""
    return Marker(f"{turn}: answer")


def queries(turn: str) -> tuple[Marker, ...]:
    """Give what a turn's model searches for; the last search fails."""
    return tuple(Marker(f"{turn}: query {n}") for n in range(1, 4))


def passages(turn: str) -> tuple[Marker, ...]:
    """Give what a turn's first two searches find."""
    return tuple(Marker(f"{turn}: passage {n}") for n in range(1, 2 * PASSAGES + 1))


def begun(turn: str) -> tuple[Marker, ...]:
    """Give the passages with which the two results begin, as far as events hold them."""
    found = passages(turn)
    return (*found[:2], *found[PASSAGES : PASSAGES + 2])


def arguments(turn: str) -> tuple[Marker, ...]:
    """Give what a turn's model hands to the other tools."""
    return tuple(Marker(f"{turn}: argument of {tool}") for tool in ("fail", "talk", "add_memory", "search_memory"))


def mistakes(turn: str) -> tuple[Marker, ...]:
    """Give what a turn's model gets wrong: an argument that the tool does not take, a tool that there is none of."""
    return tuple(Marker(f"{turn}: {mistake}") for mistake in ("mistaken argument", "invented tool", "invented call"))


def texts(turn: str) -> tuple[Marker, ...]:
    """Give all that is said in a turn."""
    return (question(turn), answer(turn), *queries(turn), *passages(turn), *arguments(turn), *mistakes(turn))


ALL: Final = (
    *(marker for turn in TURNS for marker in texts(turn)),
    *(
        SYSTEM_PROMPT,
        MEMORY,
        MEMORY_QUERY,
        AWS_ERROR,
        MODEL_ERROR,
        EXCEPTION,
        TOOL_RESULT,
        NOTE,
        FAILED_QUESTION,
        NO_JSON,
        NO_KIND,
    ),
    *(
        QUERY_STRING,
        USER_AGENT,
        TRACE_STATE,
        BAGGAGE,
        *PRINTED,
        *LOGGED,
        LOGGED_TO_A_FILE,
        *HOOKED,
        RECORDED,
        METRIC,
        *SPANS,
    ),
    *(USER, WEBHOOK),
    *scenes.MARKERS,
)
NEVER_AUDITED: Final = frozenset(
    {scenes.TAIL.place, WEBHOOK.place, USER.place} | {words.secret.place for words in scenes.WORDS}
)
"""What stands in no text that is kept: what redaction takes out, and what is cut off."""


def bedrock() -> Bedrock:
    """Script the model and the knowledge base."""
    return _Script(steps=(), retrieve=_found)


class _Script(Bedrock):
    """Tell the turns apart by their questions."""

    def step(self, request: Mapping[str, Any]) -> Step:
        asked = next(text for text in reversed(list(_asked(request["messages"]))))
        if str(hooked.PROMPT) in asked:
            self.steps = hooked.opinion(request)
            return super().step(request)
        for turn in TURNS:
            if str(question(turn)) in asked:
                self.steps = tuple(_steps(turn))
                return super().step(request)
        for scene in scenes.SCENES:
            if str(scene.question) in asked:
                self.steps = scene.steps
                return super().step(request)
        for objection, answer_to in scenes.SENT_BACK.items():
            if str(objection) in asked:
                return answer_to
        return Refusal(400, "ValidationException", str(MODEL_ERROR))


def _asked(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for said in messages:
        texts = [block["text"] for block in said["content"] if "text" in block]
        if said["role"] == "user" and any("canário" in text for text in texts):
            yield json.dumps(texts, ensure_ascii=False)


def _steps(turn: str) -> Iterator[Step]:
    for query in queries(turn):
        yield ToolCall("search_knowledge", {"query": f"{query} …"})
    fail, talk, add, search = map(str, arguments(turn))
    argument, name, call = mistakes(turn)
    yield ToolCall("fail", {"detail": fail})
    yield ToolCall("talk", {"topic": talk})
    yield ToolCall("add_memory", {"entries": [add]})
    yield ToolCall("search_memory", {"query": search})
    yield ToolCall("fail", {"no_such_argument": str(argument)})
    yield ToolCall("_".join(name.halves), {"argument": str(call)})
    yield Answer(f"{answer(turn)} [1].\nMore of it [2][9].\n")


def _found(query: str) -> Sequence[Mapping[str, Any]] | Refusal:
    for turn in TURNS:
        first, second, third = (str(marker) in query for marker in queries(turn))
        if third:
            return Refusal(429, "ThrottlingException", f"Too many: {AWS_ERROR}")
        if first or second:
            start = 0 if first else PASSAGES
            return [_result(n, marker) for n, marker in enumerate(passages(turn))][start : start + PASSAGES]
    return ()


def _result(n: int, marker: Marker) -> Mapping[str, Any]:
    return {
        "content": {"type": "TEXT", "text": _text(n, marker)},
        "location": {"type": "S3", "s3Location": {"uri": f"s3://kb/policies/{n}.md"}},
        "score": 1 - n / 100,
        "metadata": {"x-amz-bedrock-kb-source-uri": f"s3://kb/policies/{n}.md", "title": f"{marker}"},
    }


def archived() -> tuple[str, ...]:
    """Give the texts that every retrieval found."""
    return tuple(_text(n, marker) for turn in TURNS for n, marker in enumerate(passages(turn)))


def _text(n: int, marker: Marker) -> str:
    return f"Goods of kind {n} may be returned: {marker}."
