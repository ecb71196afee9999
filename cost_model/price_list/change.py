"""Compare what a price list says with the row in use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final

from cost_model.price_list.choosing import Choice
from cost_model.prices import Listing, PriceRow

SEEN_AGAIN_AFTER: Final = timedelta(days=30)
"""Age from which a price that did not move gets a row anew, so that the book says when it was last seen."""


class Verdict(StrEnum):
    """Say what a price did since the row in use."""

    NEW = "new"
    MOVED = "moved"
    SEEN_AGAIN = "seen again"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Change:
    """Hold a row as the list has it, beside the one in use; None where the Region has none."""

    verdict: Verdict
    row: PriceRow
    old: PriceRow | None = None

    @property
    def is_added(self) -> bool:
        """Tell whether the row is added to the book: what says nothing new is not."""
        return self.verdict is not Verdict.SAME

    @property
    def share(self) -> Decimal | None:
        """Give the part by which the first tier that moved rose; None where nothing can be compared."""
        if self.old is None or len(self.old.tiers) != len(self.row.tiers):
            return None
        pairs = zip(self.old.tiers, self.row.tiers, strict=True)
        moved = next(((old.usd, new.usd) for old, new in pairs if old.usd != new.usd), (Decimal(1), Decimal(1)))
        return (moved[1] - moved[0]) / moved[0] if moved[0] else None


def change_of(choice: Choice, region: str, old: PriceRow | None, today: date, source: str) -> Change:
    """Make a row of a choice that has no fault, and compare it with the one in use.

    A row whose figure did not move is written again where the one in use is older than `SEEN_AGAIN_AFTER`, or was never
    found in the Price List. Rows are only ever added: the book tells what was known on a day.
    """
    product = choice.product
    if product is None:
        raise TypeError
    listing = Listing(product.sku, " ".join(rate.code for rate in choice.rates), product.effective, product.published)
    published = f", published {product.published}" if product.published else ""
    row = replace(
        choice.wanted,
        region=region,
        as_of=today,
        source=f"{source}: {product.usage_type}{published}",
        tiers=choice.tiers,
        listing=listing,
    )
    if old is None:
        return Change(Verdict.NEW, row)
    if old.tiers != row.tiers:
        return Change(Verdict.MOVED, row, old)
    is_due = old.as_of < today and (old.listing is None or today - old.as_of > SEEN_AGAIN_AFTER)
    return Change(Verdict.SEEN_AGAIN if is_due else Verdict.SAME, row, old)


def dated_fault(change: Change, today: date) -> str | None:
    """Say why a row cannot be added on a day: each id has one row a day, and the latest is in use."""
    if change.old is None or not change.is_added or change.old.as_of < today:
        return None
    return (
        f"{change.row.id}: the row in use is of {change.old.as_of}, and today is {today}: rows are never edited, and a "
        "later one is in use; refresh another day, or see to the clock"
    )
