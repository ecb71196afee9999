"""Say in which month a store is priced that nothing ever leaves."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from cost_model.money import DAYS_PER_MONTH, average_days_filling
from cost_model.scenario import Scenario

ASSUMED_MONTHS: Final = Decimal(12)
"""The month that stands for the others where nobody stated one: the archive and the audit grow for ever."""


def months(scenario: Scenario) -> Decimal:
    """Return the months of data that such a store holds when it is priced."""
    stated = scenario.workload.archive_months
    return ASSUMED_MONTHS if stated is None else stated


def filling_months(scenario: Scenario) -> Decimal:
    """Return the months of data that it holds on average in its first month."""
    return average_days_filling(months(scenario) * DAYS_PER_MONTH) / DAYS_PER_MONTH


def month_words(scenario: Scenario, store: str, what: str, held: str) -> str:
    """Say in words which month is priced."""
    number = f"{months(scenario).normalize():f}"
    month = number if scenario.workload.archive_months is not None else f"{number} (assumed)"
    plural = "" if months(scenario) == 1 else "s"
    return f"{store}: nothing expires {what}; priced in month {month}, when it holds {number} month{plural} of {held}"
