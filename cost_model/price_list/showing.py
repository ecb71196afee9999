"""Lay out what a refresh came to, and what the price book holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from cost_model.price_list.change import Change, Verdict
from cost_model.price_list.refreshing import Refreshed
from cost_model.prices import STALE_AFTER, PriceRow
from cost_model.render.document import Remarks, Row, Section, Table
from cost_model.render.figures import EVERY_TIER, percentage, signed_percentage, unit_price

_NONE: Final = "-"


def refreshed_sections(refreshed: Refreshed, today: date) -> Iterator[Section]:
    """Lay out each row's old and new price, then what is beside them."""
    rows = tuple(_change_row(change) for change in refreshed.changes)
    header = ("Price", "Was", "Is", "Change", "Verdict")
    yield Section(
        f"Prices of {refreshed.wish.region}, {refreshed.source}, {today}",
        Table(header, rows, frozenset({0, 1, 2, 4}), dispensable=(3,)),
        (
            Remarks("Listed", tuple(map(_listed, refreshed.changes))),
            Remarks("Free tiers, which are no prices of the Region", refreshed.aside),
            Remarks("Not asked for", tuple(f"{service}: its rows are as they were" for service in refreshed.left_out)),
            Remarks("Price file", (_outcome(refreshed),)),
        ),
    )


def book_sections(rows: Sequence[PriceRow], today: date) -> Iterator[Section]:
    """Lay out rows, a section each Region; sources are named once, by number."""
    for region in dict.fromkeys(row.region for row in rows):
        own = [row for row in rows if row.region == region]
        sources = list(dict.fromkeys(row.source for row in own))
        table = tuple(Row(_book_cells(row, today, sources)) for row in own)
        stale = sum(row.is_stale(today) for row in own)
        old = f"{stale} of {len(own)} prices are older than {STALE_AFTER.days} days"
        yield Section(
            f"Prices of {region}",
            Table(("Price", "Unit price", "Seen", "Age", "Source"), table, frozenset({0, 1, 3}), dispensable=(2,)),
            (
                Remarks("Sources", tuple(f"{number}  {source}" for number, source in enumerate(sources, 1))),
                Remarks("Stale", (f"{old}: `rastro cost prices refresh --region {region}` asks AWS",) if stale else ()),
            ),
        )


def _book_cells(row: PriceRow, today: date, sources: Sequence[str]) -> tuple[str, ...]:
    free = f", {percentage(row.free_share, Decimal(1))} free" if row.free_share else ""
    age = f"{(today - row.as_of).days} days"
    return (
        row.name,
        f"{unit_price(row, EVERY_TIER)}{free}",
        f"{row.as_of}",
        f"{age}, stale" if row.is_stale(today) else age,
        f"{sources.index(row.source) + 1}",
    )


def _change_row(change: Change) -> Row:
    was = _NONE if change.old is None else unit_price(change.old, EVERY_TIER)
    moved = "" if change.share is None or change.verdict is not Verdict.MOVED else signed_percentage(change.share * 100)
    return Row((change.row.name, was, unit_price(change.row, EVERY_TIER), moved, change.verdict.value))


def _listed(change: Change) -> str:
    row, listing = change.row, change.row.listing
    if listing is None:
        return row.id
    return f"{row.id}: {row.source}, SKU {listing.sku}, in force from {listing.effective}"


def _outcome(refreshed: Refreshed) -> str:
    added = sum(change.is_added for change in refreshed.changes)
    same = len(refreshed.changes) - added
    unmoved = f"; {same} did not move and were seen lately" if same else ""
    if refreshed.path is not None:
        return f"{refreshed.path}: {added} rows added, the old ones stay{unmoved}"
    if refreshed.wish.dry_run:
        return f"a dry run: nothing was written, {added} rows would be added{unmoved}"
    return f"nothing was written{unmoved}"
