"""Write into the audit what a person erases: that it begins before anything is touched, and what it came to.

Both events stand in the chain `erasure/<fingerprint>` and share their run. The first has the code `attempt`, the second
`done`, or `incomplete` where something is left that can be erased later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agent_image.contract import SCOPE, EventName, Field
from agent_image.guard.audit import AuditText, Sealed, erasure_chain, write_alone
from agent_image.guard.events import Event
from agent_image.guard.outlet import Outlet

ATTEMPT: Final = "attempt"
DONE: Final = "done"
INCOMPLETE: Final = "incomplete"
FINGERPRINT: Final = "fingerprint"
"""The evidence that names the passage; the others are counts."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """Hold who erases which passage, and why; `id` is the attempt's own, which its events have for a run."""

    id: str
    fingerprint: str
    who: str
    reason: str = ""


class Events:
    """Write the events of one person's command."""

    def __init__(self, outlet: Outlet, text: AuditText, new_id: Callable[[], str]) -> None:
        """Take where the audit lies, how its texts are written, and what makes ids."""
        self._outlet = outlet
        self._text = text
        self._new_id = new_id

    def begin(self, erasure: Erasure, counts: Mapping[str, int], now: datetime) -> Sealed:
        """Say that a passage is about to be erased, durably.

        Raises:
            AuditError: it cannot be said, so it must not be done.
        """
        return self._write(erasure, ATTEMPT, counts, now)

    def end(self, erasure: Erasure, counts: Mapping[str, int], now: datetime, *, done: bool) -> Sealed:
        """Say what it came to.

        Raises:
            AuditError: it cannot be said.
        """
        return self._write(erasure, DONE if done else INCOMPLETE, counts, now)

    def _write(self, erasure: Erasure, code: str, counts: Mapping[str, int], now: datetime) -> Sealed:
        fields = {
            Field.APPROVER: erasure.who,
            Field.REASON: erasure.reason or None,
            Field.CODE: code,
            Field.EVIDENCE: {FINGERPRINT: erasure.fingerprint, **counts},
        }
        event = Event(
            name=EventName.ERASURE,
            # A passage belongs to no session.
            session_id="",
            chain=erasure_chain(erasure.fingerprint),
            run=erasure.id,
            step=0,
            ts=now,
            seq=1,
            event_id=self._new_id(),
            agent=SCOPE,
            fields={field: value for field, value in fields.items() if value is not None},
        )
        return write_alone(self._outlet, event, self._text)
