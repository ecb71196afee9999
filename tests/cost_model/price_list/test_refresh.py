"""Refresh prices from a price list on loopback, through the real boto3 client."""

from __future__ import annotations

import shutil
import tomllib
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from cost_model.errors import PriceListError
from cost_model.price_list.choosing import choose
from cost_model.price_list.product import read_product
from cost_model.price_list.writing import add_rows
from cost_model.prices import SHIPPED, load_prices, prices_with
from tests.cost_model.conftest import Synthesis
from tests.cost_model.price_list.conftest import IRELAND, Prices, book, items_of
from tests.cost_model.test_cli import estimate
from tests.loopback.price_list import item


def today() -> date:
    """Tell the day as the commands do."""
    return datetime.now(UTC).date()


def test_a_region_without_rows_gets_one_for_each_of_the_book(prices: Prices) -> None:
    """Unit, name and free share are of the book; price, SKU, rate codes and days are of the list."""
    document = prices.refreshed()
    rows = {row.id: row for row in load_prices(prices.folder).rows}

    assert [change["verdict"] for change in document["changes"]] == ["new"] * len(book())
    assert rows.keys() == {row.id for row in book()}
    spans = rows["span_ingestion"]
    assert [(tier.usd, tier.up_to) for tier in spans.tiers] == [
        (Decimal("0.35"), 10_240),
        (Decimal("0.20"), 30_720),
        (Decimal("0.15"), None),
    ]
    assert (spans.region, spans.unit, spans.as_of) == (IRELAND, "GB", today())
    assert spans.source == "AWS Price List, GetProducts: EU-Application-Signals-Bytes, published 2026-11-20"
    assert spans.listing is not None
    assert spans.listing.sku == "SKU-span_ingestion"
    assert spans.listing.rate_code.split() == [f"SKU-span_ingestion.JRTCKXETXF.R{tier}" for tier in range(3)]
    assert (spans.listing.effective, spans.listing.published) == (date(2026, 11, 1), date(2026, 11, 20))
    assert rows["spans_indexed"].free_share == Decimal("0.01")
    assert rows["spans_indexed"].tiers[0].usd == Decimal("0.00000075")


def test_a_question_names_the_region_and_the_end_of_the_usage_type(prices: Prices) -> None:
    """An exact usage type without its prefix would be answered by nothing."""
    prices.refresh("--service", "AmazonS3")

    assert [request["ServiceCode"] for request in prices.price_list.asked] == ["AmazonS3"] * len(
        [row for row in book() if row.service_code == "AmazonS3"]
    )
    assert prices.price_list.asked[0]["Filters"] == [
        {"Field": "regionCode", "Type": "EQUALS", "Value": IRELAND},
        {"Field": "usagetype", "Type": "CONTAINS", "Value": "TimedStorage-ByteHrs"},
    ]


def test_pages_are_followed_to_the_last(prices: Prices) -> None:
    """The product that matters may be the last of many whose names hold its own."""
    variants = [
        item("AmazonCloudWatch", f"EU-DataProcessing-Bytes-Kind{number}", IRELAND, "9", "GB") for number in range(230)
    ]
    prices.price_list.items = [*variants, *items_of()]
    prices.price_list.page = 50
    prices.refreshed()

    assert prices_with(prices.folder).row(IRELAND, "log_ingestion").tiers[0].usd == Decimal("0.5")
    tokens = [request.get("NextToken") for request in prices.price_list.asked]
    assert tokens.count("200") == 1


def test_pages_without_an_end_are_given_up(prices: Prices) -> None:
    """A list that names the same page for ever hangs nobody."""
    prices.price_list.one_token = True
    result = prices.refresh()

    assert result.exit_code == 1
    assert "the price list's pages have no end" in result.stderr
    assert not prices.folder.exists()


def test_a_throttled_question_is_asked_again(prices: Prices) -> None:
    """What passes by itself is no error."""
    prices.price_list.throttle = 2

    assert len(prices.refreshed()["changes"]) == len(book())


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("AccessDeniedException", "access denied: this needs pricing:GetProducts"),
        ("ExpiredTokenException", "the credentials are not valid, or no longer: sign in again"),
        ("InternalErrorException", "AWS answered InternalErrorException"),
    ],
)
def test_a_refusal_says_what_is_missing(prices: Prices, code: str, said: str) -> None:
    """One line, status 1, nothing written, and none of AWS's own words."""
    prices.price_list.refuse = code
    result = prices.refresh()

    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert said in result.stderr
    assert "secret words" not in result.stderr
    assert not prices.folder.exists()


def test_without_credentials_it_says_how_to_sign_in(prices: Prices, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bulk file needs none; the service does."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    result = prices.refresh()

    assert result.exit_code == 1
    assert "no AWS credentials" in result.stderr


def test_no_rows_are_an_error_for_every_row_at_once(prices: Prices) -> None:
    """An empty answer is no price: each row is named with its Region and what to look at, and nothing is written."""
    prices.price_list.items = [one for one in items_of() if "Span" not in one["product"]["attributes"]["usagetype"]]
    del prices.price_list.items[0]
    result = prices.refresh()
    lines = result.stderr.splitlines()

    assert result.exit_code == 1
    assert [line.partition(":")[0] for line in lines] == ["span_ingestion", "spans_indexed", f"Region '{IRELAND}'"]
    assert "AmazonCloudWatch lists no usage type in eu-west-1 that ends with XRay-Spans-Indexed" in lines[1]
    assert "nothing was written" in lines[-1]
    assert not prices.folder.exists()


def test_only_the_region_s_prefix_may_stand_before_a_usage_type(prices: Prices) -> None:
    """Names that merely end alike are other products; the error tells which were there."""
    prices.price_list.items = [
        one for one in items_of() if one["product"]["attributes"]["usagetype"] != "EU-DataScanned-Bytes"
    ] + [item("AmazonCloudWatch", "EU-Vended-DataScanned-Bytes", IRELAND, "0.009", "GB")]
    result = prices.refresh()

    assert "logs_insights_scan: " in result.stderr
    assert "only EU-Vended-DataScanned-Bytes" in result.stderr


def test_a_free_tier_is_told_and_never_the_price(prices: Prices) -> None:
    """It starts at nothing, and would price the whole trail at nothing."""
    prices.price_list.items.insert(
        0,
        item("AmazonCloudWatch", "Global-DataScanned-Bytes", IRELAND, [("0", "5", "0"), ("5", "Inf", "0.9")], "GB"),
    )
    document = prices.refreshed()

    assert document["free_tiers"] == ["Global-DataScanned-Bytes: free tier, $0 per GB from 0 to 5, $0.9 per GB above 5"]
    assert prices_with(prices.folder).row(IRELAND, "logs_insights_scan").tiers[0].usd == Decimal("0.005")


def test_free_first_units_of_a_price_are_left_out(prices: Prices) -> None:
    """No account-wide free tier comes off an estimate: the first price that is one begins at the first unit."""
    prices.price_list.items = items_of()
    position = next(i for i, one in enumerate(prices.price_list.items) if "dynamodb_storage" in one["product"]["sku"])
    prices.price_list.items[position] = item(
        "AmazonDynamoDB", "EU-TimedStorage-ByteHrs", IRELAND, [("0", "25", "0"), ("25", "Inf", "0.283")], "GB-Mo"
    )
    document = prices.refreshed()
    row = prices_with(prices.folder).row(IRELAND, "dynamodb_storage")

    assert [(tier.usd, tier.up_to) for tier in row.tiers] == [(Decimal("0.283"), None)]
    assert document["free_tiers"] == ["EU-TimedStorage-ByteHrs: $0 per GB-Mo from 0 to 25"]


def test_products_that_disagree_are_listed(prices: Prices) -> None:
    """Nobody can say which of two prices is the one."""
    prices.price_list.items.append(item("AmazonS3", "EUW1-Requests-Tier1", IRELAND, "0.0000054", "Requests", sku="TWO"))
    result = prices.refresh()

    assert result.exit_code == 1
    assert "s3_put: several products disagree: SKU-s3_put EU-Requests-Tier1" in result.stderr
    assert "TWO EUW1-Requests-Tier1: $0.0000054 per Requests" in result.stderr


def test_products_that_agree_are_one(prices: Prices) -> None:
    """The same price under several operations is the same price."""
    shipped = next(row for row in book() if row.id == "s3_put").tiers[0].usd
    prices.price_list.items.append(
        item("AmazonS3", "EUW1-Requests-Tier1", IRELAND, f"{shipped:f}", "Requests", sku="A")
    )

    assert prices.refresh().exit_code == 0


def test_a_product_that_is_sold_everywhere_alike_has_no_region(prices: Prices) -> None:
    """So a dashboard is listed: its usage type has no prefix, and its product no Region."""
    prices.price_list.items = [one for one in items_of() if "s3_put" not in one["product"]["sku"]]
    prices.price_list.items.append(item("AmazonS3", "Requests-Tier1", None, "0.000006", "Requests"))
    prices.refreshed()

    assert prices_with(prices.folder).row(IRELAND, "s3_put").tiers[0].usd == Decimal("0.000006")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("{", 'answered "{", which is no product in JSON'),
        ("[]", 'answered "[]", which is no product in JSON'),
        (item("AmazonS3", "EU-Requests-Tier1", IRELAND, "free", "Requests", sku="S"), "is no price; it needs rateCode"),
        (item("AmazonS3", "EU-Requests-Tier1", IRELAND, "-1", "Requests", sku="S"), "is no price; it needs rateCode"),
        (item("AmazonS3", "EU-Requests-Tier1", IRELAND, "NaN", "Requests", sku="S"), "is no price; it needs rateCode"),
        (
            item("AmazonS3", "EU-Requests-Tier1", IRELAND, "1", "Requests", currency="CNY"),
            'priced in "CNY"; allowed: USD',
        ),
        (
            item("AmazonS3", "EU-Requests-Tier1", IRELAND, "0.5", "GB"),
            "is priced by \"GB\"; the price book's unit is 'request'",
        ),
        (item("AmazonS3", "EU-Requests-Tier1", IRELAND, "0", "Requests"), "costs nothing: that is a free tier"),
        (
            item("AmazonS3", "EU-Requests-Tier1", IRELAND, [("0", "5", "1"), ("6", "Inf", "2")], "Requests"),
            "tiers 0 to 5, 6 to Inf; allowed: from 0 to Inf, without gaps",
        ),
        (item("AmazonS3", "EU-Requests-Tier1", IRELAND, [("0", "5", "1")], "Requests"), "tiers 0 to 5; allowed"),
        (item("AmazonS3", "EU-Requests-Tier1", IRELAND, [], "Requests"), "no priceDimensions"),
    ],
)
def test_a_malformed_row_is_refused_with_its_reason(prices: Prices, broken: object, said: str) -> None:
    """Nothing is guessed, and nothing is written."""
    others = [one for one in items_of() if "s3_put" not in one["product"]["sku"]]
    prices.price_list.items = [*others, broken]
    result = prices.refresh()

    assert result.exit_code == 1
    assert said in result.stderr
    assert "s3_put: " in result.stderr
    assert not prices.folder.exists()


def test_terms_that_are_not_one_are_refused(prices: Prices) -> None:
    """Two terms on demand would be two prices."""
    found = next(one for one in prices.price_list.items if "s3_put" in one["product"]["sku"])
    found["terms"]["OnDemand"]["another"] = {}

    assert "2 terms on demand; allowed: one" in prices.refresh().stderr
    found["terms"] = {}
    assert "0 terms on demand; allowed: one" in prices.refresh().stderr


def test_old_rows_stay_byte_for_byte(prices: Prices) -> None:
    """What moved gets a row of today behind them; the diff says from what to what."""
    prices.folder.mkdir()
    shutil.copy(SHIPPED / "us-east-1.toml", prices.folder)
    before = prices.file("us-east-1").read_bytes()
    prices.price_list.items = items_of("us-east-1", "USE1-", log_storage="0.033", data_protection="0.12")
    document = prices.refreshed(region="us-east-1")
    after = prices.file("us-east-1").read_bytes()
    moved = {change["id"]: change for change in document["changes"]}

    assert after.startswith(before)
    assert moved["log_storage"]["verdict"] == "moved"
    assert moved["log_storage"]["old"]["tiers"] == [{"usd": "0.03", "up_to": None}]
    assert moved["log_storage"]["new"]["tiers"] == [{"usd": "0.033", "up_to": None}]
    assert moved["log_storage"]["share"] == "0.1"
    assert moved["data_protection"]["verdict"] == "seen again"
    book_now = prices_with(prices.folder)
    assert book_now.row("us-east-1", "log_storage").tiers[0].usd == Decimal("0.033")
    assert len(tomllib.loads(after.decode())["rows"]) == len(load_prices().rows) + len(document["changes"])


def test_a_second_refresh_of_a_day_adds_nothing(prices: Prices) -> None:
    """What did not move and was seen lately needs no row."""
    prices.refreshed()
    before = prices.file().read_bytes()
    document = prices.refreshed()

    assert {change["verdict"] for change in document["changes"]} == {"same"}
    assert document["written"] is None
    assert prices.file().read_bytes() == before


def test_a_price_that_moves_within_a_day_waits_for_the_next(prices: Prices) -> None:
    """An id has one row a day, and rows are never edited."""
    prices.refreshed()
    before = prices.file().read_bytes()
    prices.price_list.items = items_of(s3_put="0.000009")
    result = prices.refresh()

    assert result.exit_code == 1
    assert f"s3_put: the row in use is of {today()}, and today is {today()}" in result.stderr
    assert prices.file().read_bytes() == before


@pytest.mark.parametrize(("age", "verdict"), [(30, "same"), (31, "seen again")])
def test_an_unmoved_price_is_written_again_after_a_month(prices: Prices, age: int, verdict: str) -> None:
    """So the book tells when a price was last seen, and a daily refresh does not fill it."""
    prices.refreshed()
    text = prices.file().read_text()
    prices.file().write_text(text.replace(f"as_of = {today()}", f"as_of = {today() - timedelta(days=age)}"))

    assert {change["verdict"] for change in prices.refreshed()["changes"]} == {verdict}


def test_a_dry_run_writes_nothing(prices: Prices) -> None:
    """It shows what would be added."""
    result = prices.refresh("--dry-run")

    assert result.exit_code == 0
    assert f"a dry run: nothing was written, {len(book())} rows would be added" in result.stdout
    assert not prices.folder.exists()


def test_a_folder_that_cannot_be_written_is_refused(prices: Prices) -> None:
    """The message names the file and why."""
    prices.folder.write_text("")
    prices.folder /= "below"
    result = prices.refresh()

    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize("region", ["EU", "../../etc", "eu-west", "", "eu-west-1\n"])
def test_what_is_no_region_is_refused_before_anything_is_asked(prices: Prices, region: str) -> None:
    """It would become a file's name."""
    result = prices.refresh(region=region)

    assert result.exit_code == 2
    assert "is no Region's name; allowed: one such as eu-west-1" in result.stderr
    assert prices.price_list.asked == []


def test_an_unknown_service_is_refused_with_those_that_are_known(prices: Prices) -> None:
    """A misspelt code would otherwise refresh nothing."""
    result = prices.refresh("--service", "AmazonCloudwatch")

    assert result.exit_code == 2
    assert 'service "AmazonCloudwatch": the price book has no row of it; it has: ' in result.stderr


def test_an_estimate_without_rows_names_the_command_that_adds_them(synthesis: Synthesis) -> None:
    """Prices of another Region are not taken for this one's."""
    synthesis.add_environment("dev", region=IRELAND)
    result = estimate(synthesis)

    assert result.exit_code == 2
    assert "`rastro cost prices refresh --region eu-west-1` asks AWS for them" in result.stderr


def test_an_estimate_takes_the_prices_that_were_added(prices: Prices, synthesis: Synthesis) -> None:
    """A Region that the shipped book does not know is priced from a folder of one's own."""
    prices.refreshed()
    synthesis.add_environment("dev", region=IRELAND)

    assert estimate(synthesis).exit_code == 2
    result = estimate(synthesis, "--prices", prices.folder)
    assert result.exit_code == 0, result.stderr
    assert "eu-west-1" in result.stdout


def test_a_product_of_another_region_is_never_chosen() -> None:
    """Whatever a list answers to the question for a Region."""
    wanted = next(row for row in book() if row.id == "log_storage")
    listed = item("AmazonCloudWatch", "USE1-TimedStorage-ByteHrs", "us-east-1", "0.03", "GB-Mo")
    terms = listed["terms"]["OnDemand"]
    product = read_product(listed["product"], terms, service_code="AmazonCloudWatch", published=None, source="a list")

    assert choose(wanted, [product], "us-east-1").faults == ()
    assert "lists no usage type in eu-west-1" in choose(wanted, [product], IRELAND).faults[0]


def test_a_file_keeps_its_mode(prices: Prices) -> None:
    """Others who could read the price book still can."""
    prices.refreshed()
    assert prices.file().stat().st_mode & 0o777 == 0o644

    prices.file().write_text(prices.file().read_text().replace(f"as_of = {today()}", "as_of = 2026-01-01"))
    prices.file().chmod(0o664)
    prices.refreshed()
    assert prices.file().stat().st_mode & 0o777 == 0o664


def test_what_would_be_no_price_file_is_not_written(tmp_path: Path) -> None:
    """Two rows of one day: the file stays as it was."""
    row = next(row for row in book() if row.id == "log_storage")
    path = add_rows(tmp_path, "us-east-1", [row])
    before = path.read_bytes()

    with pytest.raises(PriceListError, match=r"nothing was written: us-east-1\.toml: log_storage has two rows"):
        add_rows(tmp_path, "us-east-1", [row])
    assert path.read_bytes() == before
