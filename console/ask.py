"""Ask an agent, and show its answer while it is written."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

from agent_image.contract import SESSION_ID_LENGTH, Kind
from agent_image.invocation import is_session_id
from console import answer, local_agent
from console.errors import BadInputError
from console.reply import Invoke
from console.screen import Screen
from console.where import Where, where


def agent_of(state: Path | None, environment: str | None) -> Invoke:
    """Find whom to ask: the agent deployed in an environment, or the one that runs on this machine.

    Raises:
        BadInputError: both are named, or the name or the folder cannot be one.
        ConsoleError: there is no such agent.
    """
    return agent_at(where(state, environment))


def agent_at(place: Where) -> Invoke:
    """Find whom to ask.

    Raises:
        BadInputError: the name or the folder cannot be one.
        ConsoleError: there is no such agent.
    """
    if place.environment is None:
        return local_agent.agent_of(place.state)
    # boto3 takes longer to import than a local answer takes.
    from console import deployed_agent  # noqa: PLC0415
    from console.environment import find  # noqa: PLC0415

    return deployed_agent.agent_of(find(place.environment))


def ask(
    question: str, session_id: str | None, invoke: Invoke, screen: Screen, *, as_json: bool, option: str = ""
) -> int:
    """Ask a question within a session, or a new one, and show the answer; give the exit status.

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
    # What no encoding carries, such as half of a split character, is escaped: JSON can say it.
    body = json.dumps({Kind.PROMPT: question}).encode()
    with invoke(body, session_id or str(uuid4())) as reply:
        return answer.show(reply, screen, option, as_json=as_json)
