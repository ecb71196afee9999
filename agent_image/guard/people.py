"""What people may do with the store: read what waits, and write decisions. They write nothing else."""

from __future__ import annotations

from agent_image.guard.checkpoint import Decision, Resolution
from agent_image.guard.codec import encode
from agent_image.guard.records import NEW
from agent_image.guard.store import Cases, decision_key, resolution_key


class PeopleStore(Cases):
    """Keep the people's side of the guard."""

    def decide(self, decision: Decision) -> None:
        """Write a decision, once.

        Raises:
            Conflict: somebody decided before.
        """
        self._records.put(decision_key(decision.checkpoint_id), encode(decision), expected=NEW)

    def resolve(self, resolution: Resolution) -> None:
        """Write what somebody found out about an action in doubt, once.

        Raises:
            Conflict: somebody did before.
        """
        self._records.put(resolution_key(resolution.checkpoint_id), encode(resolution), expected=NEW)
