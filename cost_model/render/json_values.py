"""Write values of a JSON document: amounts as decimal strings, and null where something depends on usage."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Final

from cost_model.render.figures import cents, plain

CURRENCY: Final = "USD"


def dumped(document: object) -> str:
    """Return a document as indented text."""
    # ASCII only: escapes keep control characters in names from a terminal.
    return json.dumps(document, indent=2) + "\n"


def cents_or_none(amount: Decimal | None) -> str | None:
    """Round an amount to cents."""
    return None if amount is None else cents(amount)


def plain_or_none(amount: Decimal | None) -> str | None:
    """Write a number unrounded."""
    return None if amount is None else plain(amount)
