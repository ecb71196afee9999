"""Ask an agent, and show its answer while it is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from uuid import uuid4

from agent_image.answer import TEXT
from agent_image.contract import SESSION_ID_LENGTH, Kind, Status
from agent_image.invocation import is_session_id
from console import local_agent
from console.errors import BAD_INPUT, FAILURE, BadInputError
from console.laptop import STATE
from console.reply import Event, Invoke, events
from console.terminal import shown, shown_json

SUSPENDED: Final = 3
"""Exit status after an answer that waits for a person's decision."""

_STATUS: Final[Mapping[str, int]] = MappingProxyType(
    {Status.COMPLETED: 0, Status.SUSPENDED: SUSPENDED, Status.FAILED: FAILURE}
)
_REFUSALS: Final = (400, 413)  # HTTP statuses of an invocation that the caller has to change

Write = Callable[[str], None]
"""Writes text as it is, at once."""


def agent_of(state: Path | None, environment: str | None) -> Invoke:
    """Find whom to ask: the agent deployed in an environment, or the one that runs on this machine.

    Raises:
        BadInputError: both are named, or the name or the folder cannot be one.
        ConsoleError: there is no such agent.
    """
    if environment is None:
        return local_agent.agent_of(state or STATE)
    if state is not None:
        message = "--state and --environment name two agents; allowed: one of them"
        raise BadInputError(message)
    # boto3 takes longer to import than a local answer takes.
    from console import deployed_agent  # noqa: PLC0415
    from console.environment import find  # noqa: PLC0415

    return deployed_agent.agent_of(find(environment))


def ask(question: str, session_id: str | None, invoke: Invoke, write: Write, *, as_json: bool) -> int:
    """Ask a question within a session, or a new one, and write the answer; give the exit status.

    Raises:
        BadInputError: the question is empty, or no session can have this id.
        ConsoleError: the agent was not reached, or what came is no answer.
    """
    if not question.strip():
        message = "the question is empty"
        raise BadInputError(message)
    if session_id is not None and not is_session_id(session_id):
        least, most = SESSION_ID_LENGTH
        message = f"--session is {session_id!r}; allowed: {least} to {most} visible ASCII characters"
        raise BadInputError(message)
    show = _document if as_json else _page
    # What no encoding carries, such as half of a split character, is escaped: JSON can say it.
    body = json.dumps({Kind.PROMPT: question}).encode()
    with invoke(body, session_id or str(uuid4())) as reply:
        closing = show(events(reply), write)
        return BAD_INPUT if reply.status in _REFUSALS else _STATUS[closing.name]


def _document(answer: Iterator[Event], write: Write) -> Event:
    """Write the answer object alone."""
    *_, closing = answer
    write(f"{shown_json(closing.text)}\n")
    return closing


def _page(answer: Iterator[Event], write: Write) -> Event:
    """Write the text as it comes, then what it rests on and where its trail is."""
    written = False
    for event in answer:
        if event.name == TEXT and (text := str(event.document.get(TEXT, ""))):
            write(shown(text))
            written = True
    if written:
        write("\n")
    elif "answer" in event.document:
        write(f"{shown(str(event.document['answer']))}\n")
    for line in _closing_lines(event.document):
        write(f"{shown(line)}\n")
    return event


def _closing_lines(document: Mapping[str, Any]) -> Iterator[str]:
    match document:
        case {"error": {"code": code, "message": message}}:
            yield f"failed ({code}): {message}"
        case {"checkpoint_id": checkpoint, "tool": tool, "arguments": arguments}:
            yield f"{tool} waits for a person's decision on checkpoint {checkpoint}: {json.dumps(arguments)}"
        case {"citations": [_, *_] as citations}:
            yield ""
            yield from (f"[{citation.get('n')}] {citation.get('address')}" for citation in citations)
    yield ""
    yield from (
        f"{key:<11} {document[key]}"
        for key in ("expires_at", "session_id", "trace_id")
        if document.get(key) is not None
    )
