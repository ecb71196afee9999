"""Lay out what a refresh came to, and what the price book holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    header = ("Price", "Is", "Was", "Change")
    yield Section(
        f"Prices of {refreshed.wish.region}, {refreshed.source}, {today}",
        Table(header, rows, frozenset({0, 1, 2})),
        (
            Remarks("Where what moved is listed (all of it: --format json)", tuple(_moved(refreshed.changes))),
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
            Table(("Price", "Unit price", "Seen", "Days ago", "Source"), table, frozenset({0, 1})),
            (
                Remarks("Sources", tuple(f"{number}  {source}" for number, source in enumerate(sources, 1))),
                Remarks("Stale", (f"{old}: `rastro cost prices refresh --region {region}` asks AWS",) if stale else ()),
            ),
        )


def _book_cells(row: PriceRow, today: date, sources: Sequence[str]) -> tuple[str, ...]:
    free = f", {percentage(row.free_share, Decimal(1))} free" if row.free_share else ""
    age = f"{(today - row.as_of).days}"
    return (
        row.name,
        f"{unit_price(row, EVERY_TIER)}{free}",
        f"{row.as_of}",
        f"stale, {age}" if row.is_stale(today) else age,
        f"{sources.index(row.source) + 1}",
    )


def _change_row(change: Change) -> Row:
    price = unit_price(change.row, EVERY_TIER)
    if change.old is None:
        return Row((change.row.name, price, _NONE, "new"))
    if change.verdict is not Verdict.MOVED:
        return Row((change.row.name, price, "same", ""))
    moved = "tiers" if change.share is None else signed_percentage(change.share * 100)
    return Row((change.row.name, price, unit_price(change.old, EVERY_TIER), moved))


def _moved(changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        listing = change.row.listing
        if change.verdict is Verdict.MOVED and listing is not None:
            usage_type = change.row.source.rpartition(": ")[2]
            yield f"{change.row.id}: {usage_type}, SKU {listing.sku}, in force from {listing.effective}"


def _outcome(refreshed: Refreshed) -> str:
    added = [change for change in refreshed.changes if change.is_added]
    again = sum(change.verdict is Verdict.SEEN_AGAIN for change in added)
    same = len(refreshed.changes) - len(added)
    parts = (
        f"{again} of them for prices that did not move, so that the book says when they were seen" if again else "",
        f"{same} prices did not move and were seen lately: no row" if same else "",
    )
    beside = "".join(f"; {part}" for part in parts if part)
    if refreshed.path is not None:
        return f"{refreshed.path}: {len(added)} rows added, the old ones stay{beside}"
    if refreshed.wish.dry_run:
        return f"a dry run: nothing was written, {len(added)} rows would be added{beside}"
    return f"nothing was written{beside}"
