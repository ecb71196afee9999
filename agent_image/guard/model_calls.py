"""Let a model be called, and account for what it used: every call, the last of a turn and a failed one included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from agent_image.contract import EventName
from agent_image.guard.budget import Amount
from agent_image.guard.prices import Tokens
from agent_image.guard.spending import Reservation, Spending
from agent_image.guard.watch import Remedy
from agent_image.guard.work import Work


@dataclass(frozen=True, slots=True)
class Begun:
    """Hold a call of a model that is on its way.

    Attributes:
        priced: whether the reservation's price is known.
        nudge: whether the model is to hear that it goes round in circles.
    """

    model: str
    reservation: Reservation
    since: datetime
    priced: bool = True
    nudge: bool = False


class ModelCalls:
    """Judge the model calls of one run."""

    def __init__(self, work: Work, spending: Spending) -> None:
        """Take the run's bookkeeping and its account."""
        self._work = work
        self._spending = spending
        self._calls = 0

    def begin(self, model: str, message: str, projected_tokens: int | None, output_tokens: int | None) -> Begun:
        """Set aside what a call may cost.

        Raises:
            Suspended: a person has to let the session spend more.
            AgentError: the run has to end; no model was called.
        """
        work = self._work
        remedy = work.look()
        work.raise_halted()
        more, priced = amount_of(work, model, projected_tokens, output_tokens)
        if over := self._spending.over(more, priced=priced):
            self._spending.pass_gate(over, message)
        self._calls += 1
        reservation = self._spending.reserve(f"{work.run.id}#{self._calls}", more)
        return Begun(model, reservation, work.guard.clock(), priced=priced, nudge=remedy is Remedy.NUDGE)

    def end(self, begun: Begun, usage: Mapping[str, Any], stop_reason: str, text: str) -> None:
        """Spend what a call used.

        Raises:
            AgentError: it cannot be kept.
        """
        tokens, price = settled(self._work, self._spending, begun, usage)
        self._work.spoken(text, price)
        noted(self._work, begun, tokens, price, stop_reason=stop_reason)

    def fail(self, begun: Begun, code: str) -> None:
        """Account for a call that failed: what was set aside stays spent, for nobody says what was used."""
        lost(self._work, self._spending, begun, code)


def amount_of(work: Work, model: str, projected_tokens: int | None, output_tokens: int | None) -> tuple[Amount, bool]:
    """Give what a call may cost at most, and whether its price is known."""
    read, write = projected_tokens or 0, output_tokens or work.guard.settings.max_output_tokens_reserved
    price = work.guard.prices.estimate(model, read, write)
    return Amount(price or 0, read + write, 1), price is not None


def settled(work: Work, spending: Spending, begun: Begun, usage: Mapping[str, Any]) -> tuple[Tokens | None, int | None]:
    """Spend what a call used; give its tokens and its price in nano-dollars, None for what nobody knows."""
    prices = work.guard.prices
    tokens = prices.tokens(begun.model, usage)
    price = None if tokens is None else prices.cost(begun.model, tokens)
    # Who does not say what was used has used what was set aside.
    reserved = begun.reservation.amount
    used = Amount(reserved.nano_usd if price is None else price, reserved.tokens if tokens is None else tokens.total, 1)
    spending.settle(begun.reservation, used)
    spending.counted(tokens, priced=price is not None)
    return tokens, price


def lost(work: Work, spending: Spending, begun: Begun, code: str, **fields: Any) -> None:
    """Spend what was set aside for a call that nobody says the use of, and note it."""
    spending.settle(begun.reservation, begun.reservation.amount)
    spending.counted(None, priced=begun.priced)
    noted(work, begun, None, begun.reservation.amount.nano_usd if begun.priced else None, code=code, **fields)


def noted(work: Work, begun: Begun, tokens: Tokens | None, price: int | None, **fields: Any) -> None:
    """Note a call that ended.

    Raises:
        AuditError: the audit cannot be written.
    """
    waited = work.guard.clock() - begun.since
    work.note(
        EventName.LLM_CALL,
        model=begun.model,
        tokens=None if tokens is None else asdict(tokens),
        cost_usd=None if price is None else Amount(price).usd,
        prices=work.guard.prices.version,
        latency_ms=round(waited.total_seconds() * 1000),
        is_error="code" in fields,
        **fields,
    )
