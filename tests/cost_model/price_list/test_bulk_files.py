"""Refresh prices from bulk files: no AWS account, the same rules."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from cost_model.price_list.bulk_file import MAXIMUM_BYTES
from cost_model.price_list.bulk_json import MAXIMUM_JSON_BYTES
from cost_model.prices import prices_with
from tests.cost_model.price_list.conftest import IRELAND, Prices, book, items_of
from tests.loopback.price_list import bulk_csv, bulk_json, item

CLOUDWATCH = "AmazonCloudWatch"


@pytest.mark.parametrize(("write", "name"), [(bulk_json, "index.json"), (bulk_csv, "index.csv")])
def test_a_bulk_file_gives_the_rows_of_its_service(
    prices: Prices, tmp_path: Path, write: Callable[..., str], name: str
) -> None:
    """JSON and CSV say the same; other services are named as not asked for; AWS is not asked at all."""
    (tmp_path / name).write_text(write([*items_of("us-east-1", "USE1-", data_protection="7"), *items_of()], CLOUDWATCH))
    document = prices.refreshed("--file", tmp_path / name)
    rows = [row for row in book() if row.service_code == CLOUDWATCH]
    spans = prices_with(prices.folder).row(IRELAND, "span_ingestion")

    assert [change["id"] for change in document["changes"]] == [row.id for row in rows]
    assert document["not_asked_for"] == sorted({row.service_code for row in book()} - {CLOUDWATCH})
    assert [tier.usd for tier in spans.tiers] == [Decimal("0.35"), Decimal("0.20"), Decimal("0.15")]
    assert spans.source == "AWS Price List, bulk file: EU-Application-Signals-Bytes, published 2026-11-20"
    assert prices_with(prices.folder).row(IRELAND, "data_protection").tiers[0].usd == Decimal("0.12")
    assert prices.price_list.asked == []


def test_several_files_make_a_whole_region(prices: Prices, tmp_path: Path) -> None:
    """One file a service, in any order and either form."""
    files: list[object] = []
    for position, service in enumerate(sorted({row.service_code for row in book()})):
        path = tmp_path / service
        path.write_text((bulk_csv if position % 2 else bulk_json)(items_of(), service))
        files += ["--file", path]

    assert len(prices.refreshed(*files)["changes"]) == len(book())


def test_a_pipe_is_refused_and_never_waited_for(prices: Prices, tmp_path: Path) -> None:
    """Nobody may ever write into it."""
    pipe = tmp_path / "index.json"
    os.mkfifo(pipe)
    result = prices.refresh("--file", pipe)

    assert result.exit_code == 2
    assert f"{pipe}: not a file" in result.stderr


def test_a_service_without_a_file_is_refused_where_it_was_asked_for(prices: Prices, tmp_path: Path) -> None:
    """The message says where its file lies."""
    path = tmp_path / "index.json"
    path.write_text(bulk_json(items_of(), CLOUDWATCH))
    result = prices.refresh("--file", path, "--service", "AmazonS3")

    assert result.exit_code == 1
    assert "s3_put: no file is of AmazonS3; fetch the Region's own file of the service: https://" in result.stderr


def test_a_file_of_another_region_has_no_rows(prices: Prices, tmp_path: Path) -> None:
    """Prices of another Region are not this one's."""
    path = tmp_path / "index.json"
    path.write_text(bulk_json(items_of("us-east-1", "USE1-"), CLOUDWATCH))
    result = prices.refresh("--file", path)

    assert result.exit_code == 1
    assert "lists no usage type in eu-west-1" in result.stderr
    assert not prices.folder.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"<!DOCTYPE html><title>Access denied</title>", "is a page in HTML or XML, perhaps an error's"),
        (b"\xef\xbb\xbf<Error><Code>NoSuchKey</Code></Error>", "is a page in HTML or XML"),
        (gzip.compress(b"{}", mtime=0), "is packed with gzip; unpack it first"),
        (bulk_json(items_of(), CLOUDWATCH).encode()[:-9], "cut off, or not valid JSON"),
        (b"[" * 99_999, "is neither JSON nor a price list in CSV"),
        (b'{"a":' + b"[" * 99_999, "cut off, or not valid JSON"),
        (b'{"regions": {"eu-west-1": {}}}', "is the list of the Regions' files, and holds no price"),
        (b'{"offerCode": "AmazonS3"}', 'it needs offerCode, products and terms.OnDemand, and holds "offerCode"'),
        (b"a,b\n1,2\n", "is neither JSON nor a price list in CSV: no OfferCode in its first lines"),
        (b'"OfferCode","AmazonS3"\n' * 5 + b"SKU,Unit\n", "line 6 lacks the columns ratecode, termtype"),
        (b'"OfferCode","AmazonS3"\n' * 5, "line 6 lacks the columns sku, ratecode"),
        (bulk_csv(items_of(), CLOUDWATCH).encode()[:-40], "cannot be read to its end"),
        (bulk_csv(items_of(), CLOUDWATCH).encode().rpartition(b',"')[0], "15 fields of 16: cut off?"),
        (bulk_csv(items_of(), CLOUDWATCH).encode() + b'"\xff\xff"\n', "cannot be read to its end"),
    ],
)
def test_what_is_no_price_list_is_refused_with_the_reason(
    prices: Prices, tmp_path: Path, content: bytes, said: str
) -> None:
    """A download that failed is the usual case."""
    path = tmp_path / "download"
    path.write_bytes(content)
    result = prices.refresh("--file", path)

    assert result.exit_code in {1, 2}
    assert said in result.stderr
    assert str(path) in result.stderr
    assert not prices.folder.exists()


@pytest.mark.parametrize(
    ("head", "size"), [(b"{", MAXIMUM_JSON_BYTES + 1), (b'"FormatVersion","v1.0"', MAXIMUM_BYTES + 1)]
)
def test_a_file_that_is_too_large_is_refused_unread(prices: Prices, tmp_path: Path, head: bytes, size: int) -> None:
    """Its size and the limit are named; a Region's own file is small."""
    path = tmp_path / "index"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)
    result = prices.refresh("--file", path)

    assert result.exit_code == 2
    assert f"{size:,} bytes; allowed" in result.stderr


def test_the_faults_of_several_files_are_shown_at_once(prices: Prices, tmp_path: Path) -> None:
    """A file that is not there is one of them."""
    (tmp_path / "page").write_text("<html>")
    result = prices.refresh("--file", tmp_path / "page", "--file", tmp_path / "nowhere")

    assert "is a page in HTML" in result.stderr
    assert "nowhere: cannot be read: No such file or directory" in result.stderr


def test_products_that_no_row_names_may_be_as_they_like(prices: Prices, tmp_path: Path) -> None:
    """A file holds hundreds of other products; one of a row's name must be whole."""
    document = json.loads(bulk_json(items_of(), CLOUDWATCH))
    document["products"] |= {
        "A": None,
        "B": {"attributes": 3},
        "C": {"sku": "C", "attributes": {"usagetype": "EU-Odd"}},
    }
    path = tmp_path / "index.json"
    path.write_text(json.dumps(document))
    assert prices.refresh("--dry-run", "--file", path).exit_code == 0

    broken = item(CLOUDWATCH, "EU-DataScanned-Bytes", IRELAND, "1", "GB", sku="D")
    document["products"]["D"] = broken["product"]
    path.write_text(json.dumps(document))
    result = prices.refresh("--dry-run", "--file", path)
    assert result.exit_code == 1
    assert '"D" ("EU-DataScanned-Bytes"): 0 terms on demand; allowed: one' in result.stderr
