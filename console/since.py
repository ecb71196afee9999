"""Read how far to look back: a length of time such as 2h, or a date."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

from console.errors import BadInputError
from console.terminal import shown_line

_UNITS: Final[Mapping[str, timedelta]] = MappingProxyType(
    {
        "s": timedelta(seconds=1),
        "min": timedelta(minutes=1),
        "h": timedelta(hours=1),
        "d": timedelta(days=1),
        "w": timedelta(weeks=1),
    }
)
_LENGTH: Final = re.compile(rf"([0-9]{{1,6}}) ?({'|'.join(_UNITS)})")
_ALLOWED: Final = (
    "a length of time such as 90min, 2h, 7d or 2w, or a date such as 2026-01-31 or 2026-01-31T09:30, in UTC"
)


def since_of(text: str | None, now: datetime) -> datetime | None:
    """Read it; None where nothing is said.

    Raises:
        BadInputError: it is neither, or a moment that is still to come.
    """
    if text is None:
        return None
    moment = _moment(text.strip(), now)
    if moment is None or moment > now:
        message = f"--since is '{shown_line(text)}'; allowed: {_ALLOWED}, and not in the future"
        raise BadInputError(message)
    return moment


def _moment(text: str, now: datetime) -> datetime | None:
    try:
        if (length := _LENGTH.fullmatch(text)) is not None:
            return now - int(length[1]) * _UNITS[length[2]]
        moment = datetime.fromisoformat(text)
    except (OverflowError, ValueError):
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
