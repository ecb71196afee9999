"""Carry out one invocation: under its span, for its session, as the events that its caller gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

from opentelemetry.trace import Span, StatusCode, Tracer, format_trace_id
from opentelemetry.trace import Status as SpanStatus
from strands import Agent

from agent_image import answer as answers
from agent_image import citations
from agent_image.agent import AgentFactory
from agent_image.answer import Citation, Event
from agent_image.contract import Kind, Outcome, Regime
from agent_image.conversation import Conversation, Conversations
from agent_image.digest import Digest
from agent_image.errors import BUSY, AgentError
from agent_image.faults import fault_of
from agent_image.invocation import Feedback, Prompt
from agent_image.notice import notice
from agent_image.telemetry import invocation_span
from agent_image.telemetry.invocation_span import Answered
from agent_image.telemetry.sessions import session_scope
from agent_image.tools.search_knowledge import READING


class Losses(Protocol):
    """Count what the archive lost."""

    def take_lost(self) -> int:
        """Give the number of passages lost since it was last asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Ground:
    """Hold what every run of a process stands on."""

    regime: Regime
    tracer: Tracer
    digest: Digest
    archive: Losses
    new_run: Callable[[], str]


class Busy:
    """Let one invocation at a time into a session: two would write one history."""

    def __init__(self) -> None:
        """Start with no session at work."""
        self._sessions: set[str] = set()
        self._lock = Lock()

    @contextmanager
    def alone(self, session_id: str) -> Iterator[None]:
        """Hold a session.

        Raises:
            AgentError: the session is at work already.
        """
        with self._lock:
            if session_id in self._sessions:
                raise AgentError(BUSY, "This session is answering already: wait for that answer.")
            self._sessions.add(session_id)
        try:
            yield
        finally:
            with self._lock:
                self._sessions.discard(session_id)


class PromptRun:
    """Answer questions."""

    def __init__(self, ground: Ground, agents: AgentFactory, conversations: Conversations) -> None:
        """Take the ground, how agents are built and where conversations are kept."""
        self._ground = ground
        self._agents = agents
        self._conversations = conversations
        self._busy = Busy()

    async def __call__(self, session_id: str, prompt: Prompt) -> AsyncIterator[Event]:
        """Answer, event by event; the last one closes."""
        with _invocation(self._ground, Kind.PROMPT, session_id) as invocation:
            invocation.span.set_attributes(invocation_span.questioned(self._ground.regime, prompt.text))
            try:
                with self._busy.alone(session_id):
                    async for event in self._answer(invocation, prompt):
                        yield event
            except Exception as error:  # noqa: BLE001 - whatever a model or a tool raises ends as a code
                yield invocation.fail(error)

    async def _answer(self, invocation: _Invocation, prompt: Prompt) -> AsyncIterator[Event]:
        conversation = self._conversations.load(invocation.session_id)
        # What a failed turn has numbered stays numbered: no two passages of a session share a number.
        kept = Conversation(list(conversation.messages), conversation.reading)
        try:
            agent = self._agents(conversation)
            written = ""
            async for delta in _deltas(agent, prompt.text, conversation):
                if isinstance(delta, str):
                    yield answers.text(delta)
                else:
                    written = str(delta["result"]).strip()
            kept.messages = list(agent.messages)
        finally:
            self._conversations.save(invocation.session_id, kept)
        addresses = conversation.reading.addresses
        found = citations.check(written, addresses)
        invocation.complete(invocation_span.answered(self._ground.regime, Answered(written, found)))
        cited = [Citation(number, addresses[number - 1]) for number in found.cited]
        yield answers.citations(cited)
        yield answers.completed(written, cited, session_id=invocation.session_id, trace_id=invocation.trace_id)


async def _deltas(agent: Agent, prompt: str, conversation: Conversation) -> AsyncIterator[str | dict[str, Any]]:
    """Give the texts that a model writes, and the result at the end."""
    async for event in agent.stream_async(prompt, invocation_state={READING: conversation.reading}):
        if "result" in event:
            yield event
        elif event.get("data"):
            yield str(event["data"])


class FeedbackRun:
    """Leave what a person thinks of an answer in the trail of its session."""

    def __init__(self, ground: Ground) -> None:
        """Take the ground."""
        self._ground = ground

    async def __call__(self, session_id: str, feedback: Feedback) -> AsyncIterator[Event]:
        """Leave the span; `session_id` is the caller's, the span belongs to the session that is judged."""
        del session_id
        ground = self._ground
        with _invocation(ground, Kind.FEEDBACK, feedback.session_id) as invocation:
            invocation.complete(invocation_span.judged(ground.regime, feedback.verdict, feedback.note, ground.digest))
            yield answers.noted(session_id=feedback.session_id, trace_id=invocation.trace_id)


class _Invocation:
    """Hold one invocation while it runs: its span, and how it ended."""

    def __init__(self, span: Span, session_id: str) -> None:
        self.span = span
        self.session_id = session_id
        # Until something says otherwise: a caller that hangs up cancels the run, and that is no completion.
        self.outcome = Outcome.FAILED

    @property
    def trace_id(self) -> str:
        return format_trace_id(self.span.get_span_context().trace_id)

    def complete(self, attributes: dict[str, str | int | float | bool]) -> None:
        self.span.set_attributes(attributes)
        self.outcome = Outcome.COMPLETED

    def fail(self, error: Exception) -> Event:
        fault = fault_of(error)
        self.outcome = Outcome.FAILED
        self.span.set_attribute("error.type", fault.code)
        self.span.set_status(SpanStatus(StatusCode.ERROR, fault.code))
        notice("run_failed", fault=fault.code, error=type(error).__name__, session=self.session_id, trace=self.trace_id)
        return answers.failed(fault, session_id=self.session_id, trace_id=self.trace_id)


@contextmanager
def _invocation(ground: Ground, kind: Kind, session_id: str) -> Iterator[_Invocation]:
    with (
        session_scope(session_id),
        ground.tracer.start_as_current_span(
            f"{invocation_span.NAME} {kind}", record_exception=False, set_status_on_exception=False
        ) as span,
    ):
        span.set_attributes(invocation_span.started(kind, ground.new_run()))
        invocation = _Invocation(span, session_id)
        try:
            yield invocation
        except (asyncio.CancelledError, GeneratorExit):
            span.set_attribute("error.type", "cancelled")
            raise
        finally:
            span.set_attributes(invocation_span.ended(invocation.outcome, ground.archive.take_lost()))
