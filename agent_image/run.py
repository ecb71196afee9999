"""Carry out one invocation: under its span, for its session, as the events that its caller gets."""

from __future__ import annotations

from collections.abc import AsyncIterator

from agent_image import answer as answers
from agent_image.answer import Event
from agent_image.contract import EventName, Kind
from agent_image.errors import AgentError
from agent_image.ground import Ground, Invoked, invoked, link_to
from agent_image.guard.answers import Answers
from agent_image.guard.audit import RECOVERED
from agent_image.guard.checkpoint import Case, State
from agent_image.guard.guard import Guard
from agent_image.guard.sweep import Sweeper
from agent_image.guard.work import Work
from agent_image.invocation import Feedback, Prompt, Resume, Sweep
from agent_image.telemetry import invocation_span
from agent_image.turns import Turns


class PromptRun:
    """Answer questions."""

    def __init__(self, ground: Ground, turns: Turns, sweeper: Sweeper) -> None:
        """Take the ground, how a session is worked on, and what closes old checkpoints on the way."""
        self._ground = ground
        self._turns = turns
        self._sweeper = sweeper

    async def __call__(self, session_id: str, prompt: Prompt) -> AsyncIterator[Event]:
        """Answer, event by event; the last one closes."""
        with invoked(self._ground, Kind.PROMPT, session_id) as invocation:
            invocation.span.set_attributes(invocation_span.questioned(self._ground.regime, prompt.text))
            try:
                self._sweeper.on_the_way()
                with self._turns.held(invocation, invocation.guarded(prompt.requester)) as work:
                    _started(work, prompt.text)
                    work.reset_watch()
                    Answers(work).begin()
                    async for event in self._turns.go_on(invocation, work, prompt.text):
                        yield event
            except Exception as error:  # noqa: BLE001 - whatever a model or a tool raises ends as a code
                yield invocation.fail(error)
            finally:
                self._sweeper.afterwards()


class ResumeRun:
    """Go on where a session waited for a person."""

    def __init__(self, ground: Ground, turns: Turns, guard: Guard, sweeper: Sweeper) -> None:
        """Take the ground, how a session is worked on, the guard, and what closes old checkpoints on the way."""
        self._ground = ground
        self._turns = turns
        self._guard = guard
        self._sweeper = sweeper

    async def __call__(self, session_id: str, resume: Resume) -> AsyncIterator[Event]:
        """Go on, event by event; the last one closes."""
        with invoked(self._ground, Kind.RESUME, session_id) as invocation:
            try:
                self._sweeper.on_the_way()
                case = self._case(session_id, resume)
                # The paused trace has ended; this one says where it goes on from.
                link_to(invocation.span, case.checkpoint.traceparent)
                with self._turns.held(invocation, invocation.guarded(case.checkpoint.requester)) as work:
                    async for event in self._resumed(invocation, work, resume):
                        yield event
            except Exception as error:  # noqa: BLE001 - the same
                yield invocation.fail(error)
            finally:
                self._sweeper.afterwards()

    async def _resumed(self, invocation: Invoked, work: Work, resume: Resume) -> AsyncIterator[Event]:
        _started(work)
        # Read again under the lease: another run may have gone on in between.
        case = self._case(invocation.session_id, resume)
        if resume.checkpoint_id not in work.session.pending:
            state = case.state(self._guard.clock()).value
            raise AgentError("already_resumed", f"Another invocation went on from this checkpoint: it is {state}.")
        state = case.state(self._guard.clock())
        if state is State.PENDING or state is State.IN_DOUBT:
            yield self._turns.suspended(invocation, self._turns.waiting(work))
            return
        async for event in self._turns.go_on(invocation, work, None):
            yield event

    def _case(self, session_id: str, resume: Resume) -> Case:
        case = self._guard.store.case(resume.checkpoint_id)
        if case is None:
            raise AgentError("unknown_checkpoint", "There is no such checkpoint.")
        if case.checkpoint.session_id != session_id:
            raise AgentError("foreign_checkpoint", "This checkpoint belongs to another session: resume it there.")
        return case


class FeedbackRun:
    """Leave what a person thinks of an answer in the trail of its session."""

    def __init__(self, ground: Ground) -> None:
        """Take the ground."""
        self._ground = ground

    async def __call__(self, session_id: str, feedback: Feedback) -> AsyncIterator[Event]:
        """Leave the span; `session_id` is the caller's, the span belongs to the session that is judged."""
        del session_id
        ground = self._ground
        with invoked(ground, Kind.FEEDBACK, feedback.session_id) as invocation:
            invocation.complete(invocation_span.judged(ground.regime, feedback.verdict, feedback.note, ground.digest))
            yield answers.noted(session_id=feedback.session_id, trace_id=invocation.trace_id)


class SweepRun:
    """Close what nobody answered in time, and send what waits to be sent."""

    def __init__(self, ground: Ground, sweeper: Sweeper) -> None:
        """Take the ground and the sweeper."""
        self._ground = ground
        self._sweeper = sweeper

    async def __call__(self, session_id: str, sweep: Sweep) -> AsyncIterator[Event]:
        """Sweep as long as there is something to close; say how much that was."""
        del sweep
        with invoked(self._ground, Kind.SWEEP, session_id) as invocation:
            try:
                counts = self._sweeper.all()
                invocation.complete({})
                yield answers.swept(counts, session_id=session_id, trace_id=invocation.trace_id)
            except Exception as error:  # noqa: BLE001 - the same
                yield invocation.fail(error)


def _started(work: Work, question: str | None = None) -> None:
    work.note(
        EventName.RUN_STARTED,
        kind=work.run.kind.value,
        code=work.guard.policy.version,
        prices=work.guard.prices.version,
        reason=question,
        # The run before may have said that it ended, and that end is not anchored.
        reasons=[RECOVERED] if work.lease.recovered else None,
    )
