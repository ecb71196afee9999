"""Hold a session while a run works on it: one owner at a time, whose token outdoes those before."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from types import TracebackType
from typing import Final, Self

from agent_image.errors import BUSY, AgentError
from agent_image.guard.moments import Clock
from agent_image.guard.records import Conflict
from agent_image.guard.session import Session
from agent_image.guard.store import GuardStore

BEATS_PER_LEASE: Final = 3
_TRIES: Final = 3


class LeaseLost(AgentError):  # noqa: N818 - it names what happened
    """Say that another run took the session over: this one must write nothing more."""

    def __init__(self) -> None:
        """Take the one code."""
        super().__init__("lease_lost", "Another invocation took this session over; this one ended without an answer.")


class Lease:
    """Own a session: every write of its control state goes through here, and only while it is owned."""

    def __init__(self, store: GuardStore, session_id: str, owner: str, clock: Clock, length: timedelta) -> None:
        """Take the session.

        Raises:
            AgentError: another run works on it (BUSY).
            StoreUnavailable: the store did not answer.
        """
        self._store = store
        self._clock = clock
        self._length = length
        self._lock = threading.RLock()
        self._lost = False
        now = clock()
        found = store.session(session_id)
        if found.session.leased(now):
            raise _busy()
        self.recovered = bool(found.session.budget.reserved) or found.session.owner is not None
        try:
            self._held = store.put_session(found.session.taken(owner, now, length), found.version, now)
        except Conflict:
            raise _busy() from None

    @property
    def session(self) -> Session:
        """Give the session as this run left it."""
        return self._held.session

    @property
    def fence(self) -> int:
        """Give the token of this lease."""
        return self._held.session.fence

    def update(self, change: Callable[[Session], Session]) -> Session:
        """Write the session anew, and keep the lease.

        Raises:
            LeaseLost: another run has it.
            StoreUnavailable: the store did not answer.
        """
        with self._lock:
            if self._lost:
                raise LeaseLost
            now = self._clock()
            changed = change(self._held.session).renewed(now, self._length)
            return self._put(changed)

    def note(self, change: Callable[[Session], Session]) -> None:
        """Change the session in this process; its next write keeps that. One whose lease may be over is written now.

        Raises:
            LeaseLost: another run has it.
            StoreUnavailable: the store did not answer.
        """
        with self._lock:
            if self._lost or not self._held.session.leased(self._clock()):
                self.update(change)
            else:
                self._held = replace(self._held, session=change(self._held.session))

    def release(self, change: Callable[[Session], Session]) -> None:
        """Write the session a last time, and let it go.

        Raises:
            LeaseLost: another run has it.
            StoreUnavailable: the store did not answer.
        """
        with self._lock:
            if self._lost:
                raise LeaseLost
            self._put(change(self._held.session).released())
            # Nothing of this run may write once another can begin.
            self._lost = True

    def _put(self, session: Session) -> Session:
        for _ in range(_TRIES):
            try:
                self._held = self._store.put_session(session, self._held.version, self._clock())
            except Conflict:
                self._held = replace(self._held, version=self._still_ours())
            else:
                return session
        raise self._lose()

    def _still_ours(self) -> int:
        """Read the session's version again: a write of ours may have been kept whose answer was lost.

        Raises:
            LeaseLost: another run has it.
        """
        found = self._store.session(self._held.session.id)
        held = self._held.session
        if (found.session.owner, found.session.fence) != (held.owner, held.fence):
            raise self._lose()
        return found.version

    def _lose(self) -> LeaseLost:
        self._lost = True
        return LeaseLost()


class Heartbeat:
    """Keep a lease while a tool or a model takes its time: a process that stands still does not."""

    def __init__(self, lease: Lease, length: timedelta) -> None:
        """Take the lease and its length."""
        self._lease = lease
        self._pause = length.total_seconds() / BEATS_PER_LEASE
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="lease", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        self._ended.set()

    def _beat(self) -> None:
        while not self._ended.wait(self._pause):
            try:
                self._lease.update(lambda session: session)
            except LeaseLost:
                return
            except AgentError:
                # The next beat, or the next write, finds out whether the store is back.
                continue


def _busy() -> AgentError:
    return AgentError(BUSY, "This session is answering already: wait for that answer.")
