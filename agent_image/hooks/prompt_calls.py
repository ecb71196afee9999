"""Meter the calls of a prompt hook's model: paid for before, settled after, and none once the hook was given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, Final

from strands.middleware import InvokeModelContext, ModelStopReason, TypedEvent

from agent_image.errors import AgentError
from agent_image.faults import fault_of
from agent_image.guard.scene import SideCall, SideCalls
from agent_image.guard.spending import LIMIT
from agent_image.hooks.hook import HookFailed, HookFault
from agent_image.strands.models import max_tokens_of, reference_of

ROUNDS: Final = 8
"""How often a hook's model is called at most: it may look into the transcript in all of them but the last."""
CANCELLED: Final = "cancelled"
UNANSWERED: Final = "model_unanswered"
_WITHOUT_END: Final = f"The model was called {ROUNDS} times and gave no answer."

Next = Callable[[InvokeModelContext], AsyncGenerator[TypedEvent, None]]


class Metered:
    """Account for the calls of one hook's one run. Given up from one thread while another calls the model.

    Attributes:
        failure: why the hook gives no verdict, as far as its model's calls are the cause.
    """

    def __init__(self, calls: SideCalls, hook: str) -> None:
        """Take who pays, and the hook's id."""
        self._calls = calls
        self._hook = hook
        self._lock = Lock()
        self._call: SideCall | None = None
        self._rounds = 0
        self._given_up: HookFailed | None = None
        self.failure: HookFailed | None = None

    async def __call__(self, context: InvokeModelContext, next_fn: Next) -> AsyncGenerator[TypedEvent, None]:
        """Stand around one call of the model.

        Raises:
            HookFailed: it may not be made, or its cost cannot be kept.
        """
        self._begin(reference_of(context.model), context.projected_input_tokens, max_tokens_of(context.model))
        try:
            async for event in next_fn(context):
                if isinstance(event, ModelStopReason):
                    self._end(event.usage, event.stop_reason)
                yield event
        except HookFailed:
            raise
        except Exception as error:
            code = fault_of(error).code
            self._fail(code, HookFailed(HookFault.MODEL, code))
            raise
        except (asyncio.CancelledError, GeneratorExit):
            self._fail(CANCELLED)
            raise
        self._fail(UNANSWERED)

    def give_up(self, failure: HookFailed) -> None:
        """Let no call be made any more; one that is on its way has cost what was set aside for it."""
        with self._lock:
            self._given_up = failure
            if self._call is not None:
                # What cannot be kept counts as spent for the session's next owner.
                with suppress(AgentError):
                    self._call.fail(failure.fault.value)
                self._call = None

    def _begin(self, model: str, projected_tokens: int | None, output_tokens: int | None) -> None:
        with self._lock:
            self.failure = self._given_up
            if self.failure is None and self._rounds == ROUNDS:
                self.failure = HookFailed(HookFault.MALFORMED, _WITHOUT_END)
            if self.failure is not None:
                raise self.failure
            self._rounds += 1
            try:
                self._call = self._calls.begin(self._hook, model, projected_tokens, output_tokens)
            except AgentError as error:
                raise self._unkept(error) from error

    def _end(self, usage: Mapping[str, Any], stop_reason: str) -> None:
        with self._lock:
            call, self._call = self._call, None
            if call is not None:
                try:
                    call.end(usage, stop_reason)
                except AgentError as error:
                    raise self._unkept(error) from error

    def _fail(self, code: str, failure: HookFailed | None = None) -> None:
        with self._lock:
            call, self._call = self._call, None
            self.failure = failure or self.failure
            if call is not None:
                with suppress(AgentError):
                    call.fail(code)

    def _unkept(self, error: AgentError) -> HookFailed:
        fault = HookFault.BUDGET if error.code == LIMIT else HookFault.BROKEN
        self.failure = HookFailed(fault, error.code)
        return self.failure
