"""Refresh a Region's prices from the AWS Price List: all that were asked for, or none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final, Protocol

from cost_model.errors import MissingPriceError, PriceListError, UsageError
from cost_model.faults import shown
from cost_model.price_list.change import Change, change_of, dated_fault
from cost_model.price_list.choosing import Choice, choose
from cost_model.price_list.product import Product
from cost_model.price_list.writing import add_rows
from cost_model.prices import SHIPPED, PriceBook, PriceRow, prices_with

_REGION: Final = re.compile(r"[a-z]{2,4}(?:-[a-z]{2,10}){1,3}-[0-9]{1,2}")


class Source(Protocol):
    """Find products in a price list."""

    @property
    def name(self) -> str:
        """Say which list it is."""

    def products(self, wanted: PriceRow, region: str) -> tuple[Product, ...]:
        """List the products that may be a row's."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Say what to refresh.

    Attributes:
        region: whose prices.
        services: whose rows; none means all that the book names.
        folder: a folder of price files of one's own; None means the shipped one.
        dry_run: look, and write nothing.
    """

    region: str
    services: tuple[str, ...] = ()
    folder: Path | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Hold what came of a refresh.

    Attributes:
        changes: one a row.
        aside: free tiers, which are no prices.
        left_out: services of the book that were not asked for.
        path: where rows were added; None where none was, or in a dry run.
    """

    wish: Wish
    source: str
    changes: tuple[Change, ...]
    aside: tuple[str, ...]
    left_out: tuple[str, ...]
    path: Path | None = None


def refresh(wish: Wish, source: Source, today: date) -> Refreshed:
    """Look every row up, compare it with the one in use, and add what is new.

    Raises:
        CostError: the Region's name or a service is none, AWS does not answer, or some row has no single price; then
            every fault is shown and nothing is written.
    """
    check_region(wish.region)
    book = prices_with(wish.folder)
    wanted = _wanted(book, wish)
    choices = _choices(wanted, source, wish.region)
    changes = [
        change_of(one, wish.region, in_use(book, wish.region, one.wanted.id), today, source.name) for one in choices
    ]
    faults = [fault for change in changes if (fault := dated_fault(change, today))]
    if faults:
        raise PriceListError(*faults)
    added = [change.row for change in changes if change.is_added]
    path = add_rows(wish.folder or SHIPPED, wish.region, added) if added and not wish.dry_run else None
    services = {row.service_code for row in wanted}
    return Refreshed(
        wish,
        source.name,
        tuple(changes),
        tuple(dict.fromkeys(text for choice in choices for text in choice.aside)),
        tuple(sorted({row.service_code for row in book.rows} - services)),
        path,
    )


def check_region(region: str) -> None:
    """Refuse what cannot be a Region's name, before it is a file's.

    Raises:
        UsageError: it is none.
    """
    if _REGION.fullmatch(region) is None:
        message = f"--region {shown(region)} is no Region's name; allowed: one such as eu-west-1"
        raise UsageError(message)


def in_use(book: PriceBook, region: str, row_id: str) -> PriceRow | None:
    """Give the row in use; None where the Region has none."""
    try:
        return book.row(region, row_id)
    except MissingPriceError:
        return None


def _wanted(book: PriceBook, wish: Wish) -> tuple[PriceRow, ...]:
    """Give a row for each id that the book knows: the Region's own, or another's, whose price is not used."""
    known = {row.service_code for row in book.rows}
    unknown = [service for service in wish.services if service not in known]
    if unknown:
        allowed = ", ".join(sorted(known))
        raise UsageError(
            *(f"service {shown(each)}: the price book has no row of it; it has: {allowed}" for each in unknown)
        )
    ids = dict.fromkeys(row.id for row in book.rows)
    rows = (in_use(book, wish.region, each) or _latest(book.rows, each) for each in ids)
    return tuple(row for row in rows if not wish.services or row.service_code in wish.services)


def _latest(rows: Iterable[PriceRow], row_id: str) -> PriceRow:
    return max((row for row in rows if row.id == row_id), key=lambda row: row.as_of)


def _choices(wanted: Iterable[PriceRow], source: Source, region: str) -> tuple[Choice, ...]:
    choices: list[Choice] = []
    faults: list[str] = []
    for row in wanted:
        try:
            choice = choose(row, source.products(row, region), region)
        except PriceListError as error:
            faults += error.lines
            continue
        faults += choice.faults
        choices.append(choice)
    if faults:
        outcome = f"Region {region!r}: nothing was written; `--service CODE` refreshes one service alone"
        raise PriceListError(*dict.fromkeys(faults), outcome)
    return tuple(choices)
