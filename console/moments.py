"""Tell the time, and how long something lasts, as a person reads it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

_MILLISECOND: Final = 1_000
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def now() -> datetime:
    """Tell the time, in UTC, to the millisecond: what is written is what was compared."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // _MILLISECOND * _MILLISECOND)


def lasting(time: timedelta) -> str:
    """Write a length of time in its two largest units: 3 h 59 min. What has not come to a second is 0 s."""
    return lasting_seconds(int(time.total_seconds()))


def lasting_seconds(seconds: int | Decimal) -> str:
    """Write a number of seconds the same way."""
    left = max(0, int(seconds))
    parts: list[str] = []
    for unit, length in _UNITS:
        count, left = divmod(left, length)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
    return " ".join(filter(None, parts[:2])) or "0 s"
