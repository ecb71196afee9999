"""Carry out a call that was let through: the intent before, the record after, and nothing of it twice."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agent_image.contract import EventName, Ruling, Zone
from agent_image.errors import AgentError, NoEffect
from agent_image.guard import sayings
from agent_image.guard.budget import Amount, nano
from agent_image.guard.checkpoint import Call, Case, Checkpoint, Progress
from agent_image.guard.claim import Claim, arguments_digest
from agent_image.guard.claims import Claims
from agent_image.guard.findings import Severity
from agent_image.guard.hearing import heard
from agent_image.guard.policy import Classified
from agent_image.guard.sayings import ToolResult
from agent_image.guard.spending import Reservation, Spending
from agent_image.guard.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """Hold what a person approved, and this run claimed."""

    case: Case
    claimed: Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Hold a call that may run now.

    Attributes:
        arguments: what it runs with: the model's arguments, or a person's in their place.
        claim: what the tool is given to prove it: its idempotency key and fencing token.
        since: when it was let through.
        said: the model's call; another object than `call` where a stage put other arguments in the place of its own.
    """

    call: Call
    arguments: Mapping[str, Any]
    claim: Claim
    classified: Classified
    ruling: Ruling
    reservation: Reservation
    since: datetime
    said: Call
    approved: Approved | None = None

    @property
    def changed(self) -> bool:
        """Tell whether a stage put other arguments in the place of the model's."""
        return self.said is not self.call


class Carrying:
    """Carry out the calls of one run."""

    def __init__(self, work: Work, spending: Spending, claims: Claims) -> None:
        """Take the run's bookkeeping, its account and its claims."""
        self._work = work
        self._spending = spending
        self._claims = claims
        self._running: set[str] = set()

    def runs(self, call_id: str) -> bool:
        """Tell whether a call has begun and not ended."""
        return call_id in self._running

    def begin(
        self,
        call: Call,
        classified: Classified,
        arguments: Mapping[str, Any],
        approved: Approved | None = None,
        *,
        said: Call | None = None,
    ) -> Admitted:
        """Write the intent, then let go: durable first where a person was asked.

        A call that only reads has no record of its own before it runs: without a result it runs again.

        Raises:
            AgentError: it cannot be written; nothing runs.
        """
        work = self._work
        ruling = _ruling(approved)
        reads = approved is None and classified.zone is Zone.GREEN
        reserve = self._spending.count if reads else self._spending.reserve
        reservation = reserve(call.id, price_of(classified))
        try:
            self._intend(call, classified, ruling, arguments, approved)
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
        return Admitted(
            call=call,
            arguments=arguments,
            claim=claim,
            classified=classified,
            ruling=ruling,
            reservation=reservation,
            since=work.guard.clock(),
            approved=approved,
            said=said or call,
        )

    def finish(self, admitted: Admitted, result: ToolResult, error: BaseException | None) -> ToolResult:
        """Keep what a call answered; give what the model is to read.

        Raises:
            Suspended: nobody knows whether an approved action took effect.
            AgentError: what came of it cannot be kept, or another run took the session over.
        """
        work, call = self._work, admitted.call
        self._running.discard(call.id)
        succeeded = error is None and result.get("status") == "success"
        progress = Progress.DONE if admitted.approved is None else _progress(error, succeeded=succeeded)
        answer = result if error is None else sayings.raised(error)
        told = self._recorded(admitted, answer, progress, succeeded=succeeded)
        # A call that had no effect costs a step, and no price.
        price = admitted.reservation.amount
        actual = replace(price, nano_usd=0) if isinstance(error, NoEffect) else price
        self._spending.settle(admitted.reservation, actual)
        # What the model asks for again and again is a circle, whatever stages add to the call and to its answer.
        work.seen(admitted.said, answer, admitted.classified.rule.volatile)
        self._note(admitted, told, actual, is_error=not succeeded, in_doubt=progress is Progress.IN_DOUBT)
        if admitted.classified.rule.notify:
            work.alert("tool_ran", Severity.WARNING, {"tool": call.tool, "zone": admitted.classified.zone.value})
        if progress is Progress.IN_DOUBT and (case := work.guard.store.case(call.id)) is not None:
            raise work.ask(case)
        return told

    def withdraw(self, admitted: Admitted) -> None:
        """Take back what has not begun: a price is given back, and so is an approval, which another run may carry out.

        Raises:
            AgentError: it cannot be kept.
        """
        work, call = self._work, admitted.call
        self._running.discard(call.id)
        if admitted.approved is not None:
            self._claims.give_back(admitted.approved.claimed)
        elif admitted.classified.zone is not Zone.GREEN:
            work.batch.withdraw(call.message, call.id, work.steps)
        self._spending.settle(admitted.reservation, Amount())
        work.note(
            EventName.TOOL_RESULT,
            tool=call.tool,
            tool_use_id=call.tool_use_id,
            zone=admitted.classified.zone.value,
            decision=Ruling.CANCELLED.value,
            checkpoint_id=None if admitted.approved is None else call.id,
            code="abandoned",
            is_error=True,
        )

    def _intend(
        self,
        call: Call,
        classified: Classified,
        ruling: Ruling,
        arguments: Mapping[str, Any],
        approved: Approved | None,
    ) -> None:
        work = self._work
        decision = None if approved is None else approved.case.decision
        work.note(
            EventName.TOOL_CALL,
            tool=call.tool,
            tool_use_id=call.tool_use_id,
            zone=classified.zone.value,
            decision=ruling.value,
            checkpoint_id=None if approved is None else call.id,
            approver=None if decision is None else decision.approver,
            args=dict(arguments),
        )
        if approved is not None:
            work.anchor()
        elif classified.zone is not Zone.GREEN:
            work.batch.start(call.message, call.id, work.steps)

    def _recorded(self, admitted: Admitted, result: ToolResult, progress: Progress, *, succeeded: bool) -> ToolResult:
        """Keep what a call answered, as far as stages let it through; give it.

        A check may take minutes: that the call has run is kept before anybody is asked, and not what it answered.
        """
        work, call, approved = self._work, admitted.call, admitted.approved
        slow = bool(work.guard.stages.after_tool) and admitted.classified.zone is not Zone.GREEN
        unchecked = {"status": "success" if succeeded else "error", "content": [{"text": sayings.UNCHECKED}]}
        recorded = None
        if slow and approved is not None and progress is not Progress.IN_DOUBT:
            recorded = self._claims.record(approved.claimed, progress, unchecked)
        elif slow and approved is None:
            work.batch.record(call.message, call.id, unchecked, work.steps)
        told = self._told(admitted, result, succeeded=succeeded)
        if recorded is not None:
            self._claims.amend(recorded, told)
        elif approved is not None:
            self._claims.record(approved.claimed, progress, told)
        else:
            work.batch.record(call.message, call.id, told, work.steps)
        return told

    def _told(self, admitted: Admitted, result: ToolResult, *, succeeded: bool) -> ToolResult:
        """Add to a result what stages and people say, and take away what they hide."""
        ran = replace(admitted.call, arguments=admitted.arguments)
        answer = heard(self._work, ran, result, succeeded=succeeded, ruling=admitted.ruling.value)
        content = answer["content"]
        decision = None if admitted.approved is None else admitted.approved.case.decision
        if decision is not None and admitted.ruling is Ruling.EDITED:
            content = [{"text": sayings.edited(admitted.arguments, decision.reason)}, *content]
        elif decision is not None and decision.reason:
            content = [{"text": sayings.guided(decision.reason)}, *content]
        if admitted.changed and admitted.ruling is not Ruling.EDITED:
            content = [{"text": sayings.changed(admitted.arguments)}, *content]
        return {**answer, "content": content}

    def _note(self, admitted: Admitted, told: ToolResult, cost: Amount, *, is_error: bool, in_doubt: bool) -> None:
        work, call = self._work, admitted.call
        took = work.guard.clock() - admitted.since
        work.note(
            EventName.TOOL_RESULT,
            tool=call.tool,
            tool_use_id=call.tool_use_id,
            zone=admitted.classified.zone.value,
            decision=(Ruling.IN_DOUBT if in_doubt else admitted.ruling).value,
            checkpoint_id=None if admitted.approved is None else call.id,
            is_error=is_error,
            latency_ms=round(took.total_seconds() * 1000),
            cost_usd=cost.usd,
            result=told["content"],
        )


def price_of(classified: Classified) -> Amount:
    """Give what a call costs: its tool's price, and a step."""
    return Amount(nano(classified.rule.price_usd), 0, 1)


def _ruling(approved: Approved | None) -> Ruling:
    if approved is None:
        return Ruling.ALLOWED
    return Ruling.APPROVED if approved.claimed.executed is None else Ruling.EDITED


def _progress(error: BaseException | None, *, succeeded: bool) -> Progress:
    """Tell how an approved action ended: who raises without saying that nothing happened leaves a doubt."""
    if error is not None:
        return Progress.FAILED if isinstance(error, NoEffect) else Progress.IN_DOUBT
    return Progress.DONE if succeeded else Progress.FAILED
