"""Let a session spend: reserve before a model or a priced tool is called, ask at soft limits, stop at hard ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Final

from agent_image.contract import EventName, Level, Outcome, Ruling, Zone
from agent_image.errors import AgentError
from agent_image.guard.budget import Amount, Over
from agent_image.guard.canonical import digest
from agent_image.guard.checkpoint import Action, Case, Progress, State
from agent_image.guard.opening import opened
from agent_image.guard.prices import Tokens
from agent_image.guard.session import Session
from agent_image.guard.watch import Severity
from agent_image.guard.work import Stopped, Work

BUDGET: Final = "budget"
"""What stands in the place of a tool's name where a session asks to go on."""
LIMIT: Final = "budget_limit"
"""The code of what a hard limit refuses."""
_ENDED: Final = {
    State.REJECTED: ("budget_refused", "A person decided that this session may not spend more."),
    State.CANCELLED: ("budget_refused", "A person ended this session's work."),
    State.EXPIRED: ("budget_expired", "Nobody let this session spend more in time. Ask again on the next working day."),
}


@dataclass(frozen=True, slots=True)
class Reservation:
    """Hold what was set aside, under its name.

    Attributes:
        certain: the amount was spent at once, for it cannot turn out to be another: a step alone.
    """

    name: str
    amount: Amount
    certain: bool = False


class Spending:
    """Account for one run."""

    def __init__(self, work: Work) -> None:
        """Take the run's bookkeeping."""
        self._work = work
        self._limits = work.guard.settings.limits

    def over(self, more: Amount, *, priced: bool = True) -> tuple[Over, ...]:
        """Name the soft limits that an amount would pass.

        Raises:
            Stopped: it would pass a hard one.
        """
        budget = self._work.session.budget
        if stops := budget.stops(self._limits, more):
            self._work.note(EventName.BUDGET, code=stops[0].value, decision=Ruling.BLOCKED.value)
            self._work.alert(LIMIT, Severity.CRITICAL, {"limit": stops[0].value})
            limits = ", ".join(one.value.removeprefix("budget_") for one in stops)
            raise Stopped(LIMIT, f"This session has reached its limit ({limits}).", Outcome.BUDGET)
        return budget.asks(self._limits, more, priced=priced)

    def reserve(self, name: str, amount: Amount) -> Reservation:
        """Set an amount aside, durably.

        Raises:
            LeaseLost: another run has the session.
        """
        certain = amount == Amount(steps=amount.steps)
        self._work.lease.update(
            lambda session: replace(
                session, budget=session.budget.spend(amount) if certain else session.budget.reserve(name, amount)
            )
        )
        return Reservation(name, amount, certain)

    def reserve_unasked(self, name: str, amount: Amount) -> Reservation:
        """Set an amount aside, durably, whatever the soft limits say: nobody is asked, and no event tells of a refusal.

        Raises:
            AgentError: it would pass a hard limit (budget_limit).
            LeaseLost: another run has the session.
        """

        def reserved(session: Session) -> Session:
            if session.budget.stops(self._limits, amount):
                raise AgentError(LIMIT, "This session has reached its limit.")
            return replace(session, budget=session.budget.reserve(name, amount))

        # Judged while nobody else writes: two that reserve at once pass no limit together.
        self._work.lease.update(reserved)
        return Reservation(name, amount)

    def count(self, name: str, amount: Amount) -> Reservation:
        """Spend the step of a call that only reads, which the batch keeps with the call's result.

        An amount that is more than that is set aside, durably.

        Raises:
            LeaseLost: another run has the session.
        """
        if amount != Amount(steps=amount.steps):
            return self.reserve(name, amount)
        self._work.lease.note(lambda session: replace(session, budget=session.budget.spend(amount)))
        return Reservation(name, amount, certain=True)

    def settle(self, reservation: Reservation, actual: Amount) -> None:
        """Spend what was used, durably.

        Raises:
            LeaseLost: another run has the session.
        """
        work = self._work
        work.spent += reservation.amount if reservation.certain else actual
        if reservation.certain:
            return
        work.lease.update(lambda session: replace(session, budget=session.budget.settle(reservation.name, actual)))

    def counted(self, tokens: Tokens | None, *, priced: bool) -> None:
        """Add a model's call to what the run's last event tells of all of them."""
        work = self._work
        for name, count in ({} if tokens is None else asdict(tokens)).items():
            work.tokens[name] += count
        work.unpriced = work.unpriced or not priced

    def grant(self, checkpoint_id: str) -> None:
        """Add to the soft limits, once for a checkpoint."""
        limits = self._limits
        self._work.lease.update(lambda session: replace(session, budget=session.budget.grant(checkpoint_id, limits)))

    def pass_gate(self, over: tuple[Over, ...], message: str) -> None:
        """Let a session go on beyond its soft limits, if a person said so.

        Raises:
            Suspended: nobody has decided yet.
            Stopped: a person decided against it, or nobody did in time.
        """
        work, now = self._work, self._work.guard.clock()
        case = work.guard.store.case(self._id(message)) or self._asked(over, message)
        state = case.state(now)
        if state is State.PENDING:
            raise work.ask(case)
        decision = case.decision
        if state in _ENDED:
            work.guard.store.advance(case.checkpoint, case.checkpoint.advanced(Progress(state), now))
            work.note(
                EventName.BUDGET,
                code=over[0].value,
                decision=Ruling(state).value,
                checkpoint_id=case.checkpoint.id,
                approver=None if decision is None else decision.approver,
                reason=None if decision is None else decision.reason,
            )
            code, text = _ENDED[state]
            raise Stopped(code, text, Outcome.BUDGET)
        # Closed first: a grant changes under which id a gate is looked for, and one that was found done grants again.
        work.guard.store.advance(case.checkpoint, case.checkpoint.advanced(Progress.DONE, now))
        self.grant(case.checkpoint.id)
        work.reset_watch()
        work.note(
            EventName.BUDGET,
            code=over[0].value,
            decision=Ruling.APPROVED.value,
            checkpoint_id=case.checkpoint.id,
            approver=None if decision is None else decision.approver,
        )

    def _id(self, message: str) -> str:
        work = self._work
        return digest(work.run.session_id, BUDGET, message, str(len(work.session.budget.grants)))

    def _asked(self, over: tuple[Over, ...], message: str) -> Case:
        work = self._work
        soft, spent = self._limits.soft, work.session.budget.committed
        arguments = {
            "spent_usd": str(spent.usd),
            "spent_tokens": spent.tokens,
            "spent_steps": spent.steps,
            "adds_usd": str(soft.usd),
            "adds_tokens": soft.tokens,
            "adds_steps": soft.steps,
        }
        return opened(
            work,
            id=self._id(message),
            action=Action.BUDGET,
            message=message,
            tool_use_id="",
            tool=BUDGET,
            arguments=arguments,
            zone=Zone.YELLOW,
            level=Level.BLOCK,
            reasons=tuple(over),
        )
