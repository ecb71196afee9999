"""Read what a person wants done, in English and in Portuguese, by the words alone.

Only a sentence that says nothing else is such a wish: a question about refunds is a question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_POLITE: Final = r"(?:(?:please|por favor)[\s,]+)?"
_ORDER: Final = r"#?(?P<order_id>[A-Za-z0-9][A-Za-z0-9-]{0,63})"
_AMOUNT: Final = r"(?:R\$\s*|BRL\s+)?(?P<amount>[0-9]{1,9}(?:[.,][0-9]{1,2})?)(?:\s+BRL)?"
_REFUNDS: Final = (
    rf"{_POLITE}refund\s+(?:the\s+)?order\s+{_ORDER}\s+by\s+{_AMOUNT}[\s.!]*",
    rf"{_POLITE}(?:estorn|reembols)(?:e|ar)\s+(?:o\s+)?pedido\s+{_ORDER}\s+em\s+{_AMOUNT}[\s.!]*",
)
_TICKETS: Final = (
    rf"{_POLITE}open\s+a\s+ticket\s+about\s+(?P<subject>.+)",
    rf"{_POLITE}abr(?:a|ir)\s+um\s+chamado\s+sobre\s+(?P<subject>.+)",
)


def refund(question: str) -> Mapping[str, object] | None:
    """Read the order and the amount of a refund: "refund order 5501 by 150", "estorne o pedido 5501 em R$ 150,50"."""
    found = _wish(_REFUNDS, question)
    if found is None:
        return None
    amount = float(found["amount"].replace(",", "."))
    return {"order_id": found["order_id"], "amount": int(amount) if amount.is_integer() else amount}


def ticket(question: str) -> Mapping[str, object] | None:
    """Read the subject of a ticket: "open a ticket about …", "abra um chamado sobre …"."""
    found = _wish(_TICKETS, question)
    return None if found is None else {"subject": " ".join(found["subject"].split())}


def _wish(forms: tuple[str, ...], question: str) -> Mapping[str, str] | None:
    matches = (re.fullmatch(form, question.strip(), re.IGNORECASE | re.DOTALL) for form in forms)
    return next((match.groupdict() for match in matches if match), None)
