"""List the rows that the price book has in use."""

from __future__ import annotations

from pathlib import Path

from cost_model.errors import UsageError
from cost_model.prices import PriceRow, prices_with


def prices_in_use(folder: Path | None, region: str | None, *, history: bool = False) -> tuple[PriceRow, ...]:
    """List the rows in use of one Region or of all, and with `history` the older ones behind each.

    Raises:
        CostError: the book has no such Region, or holds faults.
    """
    if folder is not None and not folder.is_dir():
        message = f"--prices {folder}: is no folder; `rastro cost prices refresh --prices {folder}` makes one"
        raise UsageError(message)
    book = prices_with(folder)
    if region is not None:
        book.require_region(region)
    rows = [row for row in book.rows if region in {None, row.region}]
    listed: list[PriceRow] = []
    for where, row_id in dict.fromkeys((row.region, row.id) for row in rows):
        dated = [row for row in rows if (row.region, row.id) == (where, row_id)]
        latest_first = sorted(dated, key=lambda row: row.as_of, reverse=True)
        listed += latest_first if history else latest_first[:1]
    return tuple(listed)
