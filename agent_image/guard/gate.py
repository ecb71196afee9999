"""Let a tool call through, hold it, or turn it away: the one way from what a model wants to what happens.

Rules, hooks, detectors, budget and people are asked in this order, every time, also on a resume: what was approved is
what runs, if it still may. Whatever cannot be asked, written or read ends the run: nothing happens unrecorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from jsonschema import Draft202012Validator

from agent_image.contract import EventName, Level, Outcome, Ruling, Zone
from agent_image.errors import AgentError, NoEffect
from agent_image.guard.budget import Amount, Over, nano
from agent_image.guard.canonical import NotCanonical, canonical
from agent_image.guard.checkpoint import Action, Call, Case, Checkpoint, Progress, State
from agent_image.guard.claim import Claim, arguments_digest
from agent_image.guard.claims import Claims
from agent_image.guard.findings import Anomaly, rung
from agent_image.guard.policy import Classified
from agent_image.guard.rules import UNKNOWN as UNKNOWN_TOOL
from agent_image.guard.spending import Reservation, Spending, opened
from agent_image.guard.verdict import Outcome as ToolOutcome
from agent_image.guard.verdict import Say, Verdict, judge
from agent_image.guard.watch import Remedy, Severity, fingerprint
from agent_image.guard.work import STOPPED, Stopped, Work

ToolResult = dict[str, Any]
"""What a tool answers: `status` (success, error) and `content`, a list of blocks."""

REJECTED: Final = "A person rejected this call. Reason: {reason}"
NO_REASON: Final = "none was given"
CANCELLED: Final = "A person ended this task. Do nothing more."
EXPIRED: Final = (
    "Nobody approved this call in time, so it did not run. Ask the user to request it again on the next working day."
)
UNKNOWN: Final = "This call was interrupted, and nobody knows whether it took effect. Do not repeat it."
NOBODYS: Final = "unknown"
LOOP: Final = "loop"
REPEATED: Final = "call_repeated"
TWICE: Final = "This call was made twice in one message; it runs once."
LOOPING: Final = "This call was stopped: it repeats what was done before, with the same result. Try another way."
RESOLVED_DONE: Final = "This call was interrupted. A person checked, and it took effect. {reason}"
RESOLVED_FAILED: Final = "This call was interrupted. A person checked, and it did not take effect. {reason}"
EDITED: Final = "A person changed the arguments before approving; the call ran with {arguments}. {reason}"
GUIDED: Final = "A person approved this call and adds: {reason}"
TAMPERED: Final = "What a person was shown is not this call, so it did not run."
RAISED: Final = "The tool failed ({error})."
MISFIT: Final = "The arguments do not fit the tool's schema, so it did not run."
NO_TOOL: Final = "There is no tool of this name."
HIDDEN: Final = "The result of this call was withheld: {text}"


@dataclass(frozen=True, slots=True)
class Admitted:
    """Hold a call that may run now.

    Attributes:
        arguments: what it runs with: the model's arguments, or a person's in their place.
        claim: what the tool is given to prove it: its idempotency key and fencing token.
        checkpoint: what was claimed, where a person was asked.
    """

    call: Call
    arguments: Mapping[str, Any]
    claim: Claim
    classified: Classified
    ruling: Ruling
    reservation: Reservation
    case: Case | None = None
    checkpoint: Checkpoint | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """Hold what the model gets in the place of a run of the tool."""

    call: Call
    ruling: Ruling
    result: ToolResult


class Gate:
    """Judge the tool calls of one run."""

    def __init__(self, work: Work, spending: Spending) -> None:
        """Take the run's bookkeeping and its account."""
        self._work = work
        self._spending = spending
        self._claims = Claims(work)
        self._running: set[str] = set()

    def admit(self, call: Call) -> Admitted | Answered:
        """Decide on a call.

        Raises:
            Suspended: a person has to speak first.
            AgentError: the run cannot go on; nothing ran.
        """
        work = self._work
        try:
            call_id = call.id
        except NotCanonical as error:
            return self._answered(call, Ruling.BLOCKED, error.message, code=error.code)
        if (kept := work.batch.result(call.message, call_id)) is not None:
            return Answered(call, Ruling.REPLAYED, kept)
        if call_id in self._running:
            # One id twice in a message: what was let through once does not run beside itself.
            return self._answered(call, Ruling.BLOCKED, TWICE, code=REPEATED)
        classified = work.guard.policy.classify(call.tool, call.arguments)
        if call_id in work.session.pending and (case := work.guard.store.case(call_id)) is not None:
            return self._follow(case, call, classified)
        if work.batch.started(call.message, call_id) and not classified.rule.idempotent:
            return self._answered(call, Ruling.IN_DOUBT, UNKNOWN, zone=classified.zone)
        return self._judged(call, classified)

    def unknown(self, call: Call) -> Answered:
        """Turn away a call of a tool that nobody has: there is nothing to run, and nothing to ask about.

        Raises:
            AuditError: it cannot be written down.
        """
        # The name is the model's own words.
        nameless = replace(call, tool=NOBODYS)
        return self._answered(nameless, Ruling.BLOCKED, NO_TOOL, code="unknown_tool")

    def _judged(self, call: Call, classified: Classified) -> Admitted | Answered:
        work = self._work
        verdicts = judge(work.guard.stages.before_tool, call)
        for verdict in verdicts:
            work.note(
                EventName.HOOK, tool=call.tool, tool_use_id=call.tool_use_id, code=verdict.code, reason=verdict.text
            )
        if verdicts and verdicts[0].say is Say.DENY:
            return self._answered(call, Ruling.BLOCKED, verdicts[0].text, zone=classified.zone, code=verdicts[0].code)
        remedy = work.watch.verdict(fingerprint(call.tool, call.arguments, classified.rule.volatile))
        if remedy is Remedy.STOP:
            if work.halted is None:
                work.found([rung(Anomaly.LOOP, Remedy.STOP, {"tool": call.tool})])
            raise Stopped(LOOP, STOPPED, Outcome.LOOP)
        if remedy is Remedy.BLOCK:
            return self._answered(call, Ruling.BLOCKED, LOOPING, zone=classified.zone, code=LOOP)
        over = self._spending.over(self._price(classified))
        asks = classified.asks or any(verdict.say is Say.ASK for verdict in verdicts)
        if asks and not self._fits(call.tool, call.arguments):
            # Nobody is asked about what the tool would turn away.
            return self._answered(call, Ruling.BLOCKED, MISFIT, zone=classified.zone, code="arguments_misfit")
        if asks:
            codes = tuple(verdict.code for verdict in verdicts if verdict.say is Say.ASK)
            return self._ask(call, classified, (*classified.reasons, *codes, *over))
        if over:
            self._spending.pass_gate(over, call.message)
        return self._run(call, classified, Ruling.ALLOWED, call.arguments)

    def _ask(self, call: Call, classified: Classified, reasons: tuple[str, ...]) -> Admitted | Answered:
        work, settings, now = self._work, self._work.guard.settings, self._work.guard.clock()
        expires = now + timedelta(minutes=settings.minutes_to_answer(classified.zone))
        checkpoint = Checkpoint(
            id=call.id,
            action=Action.TOOL,
            session_id=call.session_id,
            run=work.run.id,
            agent=work.guard.agent,
            message=call.message,
            tool_use_id=call.tool_use_id,
            tool=call.tool,
            arguments=dict(call.arguments),
            arguments_digest=arguments_digest(dict(call.arguments)),
            schema=dict(work.guard.schemas.get(call.tool, {})),
            zone=classified.zone,
            level=max(classified.level, Level.BLOCK),
            reasons=tuple(dict.fromkeys(str(reason) for reason in reasons)),
            policy=work.guard.policy.version,
            cost_usd=str(work.session.budget.committed.usd),
            requester=work.run.requester,
            created_at=now,
            expires_at=expires,
            due_at=expires,
            execute_minutes=settings.execute_minutes,
            traceparent=work.run.traceparent(),
        )
        return self._follow(opened(work, checkpoint), call, classified)

    def _follow(self, case: Case, call: Call, classified: Classified) -> Admitted | Answered:
        """Do what a checkpoint is worth now."""
        work = self._work
        checkpoint = case.checkpoint
        match case.state(work.guard.clock()):
            case State.PENDING | State.IN_DOUBT:
                raise work.ask(case)
            case State.APPROVED:
                return self._approved(case, call, classified)
            case State.EXECUTING:
                doubtful = self._claims.doubt(checkpoint)
                return self._again(call, classified) if doubtful is None else self._follow(doubtful, call, classified)
            case State.DONE | State.FAILED if checkpoint.progress is Progress.IN_DOUBT:
                return self._resolved(case, call)
            case State.DONE | State.FAILED:
                return Answered(call, Ruling.REPLAYED, dict(checkpoint.result or _error(UNKNOWN)))
            case State.REJECTED | State.CANCELLED | State.EXPIRED as closed:
                return self._closed(case, call, closed)

    def _again(self, call: Call, classified: Classified) -> Admitted | Answered:
        case = self._work.guard.store.case(call.id)
        if case is None:
            raise AgentError("checkpoint_lost", "The store lost a checkpoint; nothing ran.")
        return self._follow(case, call, classified)

    def _approved(self, case: Case, call: Call, classified: Classified) -> Admitted | Answered:
        work, decision = self._work, case.decision
        edited = decision is not None and decision.arguments is not None
        # Not the stored ones: the id binds the call, and a stored text may have been changed since.
        arguments = decision.arguments if decision is not None and decision.arguments is not None else call.arguments
        if not case.checkpoint.genuine:
            self._claims.close(case, State.REJECTED)
            return self._answered(call, Ruling.REJECTED, TAMPERED, zone=classified.zone, code="checkpoint_changed")
        if edited and (fault := self._fault(case, arguments)):
            self._claims.close(case, State.REJECTED)
            return self._answered(call, Ruling.REJECTED, fault, zone=classified.zone, code="invalid_edit")
        # A hard limit holds for what was approved, too; a soft one was among the reasons.
        self._spending.over(self._price(classified))
        if set(case.checkpoint.reasons) & set(Over):
            self._spending.grant(call.id)
        claimed = self._claims.claim(case)
        if claimed is None:
            return self._again(call, classified)
        work.reset_watch()
        try:
            return self._run(
                call, classified, Ruling.EDITED if edited else Ruling.APPROVED, arguments, case=case, checkpoint=claimed
            )
        except AgentError:
            self._claims.give_back(claimed)
            raise

    def _fits(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Tell whether a tool can take arguments."""
        schema = self._work.guard.schemas.get(tool, {})
        return next(Draft202012Validator(schema).iter_errors(dict(arguments)), None) is None

    def _fault(self, case: Case, arguments: Mapping[str, Any]) -> str | None:
        """Check a person's arguments as the tool would, and where they were changed since the decision."""
        if case.checkpoint.level is not Level.STEER:
            return "A person changed the arguments of a call that may only be approved or rejected; it did not run."
        try:
            canonical(dict(arguments))
        except NotCanonical as error:
            return error.message
        if not self._fits(case.checkpoint.tool, arguments):
            return "A person changed the arguments so that the tool cannot take them; the call did not run."
        return None

    def _run(
        self,
        call: Call,
        classified: Classified,
        ruling: Ruling,
        arguments: Mapping[str, Any],
        *,
        case: Case | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Admitted:
        """Write the intent, then let go: durable first where a person was asked."""
        work = self._work
        reservation = self._spending.reserve(call.id, self._price(classified))
        try:
            self._intend(call, classified, ruling, arguments, case=case, checkpoint=checkpoint)
        except AgentError:
            # Nothing ran, so nothing is spent; should that not be kept either, the next owner counts it as spent.
            with suppress(AgentError):
                self._spending.settle(reservation, Amount())
            raise
        self._running.add(call.id)
        work.acted = work.acted or classified.zone is not Zone.GREEN
        claim = Claim(
            key=call.id,
            fence=work.lease.fence,
            session_id=call.session_id,
            tool=call.tool,
            digest=arguments_digest(dict(arguments)),
        )
        return Admitted(call, arguments, claim, classified, ruling, reservation, case, checkpoint, work.guard.clock())

    def _intend(
        self,
        call: Call,
        classified: Classified,
        ruling: Ruling,
        arguments: Mapping[str, Any],
        *,
        case: Case | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        work = self._work
        if classified.zone is not Zone.GREEN and checkpoint is None:
            work.batch.start(call.message, call.id)
        work.note(
            EventName.TOOL_CALL,
            tool=call.tool,
            tool_use_id=call.tool_use_id,
            zone=classified.zone.value,
            decision=ruling.value,
            checkpoint_id=None if checkpoint is None else checkpoint.id,
            approver=None if case is None or case.decision is None else case.decision.approver,
            args=dict(arguments),
        )
        if checkpoint is not None:
            work.anchor()

    def finish(self, admitted: Admitted, result: ToolResult, error: BaseException | None) -> ToolResult:
        """Keep what a call answered; give what the model is to read.

        Raises:
            Suspended: nobody knows whether an approved action took effect.
            LeaseLost: another run took the session over; nothing was recorded.
        """
        work, call = self._work, admitted.call
        self._running.discard(call.id)
        succeeded = error is None and result.get("status") == "success"
        told = self._told(admitted, result if error is None else _raised(error), succeeded=succeeded)
        if admitted.checkpoint is not None:
            progress = _progress(error, succeeded=succeeded)
            self._claims.record(admitted.checkpoint, progress, told)
        else:
            progress = Progress.DONE
            work.batch.record(call.message, call.id, told)
        price = admitted.reservation.amount
        # A call that had no effect costs a step, and no price.
        free = isinstance(error, NoEffect)
        self._spending.settle(admitted.reservation, replace(price, nano_usd=0) if free else price)
        told_of = result if succeeded else {**result, "status": "error"}
        work.seen(call, told_of, admitted.classified.rule.volatile)
        waited = work.guard.clock() - (admitted.since or work.guard.clock())
        work.note(
            EventName.TOOL_RESULT,
            tool=call.tool,
            tool_use_id=call.tool_use_id,
            zone=admitted.classified.zone.value,
            decision=(Ruling.IN_DOUBT if progress is Progress.IN_DOUBT else admitted.ruling).value,
            checkpoint_id=None if admitted.checkpoint is None else admitted.checkpoint.id,
            is_error=not succeeded,
            latency_ms=round(waited.total_seconds() * 1000),
            cost_usd=(Amount() if free else price).usd,
            result=told.get("content"),
        )
        if admitted.classified.rule.notify:
            work.alert("tool_ran", Severity.WARNING, {"tool": call.tool, "zone": admitted.classified.zone.value})
        if progress is Progress.IN_DOUBT and (case := work.guard.store.case(call.id)) is not None:
            raise work.ask(case)
        return told

    def settle(self, call: Call) -> ToolResult:
        """Give what a call came to that nobody goes on with: no tool runs for it any more."""
        work = self._work
        if (kept := work.batch.result(call.message, call.id)) is not None:
            return kept
        case = work.guard.store.case(call.id) if call.id in work.session.pending else None
        if case is None:
            return _error(UNKNOWN)
        classified = work.guard.policy.classify(call.tool, call.arguments)
        settled = self._follow(case, call, classified)
        return settled.result if isinstance(settled, Answered) else _error(UNKNOWN)

    def _told(self, admitted: Admitted, result: ToolResult, *, succeeded: bool) -> ToolResult:
        """Add to a result what stages and people say, and take away what they hide."""
        work = self._work
        content = list(result.get("content", ()))
        for verdict in judge(work.guard.stages.after_tool, ToolOutcome(admitted.call, result, succeeded)):
            self._hooked(admitted.call, verdict)
            hidden = verdict.say is Say.DENY
            content = [{"text": HIDDEN.format(text=verdict.text)}] if hidden else [*content, {"text": verdict.text}]
        decision = None if admitted.case is None else admitted.case.decision
        if admitted.ruling is Ruling.EDITED and decision is not None:
            text = EDITED.format(arguments=canonical(dict(admitted.arguments)), reason=decision.reason).strip()
            content = [{"text": text}, *content]
        elif decision is not None and decision.reason:
            content = [{"text": GUIDED.format(reason=decision.reason)}, *content]
        return {"status": "success" if succeeded else "error", "content": content}

    def _resolved(self, case: Case, call: Call) -> Answered:
        """Tell the model what a person found out about an action in doubt."""
        work, resolution = self._work, case.resolution
        took_effect = resolution is not None and resolution.took_effect
        text = (RESOLVED_DONE if took_effect else RESOLVED_FAILED).format(
            reason="" if resolution is None else resolution.reason
        )
        result: ToolResult = {"status": "success" if took_effect else "error", "content": [{"text": text.strip()}]}
        progress = Progress.DONE if took_effect else Progress.FAILED
        work.guard.store.advance(case.checkpoint, case.checkpoint.advanced(progress, work.guard.clock(), result=result))
        return self._kept(call, Ruling.REPLAYED, result, case.checkpoint.zone)

    def _closed(self, case: Case, call: Call, state: State) -> Answered:
        work, decision = self._work, case.decision
        if not case.checkpoint.closed:
            self._claims.close(case, state)
        reason = NO_REASON if decision is None or not decision.reason else decision.reason
        match state:
            case State.REJECTED:
                work.reset_watch()
                return self._kept(call, Ruling.REJECTED, _error(REJECTED.format(reason=reason)), case.checkpoint.zone)
            case State.CANCELLED:
                work.halt(Stopped("cancelled", "A person ended this task.", Outcome.REFUSED))
                return self._kept(call, Ruling.CANCELLED, _error(CANCELLED), case.checkpoint.zone)
            case _:
                return self._kept(call, Ruling.EXPIRED, _error(EXPIRED), case.checkpoint.zone)

    def _answered(
        self, call: Call, ruling: Ruling, text: str, *, zone: Zone = Zone.RED, code: str | None = None
    ) -> Answered:
        return self._kept(call, ruling, _error(text), zone, code)

    def _kept(self, call: Call, ruling: Ruling, result: ToolResult, zone: Zone, code: str | None = None) -> Answered:
        """Note an answer that no tool gave."""
        work = self._work
        work.note(
            EventName.TOOL_RESULT,
            tool=call.tool,
            tool_use_id=call.tool_use_id,
            zone=zone.value,
            decision=ruling.value,
            code=code,
            is_error=result["status"] != "success",
            result=result["content"],
        )
        refused = ruling in {Ruling.BLOCKED, Ruling.REJECTED, Ruling.EXPIRED}
        held = code in {LOOP, REPEATED}
        work.seen(
            call,
            result,
            work.guard.policy.rules.get(call.tool, UNKNOWN_TOOL).volatile,
            refused=refused and not held,
            held=held,
        )
        return Answered(call, ruling, result)

    def _hooked(self, call: Call, verdict: Verdict) -> None:
        self._work.note(
            EventName.HOOK,
            tool=call.tool,
            tool_use_id=call.tool_use_id,
            decision=verdict.say.name.lower(),
            code=verdict.code,
            reason=verdict.text,
        )

    def _price(self, classified: Classified) -> Amount:
        return Amount(nano(classified.rule.price_usd), 0, 1)


def _progress(error: BaseException | None, *, succeeded: bool) -> Progress:
    """Tell how an approved action ended: who raises without saying that nothing happened leaves a doubt."""
    if error is not None:
        return Progress.FAILED if isinstance(error, NoEffect) else Progress.IN_DOUBT
    return Progress.DONE if succeeded else Progress.FAILED


def _raised(error: BaseException) -> ToolResult:
    """Say that a tool raised, without what it said: the model would pass it on."""
    text = error.message if isinstance(error, AgentError) else RAISED.format(error=type(error).__name__)
    return _error(text)


def _error(text: str) -> ToolResult:
    return {"status": "error", "content": [{"text": text}]}
