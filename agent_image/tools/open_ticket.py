"""Let the model open a ticket for the people of the shop."""

from __future__ import annotations

from typing import Any, Final

from strands import tool

from agent_image.contract import Zone
from agent_image.guard.claim import claim_of
from agent_image.tools.ledger import Ledger
from agent_image.tools.zoned import ZonedTool

OPEN_TICKET: Final = "open_ticket"
SUBJECT_LIMIT: Final = 200
DETAIL_LIMIT: Final = 4_000
"""Characters that a ticket takes."""


def open_ticket(ledger: Ledger) -> ZonedTool:
    """Build the tool over a ledger; a ticket can be closed again, so it is yellow."""

    @tool(name=OPEN_TICKET)
    def ticket(subject: str, detail: str = "") -> dict[str, Any]:
        """Open a ticket, so that a person looks into a matter. Returns its number.

        Args:
            subject: What it is about, in one line.
            detail: What the person should know.
        """
        subject, detail = subject.strip(), detail.strip()
        if not 0 < len(subject) <= SUBJECT_LIMIT or len(detail) > DETAIL_LIMIT:
            message = f"A subject has 1 to {SUBJECT_LIMIT} characters, a detail {DETAIL_LIMIT:,} at most."
            return {"status": "error", "content": [{"text": message}]}
        claim = claim_of(OPEN_TICKET)
        entry = ledger.book("ticket", claim.key, claim.fence, claim.session_id, subject=subject, detail=detail)
        return {"status": "success", "content": [{"text": f"Ticket {entry['number']} is open."}]}

    return ZonedTool(ticket, Zone.YELLOW, idempotent=True, fence=ledger.fence)
