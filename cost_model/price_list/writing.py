"""Add rows to a Region's file: what was there stays byte for byte, and the file is written whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Final

import tomlkit
from tomlkit.items import InlineTable, Table

from cost_model.errors import CostError, DocumentError, PriceListError
from cost_model.prices import PriceRow, load_prices
from cost_model.tiers import Tier
from cost_model.whole_file import write_whole

_MODE: Final = 0o644
_HEADING: Final = """\
# Price rows of {region}, in US dollars. Append only: when a price moves, `rastro cost prices refresh` adds a row with a
# later `as_of` and leaves the old one. The latest row of an id is the one in use.
"""


def add_rows(folder: Path, region: str, rows: Iterable[PriceRow]) -> Path:
    """Write rows at the end of a Region's file, and return its path.

    Raises:
        CostError: the file cannot be written, or would not be a price file. It is as it was.
    """
    path = folder / f"{region}.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before = path.read_bytes().decode() if path.exists() else _HEADING.format(region=region)
        gap = "" if before.endswith("\n") or not before else "\n"
        text = before + gap + "".join(f"\n{row_text(row)}" for row in rows)
        _check(path.name, text)
        mode = path.stat().st_mode if path.exists() else _MODE
        write_whole(path, text)
        path.chmod(mode)
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}"
        raise DocumentError(message) from error
    return path


def row_text(row: PriceRow) -> str:
    """Write a row as the price files have it."""
    table: Table = tomlkit.table()
    for key in ("id", "service_code", "usage_type", "name", "unit", "as_of", "source"):
        table.add(key, getattr(row, key))
    if row.listing is not None:
        table.add("sku", row.listing.sku)
        table.add("rate_code", row.listing.rate_code)
        table.add("effective", row.listing.effective)
        if row.listing.published is not None:
            table.add("published", row.listing.published)
    tiers = tomlkit.array()
    for tier in row.tiers:
        tiers.append(_tier(tier))
    table.add("tiers", tiers)
    if row.free_share:
        table.add("free_share", f"{row.free_share:f}")
        table.add("free_share_source", row.free_share_source)
    rows = tomlkit.aot()
    rows.append(table)
    document = tomlkit.document()
    document.add("rows", rows)
    return tomlkit.dumps(document).strip("\n") + "\n"


def _check(name: str, text: str) -> None:
    """Read a price file before it is one: what nobody could read is not written."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(text.encode())
        try:
            load_prices(Path(folder))
        except CostError as error:
            raise PriceListError(*(f"nothing was written: {line}" for line in error.lines)) from error


def _tier(tier: Tier) -> InlineTable:
    table = tomlkit.inline_table()
    if tier.up_to is not None:
        table.add("up_to", _bound(tier.up_to))
    table.add("usd", f"{tier.usd.normalize():f}")
    return table


def _bound(bound: Decimal) -> object:
    whole = bound == bound.to_integral_value()
    return int(bound) if whole else tomlkit.float_(f"{bound.normalize():f}")
