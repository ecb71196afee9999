"""Load the price book: dated rows, by Region, each with its unit and source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

from cost_model.documents import read_toml
from cost_model.errors import MissingPriceError, PriceRowError
from cost_model.faults import shown
from cost_model.tiers import Tier, charge, tier_faults, tiers_of, usd_of

SHIPPED: Final = Path(__file__).parent / "data" / "prices"
STALE_AFTER: Final = timedelta(days=180)

_TEXTS: Final = ("id", "service_code", "usage_type", "name", "unit", "source")
_LISTING_TEXTS: Final = ("sku", "rate_code")
_LISTING_DAYS: Final = ("effective", "published")
_KEYS: Final = {*_TEXTS, "as_of", "tiers", "free_share", "free_share_source", *_LISTING_TEXTS, *_LISTING_DAYS}


@dataclass(frozen=True, slots=True)
class Listing:
    """Say where in the AWS Price List a price stands.

    Attributes:
        sku: the product.
        rate_code: the rate of each tier, in the order of tiers, with spaces between.
        effective: the day from which the price holds.
        published: the day on which the list was published; None where it does not say.
    """

    sku: str
    rate_code: str
    effective: date
    published: date | None = None


@dataclass(frozen=True, slots=True)
class PriceRow:
    """Hold one price as it was on a day at its source."""

    id: str
    region: str
    service_code: str
    usage_type: str
    name: str
    unit: str
    as_of: date
    source: str
    tiers: tuple[Tier, ...]
    free_share: Decimal = Decimal(0)
    free_share_source: str = ""
    listing: Listing | None = None

    def charge(self, quantity: Decimal) -> Decimal:
        """Price a quantity, each part of it at the tier it falls in; in USD, unrounded."""
        return charge(self.tiers, quantity)

    def is_stale(self, today: date) -> bool:
        """Tell whether the row was last seen at its source longer ago than `STALE_AFTER`."""
        return today - self.as_of > STALE_AFTER

    def age_note(self, today: date) -> str | None:
        """Warn when the row has not been seen at its source for `STALE_AFTER`."""
        if not self.is_stale(today):
            return None
        age = (today - self.as_of).days
        return f"{self.name}: the price is of {self.as_of}, {age} days ago; check it at its source"


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Hold every row of every Region; the latest of an id is the one in use."""

    rows: tuple[PriceRow, ...]

    def row(self, region: str, row_id: str) -> PriceRow:
        """Return the latest row; MissingPriceError names the Regions that have one."""
        dated = [row for row in self.rows if row.id == row_id]
        found = [row for row in dated if row.region == region]
        if not found:
            raise MissingPriceError(row_id, region, _regions(dated))
        return max(found, key=lambda row: row.as_of)

    def require_region(self, region: str) -> None:
        """Refuse a Region of which no price is known."""
        if region not in _regions(self.rows):
            raise MissingPriceError(None, region, _regions(self.rows))

    def own_first(self, own: PriceBook) -> PriceBook:
        """Add rows of somebody's own; of two rows of one day theirs is in use."""
        return PriceBook((*own.rows, *self.rows))


def prices_with(own: Path | None) -> PriceBook:
    """Read the shipped rows and, beside them, those of a folder of somebody's own; it need not be there yet.

    Raises:
        CostError: a file holds faults; all of them are shown.
    """
    return load_prices() if own is None else load_prices().own_first(load_prices(own))


def load_prices(folder: Path = SHIPPED) -> PriceBook:
    """Read every `<region>.toml` of a folder; PriceRowError shows all faults of all files."""
    faults: list[str] = []
    rows: list[PriceRow] = []
    for path in sorted(folder.glob("*.toml")):
        tables = read_toml(path).get("rows")
        for position, table in enumerate(tables if isinstance(tables, list) else ()):
            found = _row_faults(table)
            faults += (f"{path.name}: rows[{position}]: {fault}" for fault in found)
            if not found:
                rows.append(_row(table, path.stem))
    faults += _repeated(rows)
    if faults:
        raise PriceRowError(*faults)
    return PriceBook(tuple(rows))


def _regions(rows: Iterable[PriceRow]) -> tuple[str, ...]:
    return tuple(sorted({row.region for row in rows}))


def _repeated(rows: Iterable[PriceRow]) -> list[str]:
    keys = [(row.region, row.id, row.as_of) for row in rows]
    twice = dict.fromkeys(key for key in keys if keys.count(key) > 1)
    return [f"{region}.toml: {row_id} has two rows of {as_of}; allowed: one a day" for region, row_id, as_of in twice]


def _row_faults(table: object) -> list[str]:
    if not isinstance(table, dict):
        return [f"{shown(table)} is not a table"]
    faults = [f"{key}: unknown key" for key in sorted(table.keys() - _KEYS)]
    faults += [f"{key}: missing; a price row needs it" for key in _TEXTS if not _is_text(table.get(key))]
    if type(table.get("as_of")) is not date:
        faults.append(f"as_of: {shown(table.get('as_of'))} is not allowed; allowed: a date such as 2026-08-30")
    if "free_share" in table and (usd_of(table["free_share"]) is None or not _is_text(table.get("free_share_source"))):
        faults.append("free_share: needs a decimal string, and free_share_source beside it")
    return faults + tier_faults(table.get("tiers"))


def _row(table: Mapping[str, object], region: str) -> PriceRow:
    texts = {key: str(table[key]) for key in _TEXTS}
    as_of, tiers = table["as_of"], table["tiers"]
    if not isinstance(as_of, date) or not isinstance(tiers, list):  # _row_faults has seen to it
        raise TypeError
    return PriceRow(
        **texts,
        region=region,
        as_of=as_of,
        tiers=tiers_of(tiers),
        free_share=usd_of(table.get("free_share", "0")) or Decimal(0),
        free_share_source=str(table.get("free_share_source", "")),
        listing=_listing(table),
    )


def _listing(table: Mapping[str, object]) -> Listing | None:
    effective, published = table.get("effective"), table.get("published")
    if not isinstance(effective, date):
        return None
    return Listing(
        str(table["sku"]), str(table["rate_code"]), effective, published if isinstance(published, date) else None
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
