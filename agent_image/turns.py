"""Let the agent work on a session under the guard: take it up, go on, and leave it so that any process can go on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Final, cast

from opentelemetry.trace import Tracer
from strands.types.content import Message, Messages

from agent_image import answer as answers
from agent_image import citations
from agent_image.agent import AgentFactory
from agent_image.answer import Citation, Event, Waiting
from agent_image.contract import EventName, Outcome, Regime, Span
from agent_image.conversation import Conversation, Conversations, tool_uses, unfinished
from agent_image.errors import AgentError
from agent_image.faults import fault_of
from agent_image.ground import Invoked, outcome_of
from agent_image.guard.checkpoint import WAITING, Action, Call, Case, State
from agent_image.guard.gate import Gate
from agent_image.guard.guard import Guard
from agent_image.guard.lease import Heartbeat, LeaseLost
from agent_image.guard.moments import written
from agent_image.guard.spending import Spending
from agent_image.guard.work import Run, Work, cancelled
from agent_image.notice import notice
from agent_image.strands.guarding import Guarding
from agent_image.telemetry import invocation_span
from agent_image.telemetry.invocation_span import Answered
from agent_image.tools.search_knowledge import READING

INTERRUPTED: Final = "interrupt"
NOT_FINISHED: Final = "(The previous request was not finished.)"


class Turns:
    """Hold one session while a run works on it."""

    def __init__(
        self, guard: Guard, agents: AgentFactory, conversations: Conversations, tracer: Tracer, regime: Regime
    ) -> None:
        """Take the guard, how agents are built, where conversations are kept, and how spans are left."""
        self._guard = guard
        self._agents = agents
        self._conversations = conversations
        self._tracer = tracer
        self._regime = regime

    @contextmanager
    def held(self, invocation: Invoked, run: Run) -> Iterator[Work]:
        """Hold the session; let go of it with how the run ended.

        Raises:
            AgentError: another run works on it, or the store does not answer.
        """
        work = Work(self._guard, run)
        try:
            with Heartbeat(work.lease, timedelta(seconds=self._guard.settings.lease_seconds)):
                yield work
        except Exception as error:
            # Before the run's last event, which says how it ended.
            invocation.outcome = outcome_of(error)
            raise
        finally:
            if work.cost_usd is not None:
                invocation.span.set_attribute(Span.COST, float(work.cost_usd))
            try:
                work.close(invocation.outcome)
            except AgentError as error:
                # What there was to keep is kept; the session is free again when the lease is over.
                notice("session_not_released", fault=error.code, session=run.session_id)

    async def go_on(self, invocation: Invoked, work: Work, prompt: str | None) -> AsyncIterator[Event]:
        """Let the agent answer, or go on where its conversation ends; give the events, the closing one last."""
        conversation = self._conversations.load(invocation.session_id)
        if prompt is not None and unfinished(conversation.messages):
            if waiting := self.waiting(work):
                yield self.suspended(invocation, waiting)
                return
            self._settle(work, conversation)
        if prompt is None and not unfinished(conversation.messages):
            # The run before kept its answer, and died before it could say so.
            work.answered()
            for event in self._completed(invocation, conversation, _text(conversation.messages)):
                yield event
            return
        if prompt is None and self._cancelled(work):
            # Nothing of the task goes on: neither the model, nor what else it asked for in one breath.
            self._settle(work, conversation)
            raise cancelled()
        async for event in self._answering(invocation, work, conversation, prompt):
            yield event

    async def _answering(
        self, invocation: Invoked, work: Work, conversation: Conversation, prompt: str | None
    ) -> AsyncIterator[Event]:
        before = list(conversation.messages)
        written_ = ""
        stopped = ""
        try:
            async for delta in self._deltas(work, conversation, prompt):
                if isinstance(delta, str):
                    # What may be sent back is not shown before it is let through.
                    if not self._guard.stages.stop:
                        yield answers.text(delta)
                else:
                    written_, stopped = str(delta["result"]).strip(), delta["result"].stop_reason
            if stopped == INTERRUPTED:
                work.raise_halted()
                self._save(work, conversation)
                yield self.suspended(invocation, [*work.asked.values()] or self.waiting(work))
                return
        except Exception as error:
            self._left(work, conversation, None if prompt is None else before, error)
            raise
        self._save(work, conversation)
        work.answered()
        if self._guard.stages.stop:
            yield answers.text(written_)
        for event in self._completed(invocation, conversation, written_):
            yield event

    def waiting(self, work: Work) -> list[Case]:
        """List what the session still waits for."""
        now = self._guard.clock()
        cases = [self._guard.store.case(one) for one in work.session.pending]
        return [case for case in cases if case is not None and case.state(now) in WAITING]

    def _cancelled(self, work: Work) -> bool:
        """Tell whether a person ended the task, and nothing of it has begun whose end is still to be told."""
        now = self._guard.clock()
        cases = [case for one in work.session.pending if (case := self._guard.store.case(one)) is not None]
        calls = {case.state(now) for case in cases if case.checkpoint.action is Action.TOOL}
        return State.CANCELLED in calls and not calls & {State.EXECUTING, State.IN_DOUBT}

    def suspended(self, invocation: Invoked, cases: list[Case]) -> Event:
        """Close with what the session waits for."""
        now = self._guard.clock()
        invocation.outcome = Outcome.SUSPENDED
        waiting = [
            Waiting(
                case.checkpoint.id,
                case.state(now).value,
                case.checkpoint.tool,
                case.checkpoint.arguments,
                case.checkpoint.zone.value,
                case.checkpoint.reasons,
                written(case.checkpoint.expires_at),
            )
            for case in cases
        ]
        return answers.suspended(waiting, session_id=invocation.session_id, trace_id=invocation.trace_id)

    async def _deltas(
        self, work: Work, conversation: Conversation, prompt: str | None
    ) -> AsyncIterator[str | dict[str, Any]]:
        """Give the texts that a model writes, and the result at the end."""

        def save(messages: Messages) -> None:
            conversation.messages = list(messages)
            self._save(work, conversation)
            if "toolUse" not in _kinds(messages[-1]):
                work.answered()

        guarding = Guarding(work, save, self._tracer)
        agent = self._agents(conversation, guarding.attach)
        try:
            async for event in agent.stream_async(prompt, invocation_state={READING: conversation.reading}):
                if "result" in event:
                    yield event
                elif event.get("data"):
                    yield str(event["data"])
        finally:
            conversation.messages = list(agent.messages)

    def _save(self, work: Work, conversation: Conversation) -> None:
        # What is saved under a lease that is gone would overwrite another's history.
        work.lease.update(lambda session: session)
        self._conversations.save(work.run.session_id, conversation)

    def _left(self, work: Work, conversation: Conversation, before: Messages | None, error: Exception) -> None:
        """Leave the history as a run that failed must: what was done stays in it, what came to nothing does not.

        A resume takes nothing back: what became of its calls is known, and may have been kept already.
        """
        work.note(EventName.ERROR, code=fault_of(error).code, is_error=True)
        if isinstance(error, LeaseLost):
            return
        if before is not None and not work.acted and not work.session.pending:
            conversation.messages = before
        with suppress(AgentError):
            self._save(work, conversation)
            if not unfinished(conversation.messages):
                # An answer that was cut is none: nothing goes on from here.
                work.answered()

    def _settle(self, work: Work, conversation: Conversation) -> None:
        """Finish a turn that nobody goes on with, so that the conversation can go on with another."""
        last = conversation.messages[-1]
        if uses := tool_uses(last):
            gate = Gate(work, Spending(work))
            results = [self._result(gate, work, last, use) for use in uses]
            conversation.messages.append(cast("Message", {"role": "user", "content": results}))
        conversation.messages.append({"role": "assistant", "content": [{"text": NOT_FINISHED}]})
        # What ended this way ends no other run.
        work.halted = None
        self._save(work, conversation)
        work.answered()

    def _result(self, gate: Gate, work: Work, message: Message, use: dict[str, Any]) -> dict[str, Any]:
        call = Call(
            session_id=work.run.session_id,
            message=str(message.get("tracking_id", "")),
            tool_use_id=use["toolUseId"],
            tool=use["name"],
            arguments=use["input"] if isinstance(use["input"], dict) else {"input": use["input"]},
        )
        return {"toolResult": {"toolUseId": use["toolUseId"], **gate.settle(call)}}

    def _completed(self, invocation: Invoked, conversation: Conversation, answer: str) -> Iterator[Event]:
        addresses = conversation.reading.addresses
        found = citations.check(answer, addresses)
        invocation.complete(invocation_span.answered(self._regime, Answered(answer, found)))
        cited = [Citation(number, addresses[number - 1]) for number in found.cited]
        yield answers.citations(cited)
        yield answers.completed(answer, cited, session_id=invocation.session_id, trace_id=invocation.trace_id)


def _text(messages: Messages) -> str:
    """Give the answer at the end of a conversation."""
    return "".join(block.get("text", "") for block in messages[-1]["content"]).strip() if messages else ""


def _kinds(message: Message) -> set[str]:
    return {kind for block in message["content"] for kind in block}
