"""Say what a query will read and cost, before it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold what is about to be read.

    Attributes:
        what: what it is read for, as a phrase.
        window: from and until when, in UTC.
        indexed: an index leads to the lines; otherwise all that the window holds is read.
        bytes: what is read at most; None where nobody knows.
        cost_usd: what that costs; None where nobody knows.
    """

    what: str
    window: tuple[datetime, datetime]
    indexed: bool
    bytes: int | None
    cost_usd: Decimal | None


Confirm = Callable[[Plan], bool]
"""Ask whether to go on."""
