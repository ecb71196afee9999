"""Ask the AWS Price List for products, page by page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cost_model.aws import client_of, told
from cost_model.errors import PriceListError
from cost_model.faults import shown
from cost_model.price_list.product import Product, day_of, read_product, usage_type_of
from cost_model.prices import PriceRow

ENDPOINT_REGION: Final = "us-east-1"
"""Where the Price List answers, for every Region's prices."""
PAGE: Final = 100
"""Products of one page at most."""
_PAGES: Final = 200
"""Pages after which a question is given up: the usage types of one suffix in one Region fill one."""


class PriceListService:
    """Find products through GetProducts; each question is for one row in one Region."""

    name = "AWS Price List, GetProducts"

    def __init__(self) -> None:
        """Make the client.

        Raises:
            AwsError: boto3 is not set up.
        """
        self._client = client_of("pricing", ENDPOINT_REGION)

    def products(self, wanted: PriceRow, region: str) -> tuple[Product, ...]:
        """List the products whose usage types hold the row's; else those that are sold everywhere alike.

        Raises:
            AwsError: AWS does not answer.
            PriceListError: an answer is malformed, or has no end.
        """
        found = self._ask(wanted, ("regionCode", "EQUALS", region), ("usagetype", "CONTAINS", wanted.usage_type))
        if not found:
            # A dashboard has one price and no Region. With a Region's prefix missing, the answer is empty, too.
            found = self._ask(wanted, ("usagetype", "EQUALS", wanted.usage_type))
        return found

    def _ask(self, wanted: PriceRow, *filters: tuple[str, str, str]) -> tuple[Product, ...]:
        asked = [{"Field": field, "Type": kind, "Value": value} for field, kind, value in filters]
        request = {"ServiceCode": wanted.service_code, "Filters": asked, "MaxResults": PAGE, "FormatVersion": "aws_v1"}
        source = f"{wanted.id}: {wanted.service_code}"
        listed = [item for page in self._pages(request, source) for item in page]
        return tuple(_product(item, wanted.service_code, source) for item in listed if _may_matter(item, wanted))

    def _pages(self, request: Mapping[str, Any], source: str) -> Iterator[list[Mapping[str, Any]]]:
        seen: set[str] = set()
        more: dict[str, str] = {}
        while len(seen) < _PAGES:
            with told(f"{source}: asking the price list failed", "pricing:GetProducts"):
                answer = self._client.get_products(**request, **more)
            yield [_item(text, source) for text in answer.get("PriceList", ())]
            token = answer.get("NextToken")
            if not token:
                return
            if token in seen:
                break
            seen.add(token)
            more = {"NextToken": token}
        message = f"{source}: the price list's pages have no end; try again later"
        raise PriceListError(message)


def _item(text: object, source: str) -> Mapping[str, Any]:
    try:
        item = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        item = None
    if not isinstance(item, dict) or usage_type_of(item.get("product")) is None:
        message = f"{source}: the price list answered {shown(text)}, which is no product in JSON"
        raise PriceListError(message)
    return item


def _may_matter(item: Mapping[str, Any], wanted: PriceRow) -> bool:
    """Tell whether a product's name ends as the row's: others may be as they like."""
    return str(usage_type_of(item["product"])).endswith(wanted.usage_type)


def _product(item: Mapping[str, Any], service_code: str, source: str) -> Product:
    terms = item.get("terms")
    on_demand = terms.get("OnDemand") if isinstance(terms, Mapping) else None
    published = day_of(item.get("publicationDate"))
    return read_product(item["product"], on_demand, service_code=service_code, published=published, source=source)
