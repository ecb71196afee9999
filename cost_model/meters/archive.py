"""Meter the archive: each distinct passage stored once, each returned one looked up among the known fingerprints."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.growing import filling_months, month_words, months
from cost_model.meters.meter import Meter
from cost_model.money import BYTES_PER_KB, gigabytes, product
from cost_model.scenario import Scenario

ITEM_BYTES: Final = Decimal(160)
"""Bytes of one known-fingerprint item: key and state attributes (about 60), and DynamoDB's own 100 per item."""
READ_UNITS: Final = Decimal("0.5")
"""Read request units of one eventually consistent look-up of an item up to 4 KB, in a batch or alone."""


def _text_gb(scenario: Scenario) -> Decimal | None:
    return gigabytes(product(scenario.new_passages, scenario.workload.passage_kb))


def _item_gb(scenario: Scenario) -> Decimal | None:
    return gigabytes(product(scenario.new_passages, ITEM_BYTES / BYTES_PER_KB))


def _storage_assumptions(scenario: Scenario) -> tuple[str, ...]:
    assumed = [month_words(scenario, "archive", "passages", "distinct passages")]
    if scenario.new_passages != scenario.workload.distinct_passages:
        assumed.append("archive: no more distinct passages than sessions return; the stated number is larger")
    return tuple(assumed)


def _archives(scenario: Scenario) -> bool:
    return scenario.archives


ARCHIVE: Final = (
    Meter(
        key="archive_storage",
        label="Archive storage",
        price="s3_storage",
        quantity=lambda scenario: product(_text_gb(scenario), months(scenario)),
        first_month=lambda scenario: product(_text_gb(scenario), filling_months(scenario)),
        applies=_archives,
        assumes=_storage_assumptions,
    ),
    Meter(
        key="archive_requests",
        label="Archive PUT requests",
        price="s3_put",
        quantity=lambda scenario: scenario.new_passages,
        applies=_archives,
    ),
    Meter(
        key="archive_reads",
        label="Known-fingerprint reads",
        price="dynamodb_read",
        quantity=lambda scenario: product(scenario.passages, READ_UNITS),
        applies=_archives,
        assumes=lambda _: ("archive: each returned passage costs one eventually consistent read of a small item",),
    ),
    Meter(
        key="archive_writes",
        label="Known-fingerprint writes",
        price="dynamodb_write",
        quantity=lambda scenario: scenario.new_passages,
        applies=_archives,
    ),
    Meter(
        key="archive_table",
        label="Known-fingerprint storage",
        price="dynamodb_storage",
        quantity=lambda scenario: product(_item_gb(scenario), months(scenario)),
        first_month=lambda scenario: product(_item_gb(scenario), filling_months(scenario)),
        applies=_archives,
        assumes=lambda _: (
            f"archive: a known fingerprint takes {ITEM_BYTES} bytes of table and stays as long as its text",
        ),
    ),
)
