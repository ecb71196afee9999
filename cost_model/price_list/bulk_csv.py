"""Read a bulk file in CSV: five lines about the list, a header, then a line for each rate; it is read line by line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Final

from cost_model.errors import DocumentError, PriceListError
from cost_model.faults import shown
from cost_model.price_list.bulk_file import ADVICE
from cost_model.price_list.product import Product, day_of, read_product
from cost_model.prices import PriceRow

_ABOUT_LINES: Final = 5
_ON_DEMAND: Final = "ondemand"
_COLUMNS: Final = (
    *("sku", "ratecode", "termtype", "effectivedate", "startingrange", "endingrange"),
    *("unit", "priceperunit", "currency", "usagetype", "regioncode"),
)
Line = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CsvOffer:
    """Name a file and what its first lines say."""

    path: Path
    service_code: str
    published: date | None

    def products(self, wanted: PriceRow) -> tuple[Product, ...]:
        """List the products whose usage types end as the row's.

        Raises:
            DocumentError: the file cannot be read to its end.
            PriceListError: a line of one of them is malformed.
        """
        by_sku: dict[str, list[Line]] = {}
        for line in _lines(self.path):
            if line["usagetype"].endswith(wanted.usage_type) and line["termtype"].lower() == _ON_DEMAND:
                by_sku.setdefault(line["sku"], []).append(line)
        return tuple(self._product(lines, wanted) for lines in by_sku.values())

    def _product(self, lines: list[Line], wanted: PriceRow) -> Product:
        first = lines[0]
        return read_product(
            {
                "sku": first["sku"],
                "attributes": {"usagetype": first["usagetype"], "regionCode": first["regioncode"]},
            },
            {first["sku"]: {"effectiveDate": first["effectivedate"], "priceDimensions": _dimensions(lines)}},
            service_code=self.service_code,
            published=self.published,
            source=f"{wanted.id}: {self.path}",
        )


def read_csv_offer(path: Path) -> CsvOffer:
    """Read a file's first lines, and see that it has its columns.

    Raises:
        PriceListError: it is not a service's price list.
    """
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        about = dict(row[:2] for row in islice(csv.reader(file), _ABOUT_LINES) if len(row) > 1)
    service = about.get("OfferCode")
    if not service:
        message = f"{path}: is neither JSON nor a price list in CSV: no OfferCode in its first lines; {ADVICE}"
        raise PriceListError(message)
    next(iter(_lines(path)), None)
    return CsvOffer(path, service, day_of(about.get("Publication Date")))


def _dimensions(lines: Iterable[Line]) -> dict[str, object]:
    """Write lines as the JSON has them, so that one set of rules checks both."""
    return {
        str(position): {
            "rateCode": line["ratecode"],
            "unit": line["unit"],
            "beginRange": line["startingrange"],
            "endRange": line["endingrange"],
            "pricePerUnit": {line["currency"]: line["priceperunit"]},
        }
        for position, line in enumerate(lines)
    }


def _lines(path: Path) -> Iterator[Line]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = [name.replace(" ", "").lower() for name in next(islice(rows, _ABOUT_LINES, None), [])]
            missing = [name for name in _COLUMNS if name not in header]
            if missing:
                message = f"{path}: line {_ABOUT_LINES + 1} lacks the columns {', '.join(missing)}; {ADVICE}"
                raise PriceListError(message)
            places = {name: header.index(name) for name in _COLUMNS}
            for row in rows:
                if len(row) != len(header):
                    where = f"{path}: line {rows.line_num}"
                    message = f"{where}: {len(row)} fields of {len(header)}: cut off? {shown(','.join(row))}"
                    raise PriceListError(message)
                yield {name: row[place] for name, place in places.items()}
    except (OSError, ValueError, csv.Error) as error:
        message = f"{path}: cannot be read to its end: {error}"
        raise DocumentError(message) from error
