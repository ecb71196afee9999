"""Ask a prompt hook: a model of its own judges an event, and may look into the transcript before it answers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWaiting
from pathlib import Path
from typing import Any, Final

from strands import Agent, ModelRetryStrategy
from strands.agent.conversation_manager import NullConversationManager
from strands.middleware import InvokeModelStage
from strands.models import Model
from strands.types.content import Message
from strands.types.exceptions import MaxTokensReachedException

from agent_image.agent import ATTEMPTS
from agent_image.faults import fault_of
from agent_image.guard.scene import Scene
from agent_image.hooks.answer import read_answer
from agent_image.hooks.hook import Hook, HookFailed, HookFault, Said
from agent_image.hooks.prompt_calls import Metered
from agent_image.hooks.prompt_loop import HookLoop
from agent_image.hooks.prompt_text import Marks, question, system_prompt
from agent_image.hooks.prompt_tools import tools_over
from agent_image.hooks.transcript_tools import TranscriptFile

NAME: Final = "rastro-hook"
_TOKEN_BYTES: Final = 16
_LOOK_SECONDS: Final = 0.05
"""How often a hook that waits looks whether anybody still waits for it."""

ModelFor = Callable[[str | None], Model]
"""Gives the model of a name; None asks for the agent's own. Hooks have a loop of their own: give them own instances."""


class PromptHooks:
    """Ask the prompt hooks of a process. Usable from any thread."""

    def __init__(
        self, model_for: ModelFor, *, attempts: int = ATTEMPTS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take what gives models, how often a throttled call is tried, and a clock of seconds."""
        self._model_for = model_for
        self._attempts = attempts
        self._clock = clock
        self._loop = HookLoop()

    def run(self, hook: Hook, context: Mapping[str, Any], transcript: Path, scene: Scene) -> Said:
        """Ask a hook about an event, for `hook.timeout` seconds at most.

        Raises:
            HookFailed: MODEL, BUDGET, TIMEOUT, MALFORMED, ABANDONED, or BROKEN for anything else.
        """
        deadline = self._clock() + hook.timeout
        metered = Metered(scene.calls, hook.id)
        asked = self._loop.submit(self._asked(hook, context, transcript, metered))
        try:
            message = self._waited(asked, deadline, scene)
        except HookFailed as failure:
            # First of all: nothing of this hook may write into the session's books from here on.
            metered.give_up(failure)
            asked.cancel()
            raise
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # A panic of native code is no Exception, and no verdict either.
            raise _failure(metered, error) from error
        return read_answer(_text(message), hook.event)

    def close(self) -> None:
        """End what still runs."""
        self._loop.close()

    async def _asked(self, hook: Hook, context: Mapping[str, Any], transcript: Path, metered: Metered) -> Message:
        marks = Marks(secrets.token_hex(_TOKEN_BYTES))
        tools = tools_over(TranscriptFile(transcript), marks)
        agent = Agent(
            model=self._model_for(hook.model),
            tools=list(tools),
            system_prompt=system_prompt(hook.event, marks, transcript=bool(tools)),
            name=NAME,
            # What a hook judges by is not left out in silence.
            conversation_manager=NullConversationManager(),
            retry_strategy=ModelRetryStrategy(max_attempts=self._attempts, initial_delay=1),
            # The default handler prints what the model writes.
            callback_handler=None,
            load_tools_from_directory=False,
        )
        agent.add_middleware(InvokeModelStage, metered)
        result = await agent.invoke_async(question(hook.prompt or "", context, marks))
        return result.message

    def _waited(self, asked: Future[Message], deadline: float, scene: Scene) -> Message:
        while True:
            try:
                return asked.result(min(_LOOK_SECONDS, max(0, deadline - self._clock())))
            except StillWaiting:
                if asked.done():
                    # It ended in the meantime, or with this very error.
                    return asked.result()
            if scene.gone():
                raise HookFailed(HookFault.ABANDONED)
            if self._clock() >= deadline:
                raise HookFailed(HookFault.TIMEOUT)


def _failure(metered: Metered, error: BaseException) -> HookFailed:
    """Say how a hook failed: by what its model's calls came to, else by what was raised."""
    if metered.failure is not None:
        return metered.failure
    if isinstance(error, MaxTokensReachedException):
        return HookFailed(HookFault.MODEL, fault_of(error).code)
    return HookFailed(HookFault.BROKEN, type(error).__name__)


def _text(message: Message) -> str:
    return "".join(block["text"] for block in message["content"] if "text" in block)
