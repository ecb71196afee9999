"""Let the model pay an order back: money leaves, and nothing brings it home again."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from strands import tool

from agent_image.contract import Zone
from agent_image.guard.claim import claim_of
from agent_image.guard.rules import Rule
from agent_image.tools.ledger import Ledger
from agent_image.tools.zoned import ZonedTool

REFUND_ORDER: Final = "refund_order"
CURRENCY: Final = "BRL"
LARGE: Final = Decimal(500)
"""Above it, an amount is a reason of its own to ask."""
LARGEST: Final = Decimal(1_000_000)
"""The largest amount that one refund pays."""
_CENT: Final = Decimal("0.01")
_ORDER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_SCHEMA: Final = {
    "json": {
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "The order's number."},
            "amount": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": int(LARGEST),
                "description": f"How much to pay back, in {CURRENCY}: two decimal places at most.",
            },
        },
        "required": ["order_id", "amount"],
        "additionalProperties": False,
    }
}


def refund_order(ledger: Ledger) -> ZonedTool:
    """Build the tool over a ledger; it is red, and whoever approves it is told where the amount is large."""

    @tool(name=REFUND_ORDER, inputSchema=_SCHEMA)
    def refund(order_id: Any, amount: Any) -> dict[str, Any]:  # noqa: ANN401 - checked here, so that no digit changes
        """Pay an order back to its customer, once. Returns the number of the refund."""
        paid = amount_of(amount)
        if paid is None or not isinstance(order_id, str) or _ORDER.fullmatch(order_id) is None:
            message = f"An order's number has letters and digits; an amount is above 0, up to {LARGEST:,}, in cents."
            return {"status": "error", "content": [{"text": message}]}
        claim = claim_of(REFUND_ORDER)
        facts = {"order_id": order_id, "amount": str(paid), "currency": CURRENCY}
        entry = ledger.book("refund", claim.key, claim.fence, claim.session_id, **facts)
        text = f"Refund {entry['number']}: {paid} {CURRENCY} go back for order {order_id}."
        return {"status": "success", "content": [{"text": text}]}

    large = Rule("amount", over=LARGE)
    return ZonedTool(refund, Zone.RED, red_when=(large,), idempotent=True, fence=ledger.fence)


def amount_of(value: object) -> Decimal | None:
    """Read an amount as JSON holds it; None unless it is a number above 0, with two decimal places at most."""
    if not isinstance(value, int | float | Decimal):
        return None
    try:
        # The shortest text of a float is the number that somebody wrote; that of a truth value is none.
        amount = Decimal(str(value)).normalize()
        paid = amount.quantize(_CENT)
    except (InvalidOperation, ValueError):
        return None
    return paid if paid == amount and 0 < paid <= LARGEST else None
