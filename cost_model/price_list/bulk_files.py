"""Find products in bulk files of the AWS Price List: each holds the prices of one service, in JSON or CSV."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cost_model.errors import DocumentError, PriceListError
from cost_model.price_list.bulk_csv import read_csv_offer
from cost_model.price_list.bulk_file import ADVICE, check_file
from cost_model.price_list.bulk_json import read_json_offer
from cost_model.price_list.product import Product
from cost_model.prices import PriceRow


class Offer(Protocol):
    """Give the products of one service, read from a file."""

    @property
    def service_code(self) -> str:
        """Name the service."""

    def products(self, wanted: PriceRow) -> tuple[Product, ...]:
        """List the products whose usage types end as the row's."""


@dataclass(frozen=True, slots=True)
class BulkFiles:
    """Find products in bulk files, one a service."""

    offers: tuple[Offer, ...]
    name: str = "AWS Price List, bulk file"

    @property
    def services(self) -> tuple[str, ...]:
        """Name the services whose files were given."""
        return tuple(dict.fromkeys(offer.service_code for offer in self.offers))

    def products(self, wanted: PriceRow, region: str) -> tuple[Product, ...]:
        """List a row's products that are of the Region, or of none.

        Raises:
            PriceListError: no file is of the row's service, or a product that matters is malformed.
        """
        offers = [offer for offer in self.offers if offer.service_code == wanted.service_code]
        if not offers:
            message = f"{wanted.id}: no file is of {wanted.service_code}; {ADVICE}"
            raise PriceListError(message)
        found = [product for offer in offers for product in offer.products(wanted)]
        return tuple(product for product in found if product.region in {region, ""})


def read_bulk_files(paths: Iterable[Path]) -> BulkFiles:
    """Read files, each by what it holds; DocumentError shows the faults of all of them."""
    offers: list[Offer] = []
    faults: list[str] = []
    for path in paths:
        try:
            head = check_file(path)
            offers.append(read_json_offer(path) if head.startswith(b"{") else read_csv_offer(path))
        except (PriceListError, DocumentError) as error:
            faults += error.lines
    if faults:
        raise DocumentError(*faults)
    return BulkFiles(tuple(offers))
