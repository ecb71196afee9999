"""Load the rows of other vendors: dated, with source and confidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Final

from cost_model.documents import read_toml
from cost_model.errors import PriceRowError
from cost_model.faults import exact, shown
from cost_model.tiers import Tier, tier_faults, tiers_of, usd_of

SHIPPED: Final = Path(__file__).parent / "data" / "alternatives.toml"

_TEXTS: Final = ("product", "plan", "unit", "retention", "lacks", "source", "confidence")
_CONFIDENCES: Final = ("high", "medium", "low")
_KEYS: Final = {*_TEXTS, "counts", "as_of", "limit", "prices"}
_PRICE_KEYS: Final = {"base", "tiers", "gb_tiers"}


class Count(StrEnum):
    """Name what of a workload a vendor counts."""

    SESSIONS = "sessions"
    SPANS = "spans"
    MODEL_CALLS = "model_calls"


@dataclass(frozen=True, slots=True)
class VendorPrice:
    """Hold one reading of a plan's price, in USD."""

    base: Decimal
    tiers: tuple[Tier, ...]
    gb_tiers: tuple[Tier, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """Hold one plan of one product as it was on a day at its source; no prices: own infrastructure."""

    product: str
    plan: str
    unit: str
    retention: str
    lacks: str
    source: str
    confidence: str
    counts: tuple[Count, ...]
    as_of: date
    limit: Decimal | None
    prices: tuple[VendorPrice, ...]


def load_offers(path: Path = SHIPPED) -> tuple[Offer, ...]:
    """Read every row, the latest of each plan; PriceRowError shows all faults."""
    tables = read_toml(path).get("rows")
    faults: list[str] = []
    offers: dict[tuple[str, str], Offer] = {}
    for position, table in enumerate(tables if isinstance(tables, list) else ()):
        found = _faults(table)
        faults += (f"{path.name}: rows[{position}]: {fault}" for fault in found)
        if not found:
            offer = _offer(table)
            before = offers.get((offer.product, offer.plan))
            if before is None or before.as_of < offer.as_of:
                offers[offer.product, offer.plan] = offer
    if faults:
        raise PriceRowError(*faults)
    return tuple(offers.values())


def _faults(table: object) -> list[str]:
    if not isinstance(table, dict):
        return [f"{shown(table)} is not a table"]
    faults = [f"{key}: unknown key" for key in sorted(table.keys() - _KEYS)]
    faults += [f"{key}: missing; a row needs it" for key in _TEXTS if not _is_text(table.get(key))]
    if table.get("confidence") not in _CONFIDENCES:
        faults.append(f"confidence: {shown(table.get('confidence'))}; allowed: {', '.join(_CONFIDENCES)}")
    if type(table.get("as_of")) is not date:
        faults.append(f"as_of: {shown(table.get('as_of'))} is not allowed; allowed: a date such as 2026-08-30")
    counts = table.get("counts")
    if not isinstance(counts, list) or not counts or any(count not in list(Count) for count in counts):
        faults.append(f"counts: {shown(counts)}; allowed: a list of {', '.join(Count)}")
    if "limit" in table and exact(table["limit"]) is None:
        faults.append(f"limit: {shown(table['limit'])}; allowed: a number of units")
    prices = table.get("prices", [])
    if not isinstance(prices, list):
        return [*faults, "prices: not a list of tables"]
    return faults + [f"prices[{at}]: {fault}" for at, price in enumerate(prices) for fault in _price_faults(price)]


def _price_faults(price: object) -> list[str]:
    if not isinstance(price, dict):
        return [f"{shown(price)} is not a table"]
    faults = [f"{key}: unknown key" for key in sorted(price.keys() - _PRICE_KEYS)]
    if usd_of(price.get("base")) is None:
        faults.append("base: needs a decimal string")
    return [
        *faults,
        *tier_faults(price.get("tiers")),
        *(f"gb_{fault}" for fault in (tier_faults(price["gb_tiers"]) if "gb_tiers" in price else ())),
    ]


def _offer(table: Mapping[str, object]) -> Offer:
    texts = {key: str(table[key]) for key in _TEXTS}
    as_of, counts, prices = table["as_of"], table["counts"], table.get("prices", [])
    if not isinstance(as_of, date) or not isinstance(counts, list) or not isinstance(prices, list):
        raise TypeError  # _faults has seen to it
    return Offer(
        **texts,
        counts=tuple(map(Count, counts)),
        as_of=as_of,
        limit=exact(table.get("limit")),
        prices=tuple(
            VendorPrice(usd_of(each["base"]) or Decimal(0), tiers_of(each["tiers"]), tiers_of(each.get("gb_tiers", ())))
            for each in prices
        ),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
