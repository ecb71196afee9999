"""Account for what a session spends: reserved before, settled after, in whole nano-dollars, tokens and steps.

A step is one call of a model or one call of a tool. What is reserved counts as spent until it is settled: calls that
run side by side pass no limit together, but for what each of them turns out to use beyond what was set aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from typing import Final

NANO: Final = Decimal(10) ** 9


class Over(StrEnum):
    """Name which limit a session would pass."""

    USD = "budget_usd"
    TOKENS = "budget_tokens"
    STEPS = "budget_steps"
    UNPRICED = "unpriced_model"


@dataclass(frozen=True, slots=True)
class Amount:
    """Hold a sum: nano-dollars, tokens, steps."""

    nano_usd: int = 0
    tokens: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        """Refuse a sum below nothing: it would give back what was spent.

        Raises:
            ValueError: it is negative.
        """
        if min(self.nano_usd, self.tokens, self.steps) < 0:
            message = "nobody spends less than nothing"
            raise ValueError(message)

    def __add__(self, other: Amount) -> Amount:
        """Add another sum."""
        return Amount(self.nano_usd + other.nano_usd, self.tokens + other.tokens, self.steps + other.steps)

    def times(self, count: int) -> Amount:
        """Multiply the sum."""
        return Amount(self.nano_usd * count, self.tokens * count, self.steps * count)

    @property
    def usd(self) -> Decimal:
        """Give the dollars, exactly."""
        return Decimal(self.nano_usd) / NANO


def nano(usd: Decimal) -> int:
    """Count nano-dollars; a part of one counts as one, for nothing that costs is free."""
    return int((usd * NANO).to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Limits:
    """Hold a session's limits: beyond `soft` it asks, beyond `hard` it stops. An approval adds `soft` once more."""

    soft: Amount
    hard: Amount


@dataclass(frozen=True, slots=True)
class Budget:
    """Hold what a session has spent, what is reserved under which name, and which checkpoints added to its limit.

    Attributes:
        unpriced_steps: up to how many steps a model without a price may go on.
    """

    spent: Amount = Amount()
    reserved: Mapping[str, Amount] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
    unpriced_steps: int = 0

    @property
    def committed(self) -> Amount:
        """Give what is spent and reserved."""
        return sum(self.reserved.values(), start=self.spent)

    def asks(self, limits: Limits, more: Amount, *, priced: bool = True) -> tuple[Over, ...]:
        """Name each soft limit that `more` would pass; exactly at a limit nothing is left."""
        total = self.committed + more
        over = _over(total, limits.soft.times(1 + len(self.grants)))
        return over if priced or total.steps <= self.unpriced_steps else (*over, Over.UNPRICED)

    def stops(self, limits: Limits, more: Amount) -> tuple[Over, ...]:
        """Name each hard limit that `more` would pass."""
        return _over(self.committed + more, limits.hard)

    def reserve(self, name: str, amount: Amount) -> Budget:
        """Set an amount aside."""
        return replace(self, reserved={**self.reserved, name: amount})

    def spend(self, amount: Amount) -> Budget:
        """Spend an amount that is certain."""
        return replace(self, spent=self.spent + amount)

    def at_least(self, steps: int) -> Budget:
        """Count steps up to a number that a lost run kept elsewhere."""
        return self.spend(Amount(steps=max(0, steps - self.committed.steps)))

    def settle(self, name: str, actual: Amount) -> Budget:
        """Spend what was really used in the place of what was set aside."""
        kept = {key: amount for key, amount in self.reserved.items() if key != name}
        return replace(self, reserved=kept, spent=self.spent + actual)

    def grant(self, checkpoint_id: str, limits: Limits) -> Budget:
        """Add to the soft limits once for a checkpoint that a person approved."""
        if checkpoint_id in self.grants:
            return self
        steps = self.committed.steps + limits.soft.steps
        return replace(self, grants=(*self.grants, checkpoint_id), unpriced_steps=steps)

    def recovered(self) -> Budget:
        """Count what a lost run had set aside as spent: it may have been used."""
        return replace(self, spent=self.committed, reserved={})


def _over(total: Amount, limit: Amount) -> tuple[Over, ...]:
    checks = (
        (Over.USD, total.nano_usd, limit.nano_usd),
        (Over.TOKENS, total.tokens, limit.tokens),
        (Over.STEPS, total.steps, limit.steps),
    )
    return tuple(over for over, used, allowed in checks if used > allowed)
