"""Read values that nobody vouches for, as far as they are what is looked for: what is not is None or empty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

NANOSECONDS: Final = 1_000_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = int((datetime.max.replace(tzinfo=UTC) - _EPOCH).total_seconds()) * NANOSECONDS
_PLACES: Final = 40
"""Decimal exponents beyond which a number is none: written out, it would fill the memory."""
_BEYOND: Final = 10**40
_LONGEST: Final = 200
"""Characters beyond which a number is none."""
_TO_MILLISECONDS: Final = -6


def text(value: object) -> str:
    """Read a text; a whole number is one too, for ids that somebody wrote as numbers."""
    if type(value) is str:
        return value
    number = value if type(value) is int else None
    # More digits than Python writes are no id.
    return str(number) if number is not None and abs(number) < _BEYOND else ""


def whole(value: object) -> int | None:
    """Read a whole number, from a number or from its digits."""
    if type(value) is int:
        return value if abs(value) < _BEYOND else None
    number = amount(value)
    return int(number) if number is not None and number == number.to_integral_value() else None


def count(value: object) -> int | None:
    """Read a whole number from 0 on."""
    number = value if type(value) is int else whole(value)
    return number if number is not None and 0 <= number < _BEYOND else None


def amount(value: object) -> Decimal | None:
    """Read an amount, exactly; what is not finite or beyond all measure is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    if isinstance(value, int) and abs(value) >= _BEYOND:
        return None
    digits = value if isinstance(value, int) else str(value)
    if isinstance(digits, str) and len(digits) > _LONGEST:
        return None
    try:
        number = Decimal(digits)
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _PLACES else None


def measure(value: object) -> float | None:
    """Read a finite number that need not be exact."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    number = amount(value)
    return None if number is None else float(number)


def flag(value: object) -> bool | None:
    """Read a truth value."""
    return value if isinstance(value, bool) else None


def members(value: object) -> Mapping[str, Any]:
    """Read an object; what is none has no members."""
    return value if isinstance(value, dict) else {}


def moment(value: object) -> datetime | None:
    """Read a moment that is written in ISO 8601, in UTC where it names no zone."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def nanoseconds(value: object) -> int | None:
    """Read a time in nanoseconds since 1970, from a number, its digits, or ISO 8601."""
    number = value if type(value) is int else whole(value)
    if number is None and (read := moment(value)) is not None:
        number = nanoseconds_of(read)
    return number if number is not None and 0 < number < _LAST else None


def nanoseconds_of(read: datetime) -> int:
    """Count the nanoseconds since 1970."""
    return (read - _EPOCH) // timedelta(microseconds=1) * 1_000


def moment_of(nanosecond: int | None) -> datetime | None:
    """Give the moment of a time in nanoseconds, to the microsecond, in UTC."""
    if nanosecond is None or not 0 < nanosecond < _LAST:
        return None
    return _EPOCH + timedelta(microseconds=nanosecond // 1_000)


def milliseconds_between(start: int | None, end: int | None) -> Decimal | None:
    """Give the milliseconds between two times in nanoseconds, exactly; None where the end comes first."""
    return None if start is None or end is None or end < start else Decimal(end - start).scaleb(_TO_MILLISECONDS)
