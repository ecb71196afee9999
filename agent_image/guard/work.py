"""Hold one run's work on its session: the lease, the audit's chain, what the detectors see, and what ends it early."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from agent_image.contract import EventName, Field, Kind, Outcome, Ruling
from agent_image.errors import AgentError, AuditError
from agent_image.guard.alerts import Alert
from agent_image.guard.audit import Chain
from agent_image.guard.batch import Batch
from agent_image.guard.budget import Amount
from agent_image.guard.checkpoint import Call, Case, Progress, State
from agent_image.guard.codec import decode, encode
from agent_image.guard.events import TOKENS
from agent_image.guard.findings import Anomaly
from agent_image.guard.guard import Guard
from agent_image.guard.lease import Lease
from agent_image.guard.rules import UNKNOWN
from agent_image.guard.session import Session
from agent_image.guard.transcript import Transcript
from agent_image.guard.verdict import Verdict
from agent_image.guard.watch import (
    Finding,
    Observed,
    Remedy,
    Seen,
    Severity,
    Watch,
    fingerprint,
    observation,
    sketch,
    strongest,
)
from agent_image.notice import notice

_CIRCLES: Final = "The agent was going round in circles, and was stopped."
_ENDS: Final[Mapping[Anomaly, tuple[str, Outcome]]] = MappingProxyType(
    {
        Anomaly.COST: ("The agent was spending more than it may, and was stopped.", Outcome.BUDGET),
        Anomaly.BLOCKED_STREAK: ("The agent kept asking for what it may not do, and was stopped.", Outcome.REFUSED),
        Anomaly.ERROR_STREAK: ("Too many calls failed one after the other; the agent was stopped.", Outcome.FAILED),
    }
)


@dataclass(slots=True)
class _Step:
    """Gather one step: what the model said, and what became of its calls."""

    begun: bool = False
    text: str = ""
    cost_nano: int | None = None
    calls: list[Seen] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Run:
    """Name a run: its id, what kind of invocation it is, who asked for it, and the trace it leaves.

    Attributes:
        requester: who asked, where that is known.
        ids: give the ids of the current trace and span, as hexadecimal text.
        traceparent: give the current trace in the form that a later one links to.
    """

    id: str
    session_id: str
    kind: Kind
    ids: Callable[[], tuple[str, str]]
    traceparent: Callable[[], str | None]
    requester: str | None = None


class Suspended(Exception):  # noqa: N818 - it is an answer, not a fault
    """Say that the run goes no further until a person has spoken."""

    def __init__(self, case: Case) -> None:
        """Take what waits."""
        super().__init__(case.checkpoint.id)
        self.case = case


class Stopped(AgentError):  # noqa: N818 - it names what happened
    """Say that the guard ended the run, and how the trail calls that end."""

    def __init__(self, code: str, message: str, outcome: Outcome) -> None:
        """Take the code, the sentence for the caller, and the outcome."""
        super().__init__(code, message)
        self.outcome = outcome


class Work:
    """Do one run's bookkeeping."""

    def __init__(self, guard: Guard, run: Run) -> None:
        """Take the session.

        Raises:
            AgentError: another run works on it, or the store does not answer.
        """
        self.guard = guard
        self.run = run
        self.lease = Lease(
            guard.store, run.session_id, run.id, guard.clock, timedelta(seconds=guard.settings.lease_seconds)
        )
        session = self.lease.session
        self.chain = Chain(
            guard.outlet,
            guard.slim,
            session_id=run.session_id,
            run=run.id,
            agent=guard.agent,
            head=session.head,
            clock=guard.clock,
            new_id=guard.new_id,
            redact=guard.redact,
            digest=guard.digest,
            ids=run.ids,
        )
        self.batch = Batch(guard.store, run.session_id, guard.clock)
        # A run that was lost may have kept its last steps with its results alone.
        self.lease.note(lambda session: replace(session, budget=session.budget.at_least(self.batch.steps)))
        self.watch = decode(Watch, session.watch) if session.watch else Watch()
        self.spent = Amount()
        # Whether a model was called whose price nobody knows: then nobody knows what the run cost.
        self.unpriced = False
        self.tokens = dict.fromkeys(TOKENS, 0)
        self.asked: dict[str, Case] = {}
        self.halted: AgentError | None = None
        # Whether something ran that is not only reading: then the turn stays in the history, whatever follows.
        self.acted = False
        # Gives the conversation as it stands; whoever drives the model says so.
        self.messages: Callable[[], Sequence[Mapping[str, Any]]] = tuple
        self.transcript = Transcript(guard.redact)
        # Whether the caller has hung up while somebody was still asked.
        self.abandoned = False
        self._step = _Step()

    @property
    def session(self) -> Session:
        """Give the session's control state."""
        return self.lease.session

    @property
    def cost_usd(self) -> Decimal | None:
        """Tell what the run spent; None where nobody knows all of it."""
        return None if self.unpriced else self.spent.usd

    @property
    def steps(self) -> int:
        """Tell how many steps the session has taken."""
        return self.session.budget.committed.steps

    def note(self, name: EventName, **fields: Any) -> None:
        """Append an event.

        Raises:
            AuditError: the audit cannot be written.
        """
        self.chain.append(name, step=self.steps, **fields)

    def anchor(self, change: Callable[[Session], Session] = lambda session: session) -> None:
        """Make what was appended durable, and keep in the store where it ends.

        Raises:
            AuditError: the audit cannot be written.
            LeaseLost: another run has the session.
        """
        head = self.chain.flush()
        self.lease.update(lambda session: change(replace(session, head=head)))

    def await_checkpoint(self, checkpoint_id: str) -> None:
        """Keep that the session waits for a checkpoint, before it is there: no process may forget it."""
        self.lease.update(
            lambda session: replace(session, pending=tuple(dict.fromkeys((*session.pending, checkpoint_id))))
        )

    def answered(self) -> None:
        """Keep that the session waits for nothing: every call of its last message has its result."""
        if not self.session.pending:
            return
        for checkpoint_id in self.session.pending:
            self._withdraw(checkpoint_id)
        self.lease.update(lambda session: replace(session, pending=()))

    def _withdraw(self, checkpoint_id: str) -> None:
        """Ask nobody any more for what is not needed: another approval may have let the session spend enough."""
        store, now = self.guard.store, self.guard.clock()
        case = store.case(checkpoint_id)
        if case is None or case.state(now) not in {State.PENDING, State.APPROVED}:
            return
        if store.advance(case.checkpoint, case.checkpoint.advanced(Progress.CANCELLED, now)):
            self.note(
                EventName.GATE,
                checkpoint_id=checkpoint_id,
                tool=case.checkpoint.tool,
                zone=case.checkpoint.zone.value,
                decision=Ruling.CANCELLED.value,
                code="not_needed",
            )

    def halt(self, error: AgentError) -> None:
        """End the run as soon as the framework lets go: the first cause counts."""
        if self.halted is None:
            self.halted = error

    def raise_halted(self) -> None:
        """End the run if something said so.

        Raises:
            AgentError: what it was.
        """
        if self.halted is not None:
            # It may be a constant, which would gather the frames of every run that it ended.
            raise self.halted.with_traceback(None)

    def ask(self, case: Case) -> Suspended:
        """Note what the run waits for."""
        self.asked[case.checkpoint.id] = case
        return Suspended(case)

    def found(self, findings: Sequence[Finding]) -> None:
        """Tell people what the detectors found: in the trail, and through the outbox."""
        for finding in findings:
            self.note(
                EventName.ALERT,
                code=finding.kind.value,
                severity=finding.severity.value,
                decision=finding.remedy.value,
                evidence=dict(finding.evidence),
            )
            self.alert(finding.kind.value, finding.severity, finding.evidence)

    def alert(self, kind: str, severity: Severity, evidence: Mapping[str, str | int]) -> None:
        """Put an alert in the outbox; one that cannot be kept is lost with a notice, and ends nothing."""
        guard = self.guard
        self.guard.outbox.put(
            Alert(
                id=guard.new_id(),
                kind=kind,
                severity=severity,
                session_id=self.run.session_id,
                run=self.run.id,
                step=self.steps,
                evidence=dict(evidence),
                at=guard.clock(),
            )
        )

    def hooked(self, verdict: Verdict, call: Call | None = None) -> None:
        """Note what a stage said of a call, or of an answer; alert people where it asks for that.

        Raises:
            AuditError: the audit cannot be written.
        """
        self.note(
            EventName.HOOK,
            hook=verdict.source or None,
            tool=None if call is None else call.tool,
            tool_use_id=None if call is None else call.tool_use_id,
            decision=verdict.ruling.value,
            code=verdict.code or None,
            reason=verdict.detail or verdict.text or None,
            args=None if verdict.arguments is None else dict(verdict.arguments),
            latency_ms=verdict.took_ms,
        )
        if verdict.alert:
            self.alert(
                f"hook_{verdict.alert}",
                Severity.WARNING,
                {Field.HOOK.value: verdict.source, **({} if call is None else {Field.TOOL.value: call.tool})},
            )

    def seen(
        self,
        call: Call,
        result: Mapping[str, Any],
        volatile: Sequence[str],
        *,
        refused: bool = False,
        held: bool = False,
    ) -> None:
        """Remember what a call of this step came to."""
        failed = result.get("status") != "success"
        rule = self.guard.policy.rules.get(call.tool, UNKNOWN)
        self._step.calls.append(
            Seen(
                tool=call.tool,
                fingerprint=fingerprint(call.tool, call.arguments, volatile),
                observation=observation(result.get("content"), is_error=failed, volatile=volatile, settle=rule.settle),
                is_error=failed,
                refused=refused,
                held=held,
            )
        )

    def spoken(self, text: str, cost_nano: int | None) -> None:
        """Remember what the model said in this step, and what it cost."""
        self._step.text = text
        self._step.cost_nano = cost_nano
        self._step.begun = True

    def look(self) -> Remedy | None:
        """Let the detectors look at the step that ended; tell what they ask for.

        Raises:
            AuditError: what they found cannot be written down.
        """
        # A resumed run begins with the calls of a message that another run has heard.
        if not self._step.begun and not self._step.calls:
            return None
        step, self._step = self._step, _Step()
        observed = Observed(
            at=self.guard.clock(),
            calls=tuple(step.calls),
            text=() if step.calls else sketch(step.text),
            cost_nano=step.cost_nano,
            spent=self.session.budget.spent,
        )
        self.watch, findings = self.watch.observed(observed, self.guard.watch)
        self.found(findings)
        worst = strongest(findings)
        if worst is not None and worst.remedy is Remedy.STOP:
            self.halt(_stopped(worst.kind))
        return None if worst is None else worst.remedy

    def reset_watch(self) -> None:
        """Begin to look anew: a person has spoken."""
        self.watch = self.watch.reset()

    def close(self, outcome: Outcome) -> None:
        """End the run: its last event, the chain's end, the lease.

        Raises:
            LeaseLost: another run has the session; nothing was written.
        """
        try:
            self.look()
            self.note(EventName.RUN_ENDED, outcome=outcome.value, cost_usd=self.cost_usd, tokens=self.tokens)
            head = self.chain.flush()
        except AuditError as error:
            notice("audit_not_durable", fault=error.code, session=self.run.session_id, run=self.run.id)
            # What is not durable is not anchored: the next run begins behind what is.
            head = self.session.head
        self.lease.release(lambda session: replace(session, head=head, watch=encode(self.watch)))


def _stopped(kind: Anomaly) -> Stopped:
    text, outcome = _ENDS.get(kind, (_CIRCLES, Outcome.LOOP))
    return Stopped(kind.value, text, outcome)


def going_in_circles() -> Stopped:
    """End a run that repeats itself."""
    return _stopped(Anomaly.LOOP)


def cancelled() -> Stopped:
    """End a run whose task a person has ended."""
    return Stopped("cancelled", "A person ended this task.", Outcome.REFUSED)
