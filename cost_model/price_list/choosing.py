"""Choose, among products whose names end alike, the one that a price row means; several that disagree are a fault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from cost_model.faults import shown
from cost_model.price_list.product import Product, Rate
from cost_model.price_list.units import same_unit
from cost_model.price_list.usage_types import Belongs, belongs
from cost_model.prices import PriceRow
from cost_model.tiers import Tier


@dataclass(frozen=True, slots=True)
class Choice:
    """Hold what was chosen for a price row.

    Attributes:
        wanted: the row, of this Region or another, that says what is looked for.
        product: what was found; None where there are faults.
        rates: its tiers, free first ones left out.
        faults: what keeps a price from being found.
        aside: what is free: it is told, and is no price of the Region.
    """

    wanted: PriceRow
    product: Product | None = None
    rates: tuple[Rate, ...] = ()
    faults: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """Give the price as the book writes it."""
        return tuple(Tier(rate.usd, rate.end) for rate in self.rates)


def choose(wanted: PriceRow, products: Iterable[Product], region: str) -> Choice:
    """Choose the product of a row.

    A price of nothing for the first units is an account's free tier: the tier after it begins at the first unit. So an
    estimate comes out too high rather than too low, as it does without every other free tier.
    """
    kinds = [(belongs(product.usage_type, wanted.usage_type, region), product) for product in products]
    of_region = [one for kind, one in kinds if kind is Belongs.REGION and _is_sold_in(one, wanted, region)]
    aside = tuple(
        f"{one.usage_type}: free tier, {_said(one.rates)}" for kind, one in kinds if kind is Belongs.FREE_TIER
    )
    where = f"{wanted.id}: "
    if not of_region:
        others = dict.fromkeys(one.usage_type for kind, one in kinds if kind is not Belongs.REGION)
        found = f"; only {', '.join(list(others)[:4])}" if others else ""
        return Choice(wanted, faults=(f"{where}{_missing(wanted, region)}{found}",), aside=aside)
    by_price: dict[tuple[object, ...], Product] = {}
    for one in sorted(of_region, key=lambda product: product.sku):
        by_price.setdefault(tuple((rate.usd, rate.end, rate.unit) for rate in _paid(one.rates)), one)
    if len(by_price) > 1:
        listed = "; ".join(f"{one.sku} {one.usage_type}: {_said(one.rates)}" for one in by_price.values())
        return Choice(wanted, faults=(f"{where}several products disagree: {listed}",), aside=aside)
    product = next(iter(by_price.values()))
    rates = _paid(product.rates)
    faults = tuple(f"{where}{product.sku} {fault}" for fault in _faults(wanted, rates))
    if faults:
        return Choice(wanted, faults=faults, aside=aside)
    free = tuple(f"{product.usage_type}: {_said((rate,))}" for rate in product.rates if rate not in rates)
    return Choice(wanted, product, rates, aside=(*aside, *free))


def _is_sold_in(product: Product, wanted: PriceRow, region: str) -> bool:
    """Tell whether a product is the Region's, or has one price everywhere and a name without a Region."""
    return product.region == region or (not product.region and product.usage_type == wanted.usage_type)


def _missing(wanted: PriceRow, region: str) -> str:
    return (
        f"{wanted.service_code} lists no usage type in {region} that ends with {wanted.usage_type}. Is the Region's "
        "name right, and the service offered there? An empty answer is no price"
    )


def _paid(rates: tuple[Rate, ...]) -> tuple[Rate, ...]:
    """Leave out first tiers that cost nothing, where a later one costs something."""
    paid = next((position for position, rate in enumerate(rates) if rate.usd), 0)
    return rates[paid:]


def _faults(wanted: PriceRow, rates: tuple[Rate, ...]) -> list[str]:
    faults = []
    unit = rates[0].unit
    if not same_unit(unit, wanted.unit):
        faults.append(f"is priced by {shown(unit)}; the price book's unit is {wanted.unit!r}")
    if not any(rate.usd for rate in rates):
        faults.append("costs nothing: that is a free tier, and no price")
    return faults


def _said(rates: Iterable[Rate]) -> str:
    return ", ".join(f"${_plain(rate.usd)} per {rate.unit}{_bounds(rate)}" for rate in rates)


def _bounds(rate: Rate) -> str:
    if rate.end is None:
        return f" above {_plain(rate.begin)}" if rate.begin else ""
    return f" from {_plain(rate.begin)} to {_plain(rate.end)}"


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"
