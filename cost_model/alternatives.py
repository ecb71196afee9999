"""Price the same workload where a user might take it instead: other vendors' rows, never mixed into an estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Final

from agent_image.contract import Quantity, Regime
from cost_model.alternative_rows import SHIPPED, Count, Offer, load_offers
from cost_model.money import gigabytes, product
from cost_model.tiers import charge
from cost_model.workload import Workload

STALE_AFTER: Final = timedelta(days=180)
ASSUMED_MODEL_CALLS: Final = Decimal(3)
MODEL_CALLS: Final = Quantity("model-calls", "calls/session", "model calls of one session", maximum=Decimal(10**6))
HELD: Final = Regime.CONTENT
"""The regime whose bytes another product takes: it keeps texts itself, and has no archive to find them in."""


class Answer(StrEnum):
    """Tell whether a plan has a price for the workload."""

    PRICED = "priced"
    OWN_INFRASTRUCTURE = "own infrastructure"
    OVER_THE_LIMIT = "over the plan's limit"
    DEPENDS_ON_USAGE = "depends on usage"


@dataclass(frozen=True, slots=True)
class Alternative:
    """Hold what one plan takes for a workload; USD a month, unrounded, least and most; None where `answer` says why."""

    product: str
    plan: str
    unit: str
    units: Decimal | None
    answer: Answer
    usd_low: Decimal | None
    usd_high: Decimal | None
    retention: str
    lacks: str
    source: str
    as_of: date
    confidence: str
    note: str | None


def alternatives(
    workload: Workload,
    today: date,
    *,
    model_calls: Decimal = ASSUMED_MODEL_CALLS,
    regime: Regime = HELD,
    path: Path = SHIPPED,
) -> tuple[Alternative, ...]:
    """Price a workload under every plan, in the order of the file; `model_calls` are those of one session.

    One session is one trace. `regime` says whose bytes are counted where GB are charged.
    """
    counts = {
        Count.SESSIONS: workload.sessions,
        Count.SPANS: product(workload.sessions, workload.spans_per_session),
        Count.MODEL_CALLS: product(workload.sessions, model_calls),
    }
    held = gigabytes(product(workload.sessions, workload.kb_per_session.get(regime)))
    return tuple(_priced(offer, counts, held, today) for offer in load_offers(path))


def _priced(offer: Offer, counts: Mapping[Count, Decimal | None], held: Decimal | None, today: date) -> Alternative:
    units = _sum([counts[count] for count in offer.counts])
    answer, amounts = _amounts(offer, units, held)
    return Alternative(
        product=offer.product,
        plan=offer.plan,
        unit=offer.unit,
        units=units,
        answer=answer,
        usd_low=min(amounts, default=None),
        usd_high=max(amounts, default=None),
        retention=offer.retention,
        lacks=offer.lacks,
        source=offer.source,
        as_of=offer.as_of,
        confidence=offer.confidence,
        note=_age_note(offer, today),
    )


def _amounts(offer: Offer, units: Decimal | None, held: Decimal | None) -> tuple[Answer, tuple[Decimal, ...]]:
    if not offer.prices:
        return Answer.OWN_INFRASTRUCTURE, ()
    if units is None or (held is None and any(price.gb_tiers for price in offer.prices)):
        return Answer.DEPENDS_ON_USAGE, ()
    if offer.limit is not None and units > offer.limit:
        return Answer.OVER_THE_LIMIT, ()
    by_size = Decimal(0) if held is None else held
    amounts = (price.base + charge(price.tiers, units) + charge(price.gb_tiers, by_size) for price in offer.prices)
    return Answer.PRICED, tuple(amounts)


def _sum(counts: list[Decimal | None]) -> Decimal | None:
    known = [count for count in counts if count is not None]
    return sum(known, Decimal(0)) if len(known) == len(counts) else None


def _age_note(offer: Offer, today: date) -> str | None:
    age = today - offer.as_of
    if age <= STALE_AFTER:
        return None
    return f"{offer.product}, {offer.plan}: the price is of {offer.as_of}, {age.days} days ago; check it at the vendor"
