"""Meter the archive: each distinct passage stored once, each returned one looked up among the known fingerprints."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.meters.meter import Meter
from cost_model.money import BYTES_PER_KB, DAYS_PER_MONTH, average_days_filling, gigabytes, product
from cost_model.scenario import Scenario

ASSUMED_MONTHS: Final = Decimal(12)
"""The month that stands for the others where nobody stated one: the archive grows for ever."""
ITEM_BYTES: Final = Decimal(160)
"""Bytes of one known-fingerprint item: key and state attributes (about 60), and DynamoDB's own 100 per item."""
READ_UNITS: Final = Decimal("0.5")
"""Read request units of one eventually consistent look-up of an item up to 4 KB, in a batch or alone."""


def _months(scenario: Scenario) -> Decimal:
    stated = scenario.workload.archive_months
    return ASSUMED_MONTHS if stated is None else stated


def _filling_months(scenario: Scenario) -> Decimal:
    return average_days_filling(_months(scenario) * DAYS_PER_MONTH) / DAYS_PER_MONTH


def _text_gb(scenario: Scenario) -> Decimal | None:
    return gigabytes(product(scenario.new_passages, scenario.workload.passage_kb))


def _item_gb(scenario: Scenario) -> Decimal | None:
    return gigabytes(product(scenario.new_passages, ITEM_BYTES / BYTES_PER_KB))


def _storage_assumptions(scenario: Scenario) -> tuple[str, ...]:
    assumed = [_month_words(scenario)]
    if scenario.new_passages != scenario.workload.distinct_passages:
        assumed.append("archive: no more distinct passages than sessions return; the stated number is larger")
    return tuple(assumed)


def _month_words(scenario: Scenario) -> str:
    months = _months(scenario)
    number = f"{months.normalize():f}"
    month = number if scenario.workload.archive_months is not None else f"{number} (assumed)"
    held = f"{number} month{'' if months == 1 else 's'} of distinct passages"
    return f"archive: nothing expires passages; priced in month {month}, when it holds {held}"


def _archives(scenario: Scenario) -> bool:
    return scenario.archives


ARCHIVE: Final = (
    Meter(
        key="archive_storage",
        label="Archive storage",
        price="s3_storage",
        quantity=lambda scenario: product(_text_gb(scenario), _months(scenario)),
        first_month=lambda scenario: product(_text_gb(scenario), _filling_months(scenario)),
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
        quantity=lambda scenario: product(_item_gb(scenario), _months(scenario)),
        first_month=lambda scenario: product(_item_gb(scenario), _filling_months(scenario)),
        applies=_archives,
        assumes=lambda _: (
            f"archive: a known fingerprint takes {ITEM_BYTES} bytes of table and stays as long as its text",
        ),
    ),
)
