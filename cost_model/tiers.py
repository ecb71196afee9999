"""Hold graduated prices: each part of a quantity is charged at the tier it falls in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from cost_model.faults import exact, shown


@dataclass(frozen=True, slots=True)
class Tier:
    """Price one unit, in USD, up to a bound in the row's unit; None has no bound."""

    usd: Decimal
    up_to: Decimal | None = None


def charge(tiers: Iterable[Tier], quantity: Decimal) -> Decimal:
    """Price a quantity, each part of it at the tier it falls in; in USD, unrounded."""
    charged, below = Decimal(0), Decimal(0)
    for tier in tiers:
        top = quantity if tier.up_to is None else min(quantity, tier.up_to)
        charged += max(top - below, Decimal(0)) * tier.usd
        below = top
    return charged


def tier_faults(tiers: object) -> list[str]:
    """Say what keeps a document's list from being tiers."""
    if not isinstance(tiers, list) or not tiers or not all(isinstance(tier, dict) for tier in tiers):
        return ["tiers: missing; a price row needs at least one"]
    faults = [
        f"tiers: usd {shown(t.get('usd'))}: needs a decimal string" for t in tiers if usd_of(t.get("usd")) is None
    ]
    bounds = [exact(tier.get("up_to")) for tier in tiers[:-1]]
    rising = all(low is not None and high is not None and low < high for low, high in pairwise([Decimal(0), *bounds]))
    if not rising or "up_to" in tiers[-1]:
        faults.append("tiers: every tier but the last needs a rising up_to, and the last has none")
    return faults


def tiers_of(tables: Iterable[Mapping[str, object]]) -> tuple[Tier, ...]:
    """Read tiers in which `tier_faults` found no fault."""
    return tuple(Tier(usd_of(table["usd"]) or Decimal(0), exact(table.get("up_to"))) for table in tables)


def usd_of(value: object) -> Decimal | None:
    """Read a price from a string: a TOML number would invite binary fractions from other readers."""
    try:
        price = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        return None
    return price if price is not None and price.is_finite() and price >= 0 else None
