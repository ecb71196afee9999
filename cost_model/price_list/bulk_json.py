"""Read a bulk file in JSON: products by SKU, and their terms on demand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from cost_model.errors import DocumentError, PriceListError
from cost_model.faults import shown
from cost_model.price_list.bulk_file import ADVICE
from cost_model.price_list.product import Product, day_of, read_product, usage_type_of
from cost_model.prices import PriceRow

MAXIMUM_JSON_BYTES: Final = 256_000_000
"""JSON is read whole, at several times its size in memory; CSV is read line by line."""


@dataclass(frozen=True, slots=True)
class JsonOffer:
    """Hold the products of a file; they are checked where a row asks for them."""

    path: Path
    service_code: str
    published: date | None
    listed: Mapping[str, object]
    on_demand: Mapping[str, object]

    def products(self, wanted: PriceRow) -> tuple[Product, ...]:
        """List the products whose usage types end as the row's.

        Raises:
            PriceListError: one of them is malformed.
        """
        matching = {
            sku: product
            for sku, product in self.listed.items()
            if str(usage_type_of(product)).endswith(wanted.usage_type)
        }
        return tuple(
            read_product(
                product,
                self.on_demand.get(sku),
                service_code=self.service_code,
                published=self.published,
                source=f"{wanted.id}: {self.path}",
            )
            for sku, product in matching.items()
        )


def read_json_offer(path: Path) -> JsonOffer:
    """Read a file.

    Raises:
        DocumentError: it is too large, cut off or no JSON.
        PriceListError: it is not a service's price list.
    """
    size = path.stat().st_size
    if size > MAXIMUM_JSON_BYTES:
        message = f"{path}: {size:,} bytes; allowed in JSON: at most {MAXIMUM_JSON_BYTES:,}; {ADVICE}"
        raise DocumentError(message)
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError) as error:
        message = f"{path}: cut off, or not valid JSON: {error}; {ADVICE}"
        raise DocumentError(message) from error
    service, listed, terms = document.get("offerCode"), document.get("products"), document.get("terms")
    if "regions" in document and listed is None:
        message = f"{path}: is the list of the Regions' files, and holds no price; {ADVICE}"
        raise PriceListError(message)
    on_demand = terms.get("OnDemand") if isinstance(terms, Mapping) else None
    if not isinstance(service, str) or not isinstance(listed, Mapping) or not isinstance(on_demand, Mapping):
        held = ", ".join(shown(key) for key in list(document)[:6]) or "nothing"
        needed = "offerCode, products and terms.OnDemand"
        message = f"{path}: is no price list: it needs {needed}, and holds {held}; {ADVICE}"
        raise PriceListError(message)
    return JsonOffer(path, service, day_of(document.get("publicationDate")), listed, on_demand)
