"""Check the price book: what a row must hold, which one is in use, and that history stays."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from cost_model.errors import MissingPriceError, PriceRowError
from cost_model.prices import PriceBook, PriceRow, load_prices

ROW = """
[[rows]]
id = "log_storage"
service_code = "AmazonCloudWatch"
usage_type = "TimedStorage-ByteHrs"
name = "Log storage"
unit = "GB-month"
as_of = {as_of}
source = "{source}"
tiers = [{tiers}]
"""


def write(folder: Path, name: str = "xx-test-1", **fields: str) -> None:
    """Append one row to a Region's file."""
    values = {"as_of": "2026-01-01", "source": "a page", "tiers": '{ usd = "0.03" }', **fields}
    with (folder / f"{name}.toml").open("a", encoding="utf-8") as file:
        file.write(ROW.format(**values))


SHIPPED = {
    "us-east-1 span_ingestion 2026-08-30": "08dcab108d4b52ef",
    "us-east-1 log_ingestion 2025-10-28": "4c62cfbee9fadf36",
    "us-east-1 log_ingestion_infrequent_access 2025-10-28": "daf1f82eea26fdfa",
    "us-east-1 spans_indexed 2026-08-30": "10235088b69fe68f",
    "us-east-1 log_storage 2026-08-30": "b74b257354b1634b",
    "us-east-1 logs_insights_scan 2026-08-30": "b0307cb15cacc87b",
    "us-east-1 data_protection 2025-10-28": "90a8ce6dd219ec95",
    "us-east-1 s3_storage 2026-08-21": "8b5347ae6d29771e",
    "us-east-1 s3_put 2026-08-21": "1df24775119f260b",
    "us-east-1 dynamodb_read 2026-08-21": "0a12c3fa74dafe86",
    "us-east-1 dynamodb_write 2026-08-21": "bd010efd2f94d586",
    "us-east-1 dynamodb_storage 2026-08-21": "930ac2a02d2cb337",
    "us-east-1 vended_logs 2025-10-28": "0ade4a97b69151e4",
    "us-east-1 vended_logs_infrequent_access 2025-10-28": "8a25a85fa66d338e",
    "us-east-1 vended_logs_s3 2025-10-28": "c187a70c7602d5c0",
    "us-east-1 metrics 2025-10-28": "0f825e5c604a2635",
    "us-east-1 alarms 2025-10-28": "d556483fcfd29150",
    "us-east-1 alarms_high_resolution 2025-10-28": "104ecc6c74d789fa",
    "us-east-1 alarms_composite 2025-10-28": "5cd0c34dff3449b1",
    "us-east-1 dashboards 2026-08-21": "a2a1339c5619e56e",
    "us-east-1 live_tail 2025-10-28": "2e74a5a10857026d",
    "us-east-1 contributor_insights_events 2025-10-28": "b6354793ccc73744",
    "us-east-1 kms_key 2026-08-21": "e7a78f178e9f7a45",
    "us-east-1 kms_request 2026-08-21": "36b25372c2ab1025",
    "us-east-1 sns_publish 2026-08-21": "493a3c340ff7bd6a",
    "us-east-1 runtime_v1_vcpu 2026-09-15": "89350075355663ce",
    "us-east-1 runtime_v1_memory 2026-09-15": "8a62a5f81ba27944",
    "us-east-1 runtime_v2_vcpu 2026-09-15": "33de285c8a53a1cb",
    "us-east-1 runtime_v2_memory 2026-09-15": "5e5b3393670dc459",
}


def digest(row: PriceRow) -> str:
    """Return a short digest of everything a row says."""
    # Rows that nobody found in the Price List yet say as much as before one could.
    said = repr(row).replace(", listing=None)", ")")
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def test_shipped_rows_are_history(prices: PriceBook) -> None:
    """A row that was shipped once stays as it was."""
    found = {f"{row.region} {row.id} {row.as_of}": digest(row) for row in prices.rows}
    changed = [key for key, value in SHIPPED.items() if found.get(key) != value]
    unpinned = sorted(found.keys() - SHIPPED.keys())

    assert not changed, f"price rows are history: {changed} changed; append a dated row instead"
    assert not unpinned, f"pin the new rows here: { {key: found[key] for key in unpinned} }"


@pytest.mark.parametrize(
    ("row", "quantity", "usd"),
    [
        ("span_ingestion", "0", "0"),
        ("span_ingestion", "10240", "3584"),
        ("span_ingestion", "30720", "7680"),
        ("span_ingestion", "30721", "7680.15"),
        ("log_ingestion", "1", "0.50"),
        ("log_ingestion_infrequent_access", "1", "0.25"),
        ("spans_indexed", "1000000", "0.75"),
        ("log_storage", "1", "0.03"),
        ("logs_insights_scan", "1", "0.005"),
        ("data_protection", "1", "0.12"),
        ("s3_storage", "1", "0.023"),
        ("s3_put", "1000", "0.005"),
        ("dynamodb_read", "1000000", "0.125"),
        ("dynamodb_write", "1000000", "0.625"),
        ("dynamodb_storage", "1", "0.25"),
        ("vended_logs", "6", "3.00"),
        ("vended_logs_infrequent_access", "6", "1.50"),
        ("vended_logs_s3", "6", "1.50"),
        ("metrics", "10001", "3000.10"),
        ("alarms", "1", "0.10"),
        ("alarms_high_resolution", "1", "0.30"),
        ("alarms_composite", "1", "0.50"),
        ("dashboards", "1", "3"),
        ("live_tail", "1", "0.01"),
        ("contributor_insights_events", "1000000", "0.02"),
        ("sns_publish", "1000000", "0.50"),
        ("kms_key", "1", "1"),
        ("kms_request", "10000", "0.03"),
        ("runtime_v1_vcpu", "1", "0.0895"),
        ("runtime_v1_memory", "1", "0.00945"),
        ("runtime_v2_vcpu", "1", "0.1276"),
        ("runtime_v2_memory", "1", "0.0169"),
    ],
)
def test_rows_charge_what_their_page_says(prices: PriceBook, row: str, quantity: str, usd: str) -> None:
    """Each shipped row gives the published price for a round quantity."""
    assert prices.row("us-east-1", row).charge(Decimal(quantity)) == Decimal(usd)


def test_the_latest_row_is_in_use(tmp_path: Path) -> None:
    """A later row takes over, wherever in the file it stands."""
    write(tmp_path, as_of="2026-05-01", tiers='{ usd = "0.04" }')
    write(tmp_path, as_of="2026-01-01")

    assert load_prices(tmp_path).row("xx-test-1", "log_storage").charge(Decimal(1)) == Decimal("0.04")


def test_a_missing_price_names_the_regions_that_have_one(prices: PriceBook) -> None:
    """Neither a Region nor a row is guessed from another."""
    with pytest.raises(MissingPriceError, match=r"'eu-west-1'.*Regions that have one: us-east-1"):
        prices.require_region("eu-west-1")
    with pytest.raises(MissingPriceError, match=r"no price row 'nothing'.*Regions that have one: none"):
        prices.row("us-east-1", "nothing")


def test_a_row_without_source_date_or_unit_is_refused(tmp_path: Path) -> None:
    """All faults of all rows are listed with their place."""
    write(tmp_path, source="")
    write(tmp_path, as_of='"yesterday"')
    write(tmp_path, tiers='{ usd = "0.03", up_to = 5 }')
    write(tmp_path, tiers='{ usd = "0.03" }, { usd = "0.02" }')
    write(tmp_path, tiers="{ usd = 0.03 }")
    (tmp_path / "xx-test-2.toml").write_text('[[rows]]\nid = "x"\ncolour = 1\n', encoding="utf-8")
    with pytest.raises(PriceRowError) as refusal:
        load_prices(tmp_path)
    text = str(refusal.value)

    assert "xx-test-1.toml: rows[0]: source: missing" in text
    assert "xx-test-1.toml: rows[1]: as_of" in text
    assert text.count("every tier but the last needs a rising up_to") == 2
    assert "rows[4]: tiers: usd 0.03: needs a decimal string" in text
    assert "xx-test-2.toml: rows[0]: colour: unknown key" in text
    assert "xx-test-2.toml: rows[0]: unit: missing" in text


def test_two_rows_of_one_day_are_refused(tmp_path: Path) -> None:
    """Which of two would be in use could not be told."""
    write(tmp_path)
    write(tmp_path)

    with pytest.raises(PriceRowError, match="two rows of 2026-01-01"):
        load_prices(tmp_path)


def test_an_old_price_is_noted(prices: PriceBook) -> None:
    """A price warns once it is more than 180 days old, not before."""
    row = prices.row("us-east-1", "log_storage")

    assert row.age_note(row.as_of + timedelta(days=180)) is None
    assert "181 days ago; check it" in (row.age_note(row.as_of + timedelta(days=181)) or "")
    assert row.age_note(date(2020, 1, 1)) is None
