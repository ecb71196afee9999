"""Let an agent go on where it waits for a person, and let it close what nobody answered."""

from __future__ import annotations

import json
from uuid import uuid4

from agent_image.contract import Kind
from agent_image.guard.checkpoint import Checkpoint
from console import answer
from console.reply import Invoke
from console.screen import Screen


def resume(checkpoint: Checkpoint, invoke: Invoke, screen: Screen, option: str, *, as_json: bool) -> int:
    """Go on from a checkpoint, in its own session, and show the answer; give the exit status.

    Raises:
        ConsoleError: the agent was not reached, or what came is no answer.
    """
    body = json.dumps({Kind.RESUME: checkpoint.id}).encode()
    with invoke(body, checkpoint.session_id) as reply:
        return answer.show(reply, screen, option, as_json=as_json)


def sweep(invoke: Invoke, screen: Screen, *, as_json: bool) -> int:
    """Let the agent close what is over, and send what waits to be sent; give the exit status.

    Raises:
        ConsoleError: the agent was not reached, or what came is no answer.
    """
    body = json.dumps({Kind.SWEEP: True}).encode()
    with invoke(body, str(uuid4())) as reply:
        return answer.show(reply, screen, "", as_json=as_json)
