"""Stand in for the AWS Price List: products, found by filters, page by page; and its bulk files.

    with listing(PriceList(book_items("eu-west-1"))) as price_list:
        run(["rastro", "cost", "prices", "refresh", …], env={**VARIABLES, **price_list.variables()})

What the real one is known for holds here too: items are JSON in strings, a filter on an attribute that a product lacks
finds nothing, and nothing found is an answer like any other.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.loopback.server import QuietHandler, serving

PUBLISHED = "2026-11-20T18:04:52Z"
_CSV_COLUMNS = (
    *("SKU", "OfferTermCode", "RateCode", "TermType", "PriceDescription", "EffectiveDate", "StartingRange"),
    *("EndingRange", "Unit", "PricePerUnit", "Currency", "Product Family", "serviceCode", "usageType"),
    *("operation", "Region Code"),
)
Tiers = Sequence[tuple[str, str, str]]
"""Of each tier: where it begins, where it ends, USD."""


def item(
    service: str,
    usage_type: str,
    region: str | None,
    tiers: Tiers | str,
    unit: str,
    sku: str = "",
    currency: str = "USD",
) -> dict[str, Any]:
    """Make a product with its terms; a text for tiers is the price of every unit."""
    sku = sku or f"SKU{abs(hash((service, usage_type, region))) % 10**10:010}"
    listed = [("0", "Inf", tiers)] if isinstance(tiers, str) else tiers
    term = f"{sku}.JRTCKXETXF"
    dimensions = {
        f"{term}.R{position}": {
            "rateCode": f"{term}.R{position}",
            "description": f"${usd} per {unit}",
            "unit": unit,
            "beginRange": begin,
            "endRange": end,
            "pricePerUnit": {currency: usd},
            "appliesTo": [],
        }
        for position, (begin, end, usd) in enumerate(listed)
    }
    attributes = {"usagetype": usage_type, "servicecode": service, "operation": ""}
    if region is not None:
        attributes["regionCode"] = region
    offer = {"priceDimensions": dimensions, "sku": sku, "effectiveDate": "2026-11-01T00:00:00Z", "termAttributes": {}}
    return {
        "product": {"productFamily": "Data Payload", "attributes": attributes, "sku": sku},
        "serviceCode": service,
        "terms": {"OnDemand": {term: {**offer, "offerTermCode": "JRTCKXETXF"}}},
        "version": "20261120180452",
        "publicationDate": PUBLISHED,
    }


@dataclass
class PriceList:
    """Hold products, what was asked, and what goes wrong.

    Attributes:
        items: products with terms; one that is no mapping is answered as it is.
        page: products of one page at most.
        throttle: questions that are throttled yet.
        refuse: the code by which every question is refused.
        one_token: every page names the same next one.
    """

    items: list[Any]
    page: int = 100
    throttle: int = 0
    refuse: str | None = None
    one_token: bool = False
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def variables(self) -> dict[str, str]:
        """Give what a process needs, beside credentials, to take this for the Price List."""
        return {"AWS_ENDPOINT_URL_PRICING": self.url}

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Answer GetProducts."""
        self.asked.append(request)
        if self.throttle:
            self.throttle -= 1
            return 400, {"__type": "ThrottlingException", "message": "secret words: rate exceeded"}
        if self.refuse:
            return 400, {"__type": self.refuse, "message": "secret words"}
        found = [one for one in self.items if _fits(one, request)]
        start = int(request.get("NextToken") or 0)
        end = min(start + self.page, start + request["MaxResults"])
        items = [one if isinstance(one, str) else json.dumps(one) for one in found[start:end]]
        answer: dict[str, Any] = {"FormatVersion": "aws_v1", "PriceList": items}
        if self.one_token:
            answer["NextToken"] = "0"
        elif end < len(found):
            answer["NextToken"] = str(end)
        return 200, answer


def _fits(one: Any, request: Mapping[str, Any]) -> bool:
    if isinstance(one, str):
        return True
    return one["serviceCode"] == request["ServiceCode"] and all(
        _holds(one["product"].get("attributes", {}), condition) for condition in request["Filters"]
    )


def _holds(attributes: Mapping[str, str], condition: Mapping[str, str]) -> bool:
    value = attributes.get(condition["Field"])
    match condition["Type"]:
        case "EQUALS" | "TERM_MATCH":
            return value == condition["Value"]
        case "CONTAINS":
            return value is not None and condition["Value"] in value
    raise AssertionError(condition)


@contextmanager
def listing(price_list: PriceList) -> Iterator[PriceList]:
    """Serve on loopback until the block ends."""

    class Handler(QuietHandler):
        # Head and body leave together: a client that acknowledges late holds up nothing.
        wbufsize = -1

        def do_POST(self) -> None:
            assert self.headers["X-Amz-Target"] == "AWSPriceListService.GetProducts"
            status, answer = price_list.answer(json.loads(self.body()))
            self.answer(json.dumps(answer).encode(), status=status, content_type="application/x-amz-json-1.1")

    with serving(Handler) as price_list.url:
        yield price_list


def bulk_json(items: Iterable[Mapping[str, Any]], service: str) -> str:
    """Write a service's products as the bulk file in JSON has them."""
    own = [one for one in items if one["serviceCode"] == service]
    return json.dumps(
        {
            "formatVersion": "v1.0",
            "disclaimer": "This pricing list is for informational purposes only.",
            "offerCode": service,
            "version": "20261120180452",
            "publicationDate": PUBLISHED,
            "products": {one["product"]["sku"]: one["product"] for one in own},
            "terms": {"OnDemand": {one["product"]["sku"]: one["terms"]["OnDemand"] for one in own}},
        }
    )


def bulk_csv(items: Iterable[Mapping[str, Any]], service: str) -> str:
    """Write a service's products as the bulk file in CSV has them."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows(
        [
            ("FormatVersion", "v1.0"),
            ("Disclaimer", "This pricing list is for informational purposes only."),
            ("Publication Date", PUBLISHED),
            ("Version", "20261120180452"),
            ("OfferCode", service),
            _CSV_COLUMNS,
        ]
    )
    for one in items:
        if one["serviceCode"] == service:
            writer.writerows(_csv_lines(one))
    return text.getvalue()


def _csv_lines(one: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    product, attributes = one["product"], one["product"]["attributes"]
    for term in one["terms"]["OnDemand"].values():
        for rate in term["priceDimensions"].values():
            ((currency, usd),) = rate["pricePerUnit"].items()
            yield (
                *(product["sku"], term["offerTermCode"], rate["rateCode"], "OnDemand", rate["description"]),
                *(term["effectiveDate"][:10], rate["beginRange"], rate["endRange"], rate["unit"], usd, currency),
                *(product["productFamily"], one["serviceCode"], attributes["usagetype"], attributes["operation"]),
                attributes.get("regionCode", ""),
            )
