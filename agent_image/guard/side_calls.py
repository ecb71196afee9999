"""Pay, out of a session's budget, for the models that hooks call: counted like any other call, and never asked for.

A hook is asked while the session's own work waits. It may pass the soft limits, for the next step of the session asks a
person then; a hard one refuses it, and what becomes of the hook's verdict is the hook's affair. The detectors look at
what the agent does, and see nothing of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from agent_image.guard.model_calls import Begun, amount_of, lost, noted, settled
from agent_image.guard.spending import Spending
from agent_image.guard.work import Work


class SessionCalls:
    """Account for the calls of models that hooks make in one run."""

    def __init__(self, work: Work, spending: Spending) -> None:
        """Take the run's bookkeeping and its account."""
        self._work = work
        self._spending = spending

    def begin(self, hook: str, model: str, projected_tokens: int | None, output_tokens: int | None) -> SessionCall:
        """Set aside what a call may cost; it is a step, as any other.

        Raises:
            AgentError: it would pass a hard limit (budget_limit), or cannot be kept; no model may be called.
        """
        work = self._work
        more, priced = amount_of(work, model, projected_tokens, output_tokens)
        reservation = self._spending.reserve_unasked(f"{work.run.id}#{work.guard.new_id()}", more)
        return SessionCall(work, self._spending, hook, Begun(model, reservation, work.guard.clock(), priced=priced))


class SessionCall:
    """Account for one call, once: a hook that was given up may still hear its model."""

    def __init__(self, work: Work, spending: Spending, hook: str, begun: Begun) -> None:
        """Take what began, and who began it."""
        self._work = work
        self._spending = spending
        self._hook = hook
        self._begun = begun
        self._lock = Lock()
        self._over = False

    def end(self, usage: Mapping[str, Any], stop_reason: str) -> None:
        """Spend what it used.

        Raises:
            AgentError: it cannot be kept.
        """
        if self._first():
            tokens, price = settled(self._work, self._spending, self._begun, usage)
            noted(self._work, self._begun, tokens, price, stop_reason=stop_reason, hook=self._hook)

    def fail(self, code: str) -> None:
        """Account for a call that failed: what was set aside stays spent.

        Raises:
            AgentError: it cannot be kept.
        """
        if self._first():
            lost(self._work, self._spending, self._begun, code, hook=self._hook)

    def _first(self) -> bool:
        with self._lock:
            first, self._over = not self._over, True
        return first
