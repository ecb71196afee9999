"""Stand between Strands and what it does: around each call of a model, and closest of all around each tool.

An interrupt only stops the loop here. Nothing of it is kept: a later run takes the saved messages up where they end,
and the guard's own records tell it what has happened since.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, ParamSpec, TypeVar, cast

from opentelemetry.trace import Tracer
from strands import Agent
from strands.hooks import AfterInvocationEvent, MessageAddedEvent
from strands.interrupt import Interrupt, InterruptException
from strands.middleware import (
    ExecuteToolContext,
    ExecuteToolStage,
    InvokeModelContext,
    InvokeModelStage,
    ModelStopReason,
    ToolResultEvent,
    TypedEvent,
)
from strands.types.content import Message, Messages
from strands.types.tools import ToolUse

from agent_image.contract import Ruling, Span
from agent_image.errors import AgentError
from agent_image.faults import fault_of
from agent_image.guard.answers import Answers
from agent_image.guard.carrying import Admitted
from agent_image.guard.checkpoint import Call
from agent_image.guard.claim import carried
from agent_image.guard.endings import Answered
from agent_image.guard.gate import Gate
from agent_image.guard.model_calls import Begun, ModelCalls
from agent_image.guard.rules import UNKNOWN
from agent_image.guard.sayings import ToolResult
from agent_image.guard.spending import Spending
from agent_image.guard.work import Suspended, Work
from agent_image.notice import notice
from agent_image.strands.models import max_tokens_of, reference_of

SPAN: Final = "guard"
CANCELLED: Final = "cancelled"
"""The code of a model's call that its caller did not wait for."""
NUDGE: Final = "Note: the last steps repeat what was done before, with the same results. Try another way, or answer."
DIRECT: Final = AgentError("direct_call", "A tool was called past the model; the guard lets no such call run.")
NESTED: Final = AgentError("nested_interrupt", "A tool paused by itself; under the guard only the gate does that.")

_NO_ANSWER: Final = frozenset({"interrupt", "cancelled", "checkpoint"})
_UNTOLD: Final = frozenset({Ruling.ALLOWED, Ruling.APPROVED})

P = ParamSpec("P")
T = TypeVar("T")
Next = Callable[[Any], AsyncGenerator[Any, None]]
Save = Callable[[Messages], None]
"""Keeps a conversation, durably."""


class Guarding:
    """Guard one agent for one run."""

    def __init__(self, work: Work, save: Save, tracer: Tracer) -> None:
        """Take the run's bookkeeping, what keeps the conversation, and the tracer of guard spans."""
        self._work = work
        self._save = save
        self._tracer = tracer
        spending = Spending(work)
        self._gate = Gate(work, spending)
        self._models = ModelCalls(work, spending)
        self._answers = Answers(work)
        self._turn = asyncio.Lock()

    def attach(self, agent: Agent) -> None:
        """Stand closest to the model and the tools of an agent; whatever is added later stands closer, so add last."""
        agent.add_middleware(InvokeModelStage, self._model)
        agent.add_middleware(ExecuteToolStage, self._tool)
        agent.add_hook(self._added, MessageAddedEvent)
        agent.add_hook(self._ended, AfterInvocationEvent)
        self._work.messages = lambda: cast("Sequence[Mapping[str, Any]]", agent.messages)

    def _added(self, event: MessageAddedEvent[Any]) -> None:
        """Keep the conversation before the calls of a message run, and when all of them have answered."""
        if any("toolUse" in block or "toolResult" in block for block in event.message["content"]):
            self._save(event.agent.messages)

    async def _ended(self, event: AfterInvocationEvent) -> None:
        """Send an answer back that somebody refuses, whatever the model stopped for.

        The event also comes for what is no answer.
        """
        if event.result is None or event.result.stop_reason in _NO_ANSWER or self._work.halted is not None:
            return
        reason = await self._asking(self._answers.sent_back, str(event.result).strip())
        if reason is not None:
            event.resume = reason

    async def _model(self, context: InvokeModelContext, next_fn: Next) -> AsyncGenerator[TypedEvent, None]:
        messages = context.messages
        try:
            begun: Begun | None = self._models.begin(
                reference_of(context.model),
                _last_id(context.agent.messages),
                context.projected_input_tokens,
                max_tokens_of(context.model),
            )
        except Suspended as suspended:
            raise _interrupt(suspended.case.checkpoint.id) from None
        if begun is not None and begun.nudge:
            messages = _nudged(messages)
        try:
            async for event in next_fn(context.replace(messages=messages)):
                if begun is not None and isinstance(event, ModelStopReason):
                    self._models.end(begun, event.usage, event.stop_reason, _text(event.message))
                    begun = None
                yield event
        except Exception as error:
            if begun is not None and not isinstance(error, AgentError):
                self._models.fail(begun, fault_of(error).code)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            # The caller hung up, and nobody says what was used.
            if begun is not None:
                with suppress(AgentError):
                    self._models.fail(begun, CANCELLED)
            raise

    async def _tool(self, context: ExecuteToolContext, next_fn: Next) -> AsyncGenerator[TypedEvent, None]:
        try:
            call = self._call(context)
            admitted = await self._asking(self._gate.unknown if context.tool is None else self._gate.admit, call)
        except Suspended as suspended:
            self._tell(Ruling.ASKED, context, suspended.case.checkpoint.id)
            raise _interrupt(suspended.case.checkpoint.id) from None
        except Exception as error:
            # What cannot be judged does not run, and says nothing to the model.
            raise self._halted(error) from error
        if isinstance(admitted, Answered):
            self._tell(admitted.ruling, context)
            yield _result_event(admitted.call, admitted.result)
            return
        if admitted.ruling is Ruling.EDITED:
            self._tell(Ruling.EDITED, context, admitted.claim.key)
        running = asyncio.ensure_future(self._run(admitted, context, next_fn))
        try:
            result = await asyncio.shield(running)
        except asyncio.CancelledError:
            # The caller hung up. What has begun ends first, and is recorded; nobody would know otherwise.
            await asyncio.wait([running])
            raise
        yield _result_event(admitted.call, result)

    async def _run(self, admitted: Admitted, context: ExecuteToolContext, next_fn: Next) -> ToolResult:
        """Run a call under its claim to its end, and record it."""
        result, error = await _drained(admitted, context, next_fn)
        try:
            told = await self._asking(self._gate.finish, admitted, result, error)
        except Suspended as suspended:
            self._tell(Ruling.IN_DOUBT, context, suspended.case.checkpoint.id)
            raise _interrupt(suspended.case.checkpoint.id) from None
        except Exception as fault:
            # What has happened and cannot be kept must not be tried again.
            raise self._halted(fault) from fault
        if error is NESTED:
            raise self._halted(NESTED)
        return told

    async def _asking(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what may ask stages: off the loop, for they may take minutes, and one after the other.

        Raises:
            CancelledError: the caller hung up; what had begun has ended.
        """
        if not self._work.guard.stages.any:
            return do(*args, **kwargs)
        async with self._turn:
            asking = asyncio.ensure_future(asyncio.to_thread(do, *args, **kwargs))
            try:
                return await asyncio.shield(asking)
            except asyncio.CancelledError:
                # Nobody else may touch the run's books before its thread has let go of them.
                self._work.abandoned = True
                await asyncio.wait([asking])
                if asking.exception() is None:
                    self._withdraw(asking.result())
                raise

    def _withdraw(self, done: object) -> None:
        """Take back a call that was let through while its caller hung up: it has not begun."""
        if isinstance(done, Admitted):
            # What cannot be taken back stays in doubt.
            with suppress(AgentError):
                self._gate.withdraw(done)

    def _call(self, context: ExecuteToolContext) -> Call:
        """Bind the call to the message that asks for it.

        Raises:
            AgentError: no message does.
        """
        messages = context.agent.messages
        use = context.tool_use
        last = messages[-1] if messages else None
        uses = [block["toolUse"] for block in last["content"] if "toolUse" in block] if last else []
        if last is None or use["toolUseId"] not in {one["toolUseId"] for one in uses}:
            raise DIRECT.with_traceback(None)
        arguments = use["input"]
        return Call(
            session_id=self._work.run.session_id,
            message=_last_id(messages),
            tool_use_id=use["toolUseId"],
            tool=context.tool.tool_name if context.tool is not None else use["name"],
            arguments=arguments if isinstance(arguments, dict) else {"input": arguments},
        )

    def _halted(self, error: Exception) -> InterruptException:
        """End the run: the framework would hand an exception to the model as the tool's answer."""
        fault = fault_of(error)
        if fault is not error:
            notice("guard_failed", fault=fault.code, error=type(error).__name__)
        self._work.halt(fault)
        return _interrupt(fault.code)

    def _tell(self, ruling: Ruling, context: ExecuteToolContext, checkpoint: str | None = None) -> None:
        """Leave a guard span for what did not simply run."""
        if ruling in _UNTOLD:
            return
        rules, name = self._work.guard.policy.rules, context.tool_use["name"]
        with self._tracer.start_as_current_span(f"{SPAN} {ruling}") as span:
            span.set_attribute(Span.TOOL, name if name in rules else "unknown")
            span.set_attribute(Span.ZONE, rules.get(name, UNKNOWN).zone.value)
            span.set_attribute(Span.DECISION, ruling.value)
            if checkpoint is not None:
                span.set_attribute(Span.CHECKPOINT, checkpoint)


async def _drained(
    admitted: Admitted, context: ExecuteToolContext, next_fn: Next
) -> tuple[ToolResult, BaseException | None]:
    """Run a tool to its end; give what it answered and what it raised."""
    use: ToolUse = {**context.tool_use, "input": dict(admitted.arguments)}
    last: ToolResultEvent | None = None
    try:
        async for event in carried(admitted.claim, next_fn(context.replace(tool_use=use))):
            if isinstance(event, ToolResultEvent):
                last = event
    except InterruptException:
        return _failed(), NESTED
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as raised:  # noqa: BLE001 - whatever a tool raises is recorded as that, a panic of native code too
        # Cancelled is what the tool itself began, or all of the process: the caller's hanging up does not come here.
        return _failed(), raised
    if last is None:
        return _failed(), NESTED
    return dict(last.tool_result), last.exception


def _failed() -> ToolResult:
    return {"status": "error", "content": [{"text": "The tool failed."}]}


def _interrupt(name: str) -> InterruptException:
    return InterruptException(Interrupt(id=f"{SPAN}:{name}", name=SPAN))


def _result_event(call: Call, result: ToolResult) -> ToolResultEvent:
    return ToolResultEvent({"toolUseId": call.tool_use_id, "status": result["status"], "content": result["content"]})


def _last_id(messages: Messages) -> str:
    return str(messages[-1].get("tracking_id", "")) if messages else ""


def _nudged(messages: Messages) -> Messages:
    """Add a note to what the model reads now; the conversation does not keep it."""
    *before, last = messages
    noted: Message = {**last, "content": [*last["content"], {"text": NUDGE}]}
    return [*before, noted]


def _text(message: Message) -> str:
    return "".join(block["text"] for block in message["content"] if "text" in block)
