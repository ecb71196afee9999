"""Read a product of the AWS Price List with its rates: the same JSON in an answer and in a bulk file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Final

from cost_model.errors import PriceListError
from cost_model.faults import shown

CURRENCY: Final = "USD"
NO_END: Final = "inf"
"""How the end of a last tier is written, whatever its letters."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Hold one tier: USD for one unit, from a quantity on up to another; None has no end."""

    code: str
    unit: str
    begin: Decimal
    end: Decimal | None
    usd: Decimal


@dataclass(frozen=True, slots=True)
class Product:
    """Hold one product on demand, as a list of a day has it; the Region is "" where it is sold everywhere alike."""

    sku: str
    service_code: str
    usage_type: str
    region: str
    effective: date
    published: date | None
    rates: tuple[Rate, ...]


def usage_type_of(product: object) -> str | None:
    """Find the usage type in the `product` part of the JSON; None where there is none."""
    attributes = product.get("attributes") if isinstance(product, Mapping) else None
    found = attributes.get("usagetype") if isinstance(attributes, Mapping) else None
    return found if isinstance(found, str) else None


def read_product(product: object, terms: object, *, service_code: str, published: date | None, source: str) -> Product:
    """Check one product and its terms on demand.

    Args:
        product: `{"sku", "attributes": {"usagetype", "regionCode", ...}}`.
        terms: `{"SKU.TERM": {"effectiveDate", "priceDimensions": {...}}}`.
        service_code: whose product it is.
        published: the day of the list.
        source: names the list in a fault.

    Raises:
        PriceListError: it is malformed, has no single term, or no price in USD.
    """
    usage_type, sku = usage_type_of(product), product.get("sku") if isinstance(product, Mapping) else None
    if not isinstance(product, Mapping) or usage_type is None or not isinstance(sku, str) or not sku:
        message = f"{source}: {shown(product)} is no product: it needs sku, and attributes with usagetype"
        raise PriceListError(message)
    where = f"{source}: product {shown(sku)} ({shown(usage_type)})"
    if not isinstance(terms, Mapping) or len(terms) != 1:
        number = len(terms) if isinstance(terms, Mapping) else 0
        message = f"{where}: {number} terms on demand; allowed: one"
        raise PriceListError(message)
    term = next(iter(terms.values()))
    dimensions = term.get("priceDimensions") if isinstance(term, Mapping) else None
    if not isinstance(dimensions, Mapping) or not dimensions:
        message = f"{where}: no priceDimensions"
        raise PriceListError(message)
    return Product(
        sku,
        service_code,
        usage_type,
        _region(product["attributes"]),
        _day(term.get("effectiveDate"), where),
        published,
        in_order((read_rate(dimension, where) for dimension in dimensions.values()), where),
    )


def read_rate(dimension: object, where: str) -> Rate:
    """Check one price dimension.

    Raises:
        PriceListError: it is malformed, or not in USD.
    """
    fields = dimension if isinstance(dimension, Mapping) else {}
    prices = fields.get("pricePerUnit")
    usd = _number(prices.get(CURRENCY)) if isinstance(prices, Mapping) else None
    begin = _number(fields.get("beginRange"))
    end, no_end = _number(fields.get("endRange")), str(fields.get("endRange")).lower() == NO_END
    code, unit = fields.get("rateCode"), fields.get("unit")
    if usd is None and isinstance(prices, Mapping) and prices and CURRENCY not in prices:
        message = f"{where}: priced in {', '.join(map(shown, prices))}; allowed: {CURRENCY}"
        raise PriceListError(message)
    if usd is None or begin is None or not (no_end or end is not None) or not _texts(code, unit):
        message = (
            f"{where}: {shown(dimension)} is no price; it needs rateCode, unit, beginRange, endRange, pricePerUnit.USD"
        )
        raise PriceListError(message)
    return Rate(str(code), str(unit), begin, None if no_end else end, usd)


def in_order(rates: object, where: str) -> tuple[Rate, ...]:
    """Put tiers in order.

    Raises:
        PriceListError: they leave a gap or overlap, do not begin with nothing, end, or differ in their unit.
    """
    ordered = tuple(sorted(rates, key=lambda rate: rate.begin))  # type: ignore[call-overload]
    ends = [Decimal(0), *(rate.end for rate in ordered)]
    meet = all(rate.begin == end for rate, end in zip(ordered, ends, strict=False))
    if not ordered or not meet or ends[-1] is not None:
        said = ", ".join(f"{rate.begin:f} to {'Inf' if rate.end is None else f'{rate.end:f}'}" for rate in ordered)
        message = f"{where}: tiers {said or 'missing'}; allowed: from 0 to Inf, without gaps"
        raise PriceListError(message)
    if len({rate.unit for rate in ordered}) > 1:
        message = f"{where}: tiers in {', '.join(sorted({shown(rate.unit) for rate in ordered}))}"
        raise PriceListError(message)
    return ordered


def day_of(value: object) -> date | None:
    """Read the day of a moment such as 2026-09-01T00:00:00Z, or of a plain date; None where it is neither."""
    try:
        return datetime.fromisoformat(value).date() if isinstance(value, str) else None
    except ValueError:
        return None


def _day(value: object, where: str) -> date:
    day = day_of(value)
    if day is None:
        message = f"{where}: effectiveDate {shown(value)} is no date"
        raise PriceListError(message)
    return day


def _region(attributes: Mapping[str, object]) -> str:
    found = attributes.get("regionCode")
    return found if isinstance(found, str) else ""


def _number(value: object) -> Decimal | None:
    try:
        number = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and number >= 0 else None


def _texts(*values: object) -> bool:
    return all(isinstance(value, str) and value for value in values)
