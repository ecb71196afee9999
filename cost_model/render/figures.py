"""Write single figures and texts."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from cost_model.prices import PriceRow
from cost_model.tiers import Tier

UNKNOWN: Final = "depends on usage"
EVERY_TIER: Final = Decimal("Infinity")
"""A quantity that reaches every tier of a row."""

# Wide enough for any product of allowed inputs, so that rounding to cents never runs out of digits.
_WIDE: Final = Context(prec=120, rounding=ROUND_HALF_UP)
_CENT: Final = Decimal("0.01")
_MILLION: Final = Decimal(1_000_000)
_READABLE: Final = Decimal("0.001")
"""A unit price below this is shown for a million units."""
_DECIMALS: Final = ((Decimal(10_000), "1"), (Decimal(1), "0.01"), (Decimal(0), "0.0001"))
"""How fine a quantity is shown, from which size on."""


def cents(amount: Decimal) -> str:
    """Round to cents, halves up, in plain notation."""
    return f"{_rounded(amount, _CENT):f}"


def money(amount: Decimal) -> str:
    """Round to cents, with thousands apart; what costs less than half a cent is not shown as nothing."""
    rounded = _rounded(amount, _CENT)
    return "<0.01" if amount and not rounded else f"{rounded:,f}"


def signed(amount: Decimal) -> str:
    """Write a difference of amounts with its sign; none at all has none."""
    return money(amount) if not amount else f"{'+' if amount > 0 else '-'}{money(abs(amount))}"


def signed_percentage(percent: Decimal) -> str:
    """Write a difference in per cent with its sign."""
    rounded = _rounded(percent, Decimal("0.1"))
    if percent and not rounded:
        return f"{'+' if percent > 0 else '-'}<0.1 %"
    return f"{rounded:+,f} %" if rounded else "0.0 %"


def plain(amount: Decimal) -> str:
    """Write a number unrounded, without an exponent."""
    return f"{amount:f}"


def quantity(amount: Decimal) -> str:
    """Show a quantity as finely as its size deserves."""
    if amount == amount.to_integral_value():
        return f"{amount:,.0f}"
    fine = next(step for least, step in _DECIMALS if amount >= least)
    return f"{_rounded(amount, Decimal(fine)):,f}"


def percentage(part: Decimal, whole: Decimal) -> str:
    """Show a part of a whole in per cent; nothing has no parts."""
    return f"{_rounded(part / whole * 100, Decimal('0.1')):f} %" if whole else ""


def unit_price(row: PriceRow, amount: Decimal | None = None) -> str:
    """Show the price of one unit, or of a million small ones: each tier that the quantity reaches."""
    tiers = _reached(row.tiers, amount)
    scale, unit = Decimal(1), row.unit
    if all(tier.usd < _READABLE for tier in tiers):
        scale, unit = _MILLION, f"million {row.unit}s"
    return f"${' / '.join(_price(tier.usd * scale) for tier in tiers)} per {unit}"


def clean(text: str) -> str:
    """Drop what could steer a terminal: control, format and other characters that print nothing."""
    return "".join(character if character.isprintable() else " " for character in text)


def _reached(tiers: tuple[Tier, ...], amount: Decimal | None) -> tuple[Tier, ...]:
    below = Decimal(0)
    reached: list[Tier] = []
    for tier in tiers:
        if reached and (amount is None or amount <= below):
            break
        reached.append(tier)
        below = tier.up_to or below
    return tuple(reached)


def _price(usd: Decimal) -> str:
    whole, _, fraction = f"{usd.normalize():f}".partition(".")
    return f"{int(whole):,}.{fraction.ljust(2, '0')}"


def _rounded(amount: Decimal, step: Decimal) -> Decimal:
    return amount.quantize(step, context=_WIDE)


def joined(texts: Iterable[str]) -> str:
    """Join what is there with commas."""
    return ", ".join(text for text in texts if text)
