"""Deliver alerts behind the answers' back: nothing of it makes anybody wait, or fails a run."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Condition, Thread
from typing import Final

from opentelemetry.instrumentation.utils import suppress_instrumentation

from agent_image.errors import AgentError
from agent_image.guard.alerts import Channel
from agent_image.guard.outbox import Outbox
from agent_image.notice import notice

ROUND: Final = 20
"""Alerts that one round delivers at most."""


class Courier:
    """Deliver what is due when a run has ended, or in a sweep: one worker, and one more round at most that waits."""

    def __init__(self, outbox: Outbox, channels: Sequence[Channel], *, limit: int = ROUND) -> None:
        """Take the outbox, the channels, and how many alerts one round takes. Starts the worker."""
        self._outbox = outbox
        self._channels = tuple(channels)
        self._limit = limit
        self._changed = Condition()
        self._asked = False
        self._working = False
        self._open = True
        self._worker = Thread(target=self._work, name="courier", daemon=True)
        self._worker.start()

    def call(self) -> None:
        """Ask for a round, and come back at once."""
        with self._changed:
            self._asked = self._open
            self._changed.notify_all()

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until every round asked for is over; False if that takes too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._asked and not self._working, timeout_seconds)

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Flush, and end the worker; what was not delivered stays in the outbox."""
        self.flush(timeout_seconds)
        with self._changed:
            self._open = self._asked = False
            self._changed.notify_all()
        self._worker.join(timeout_seconds)

    def _work(self) -> None:
        # The trail holds what the agent did for an answer. Spans of a delivery would belong to no session.
        with suppress_instrumentation():
            while self._next():
                self._round()
                with self._changed:
                    self._working = False
                    self._changed.notify_all()

    def _next(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._asked or not self._open)
            self._working, self._asked = self._asked, False
            return self._working

    def _round(self) -> None:
        try:
            self._outbox.deliver(self._channels, self._limit)
        except Exception as error:  # noqa: BLE001 - whatever a store raises, the next round tries again
            reason = error.code if isinstance(error, AgentError) else type(error).__name__
            notice("alerts_not_delivered", reason=reason)
