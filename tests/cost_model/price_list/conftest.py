"""Offer a price list on loopback that holds a price for every row of the book, and the commands in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cost_model.cli import app
from cost_model.prices import PriceRow, load_prices
from tests.loopback.price_list import PriceList, item, listing

IRELAND = "eu-west-1"
_UNITS = {
    "GB-month": "GB-Mo",
    "TB": "Terabytes",
    "read unit": "ReadRequestUnits",
    "write unit": "WriteRequestUnits",
    "request": "Requests",
    "message": "Requests",
    "GB": "GB",
    "minute": "minutes",
    "span": "Spans",
    "event": "Events",
    "series-month": "Metrics",
    "metric-month": "Alarms",
    "alarm-month": "Alarms",
    "dashboard-month": "Dashboards",
    "key-month": "Keys",
    "vCPU-hour": "vCPU-Hours",
    "GB-hour": "GB-Hours",
}


def book() -> tuple[PriceRow, ...]:
    """Give one row for each id of the shipped book."""
    rows = load_prices().rows
    return tuple({row.id: row for row in rows}.values())


def items_of(region: str = IRELAND, prefix: str = "EU-", **usd: str) -> list[dict[str, Any]]:
    """Make a product for every row of the book; a price goes by the row's id, else it is the shipped one."""
    sku = "SKU" if region == IRELAND else f"SKU-{region}"
    return [
        item(
            row.service_code,
            f"{prefix}{row.usage_type}",
            region,
            tiers_of(row, usd),
            unit_of(row),
            sku=f"{sku}-{row.id}",
        )
        for row in book()
    ]


def tiers_of(row: PriceRow, usd: Mapping[str, str]) -> list[tuple[str, str, str]] | str:
    """Write a row's tiers as the Price List does, or one price for every unit."""
    if row.id in usd:
        return usd[row.id]
    begins = ["0", *(str(tier.up_to) for tier in row.tiers[:-1])]
    return [
        (begin, "Inf" if tier.up_to is None else str(tier.up_to), f"{tier.usd:.10f}")
        for begin, tier in zip(begins, row.tiers, strict=True)
    ]


def unit_of(row: PriceRow) -> str:
    """Write a row's unit as the Price List does."""
    return _UNITS[row.unit]  # a new unit of the book needs its name in the Price List here


@dataclass
class Prices:
    """Run commands about prices, with a folder of one's own."""

    price_list: PriceList
    folder: Path

    def refresh(self, *arguments: object, region: str = IRELAND) -> Result:
        """Run `prices refresh` on the folder."""
        return run("refresh", "--region", region, "--prices", self.folder, *arguments)

    def refreshed(self, *arguments: object, region: str = IRELAND) -> dict[str, Any]:
        """Run `prices refresh` and give its JSON."""
        result = self.refresh("--format", "json", *arguments, region=region)
        assert result.exit_code == 0, result.stderr
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    def file(self, region: str = IRELAND) -> Path:
        """Name the Region's file."""
        return self.folder / f"{region}.toml"


def run(*arguments: object) -> Result:
    """Run a command about prices in this process."""
    return CliRunner().invoke(app, ["prices", *(str(argument) for argument in arguments)])


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prices]:
    """Serve Ireland's price list, and set boto3 up for it."""
    with listing(PriceList(items_of())) as price_list:
        given = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", **price_list.variables()}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        yield Prices(price_list, tmp_path / "prices")
