"""Hold the arithmetic that every meter shares; nothing here rounds."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

# This pair of units is the one under which the published figures come out; see the goldens in tests/cost_model.
BYTES_PER_KB: Final = Decimal(1024)
BYTES_PER_GB: Final = Decimal(2**30)
DAYS_PER_MONTH: Final = Decimal(30)

_ZERO: Final = Decimal(0)


def gigabytes(kilobytes: Decimal | None) -> Decimal | None:
    """Convert KB of 1,024 bytes into GB of 2^30 bytes."""
    return None if kilobytes is None else kilobytes * BYTES_PER_KB / BYTES_PER_GB


def product(*factors: Decimal | None) -> Decimal | None:
    """Multiply; an unknown factor makes the product unknown, unless another is 0 and settles it."""
    if _ZERO in factors:
        return _ZERO
    result = Decimal(1)
    for factor in factors:
        if factor is None:
            return None
        result *= factor
    return result


def known_sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Add up the known amounts; None where none is known, for a sum of nothing would read as free."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, _ZERO) if known else None


def average_days_filling(kept_days: Decimal | None) -> Decimal:
    """Average, over the first month, the days of data in a store that starts empty and keeps `kept_days`.

    It holds t days on day t until it holds all it keeps. None keeps for ever.
    """
    if kept_days is None or kept_days > DAYS_PER_MONTH:
        return DAYS_PER_MONTH / 2
    return kept_days - kept_days**2 / (2 * DAYS_PER_MONTH)
