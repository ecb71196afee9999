"""Keep each distinct passage once, behind the answer's back: nothing of it makes anybody wait, or fails an answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from threading import Condition, Thread
from typing import Final

from opentelemetry.instrumentation.utils import suppress_instrumentation

from agent_image.errors import AgentError
from agent_image.notice import notice
from agent_image.retrieval.passage import Passage
from agent_image.retrieval.store import PassageStore

CAPACITY: Final = 1_000
"""Passages that may wait to be kept, over all sessions of a process."""
QUEUE_FULL: Final = "queue_full"
CLOSED: Final = "closed"
_SHOWN: Final = 8
"""Fingerprints that one notice names: a fact holds at most 256 characters."""


class NoArchive:
    """Keep nothing: the other regimes leave passages where they are."""

    def keep(self, passages: Sequence[Passage]) -> None:
        """Leave them."""

    def take_lost(self) -> int:
        """Say that nothing was lost."""
        return 0

    def flush(self, timeout_seconds: float) -> bool:
        """Have nothing to wait for."""
        return timeout_seconds >= 0

    def close(self, timeout_seconds: float = 0) -> None:
        """Have nothing to end."""


class Archive:
    """Hand passages to a store, one worker behind a bounded queue.

    What the process has seen stored or erased is not asked for again; the rest of a retrieval is one read.
    """

    def __init__(self, store: PassageStore, *, capacity: int = CAPACITY) -> None:
        """Take the store, and how many passages may wait. Starts the worker."""
        self._store = store
        self._capacity = capacity
        self._changed = Condition()
        self._queue: deque[Mapping[str, Passage]] = deque()
        self._waiting = 0  # passages in the queue and in the worker's hands
        self._lost = 0
        self._open = True
        self._seen: set[str] = set()  # 24 characters for each distinct passage that this process meets
        self._worker = Thread(target=self._work, name="archive", daemon=True)
        self._worker.start()

    def keep(self, passages: Sequence[Passage]) -> None:
        """Take the passages of one retrieval and come back at once; what cannot be taken is counted as lost."""
        texts = {passage.fingerprint.text: passage for passage in passages if passage.fingerprint.length}
        if not texts:
            return
        with self._changed:
            reason = None if self._open else CLOSED
            if reason is None and self._waiting + len(texts) > self._capacity:
                reason = QUEUE_FULL
            if reason is None:
                self._queue.append(texts)
                self._waiting += len(texts)
                self._changed.notify_all()
        if reason is not None:
            self._lose(list(texts), reason)

    def take_lost(self) -> int:
        """Give the number of passages lost since the last call."""
        with self._changed:
            lost, self._lost = self._lost, 0
        return lost

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until all passages taken so far are kept or lost; False if that takes too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, timeout_seconds)

    def close(self, timeout_seconds: float = 5.0) -> None:
        """Flush, take nothing more, and end the worker; what still waits is lost."""
        self.flush(timeout_seconds)
        with self._changed:
            self._open = False
            left = [text for texts in self._queue for text in texts]
            self._queue.clear()
            self._waiting -= len(left)
            self._changed.notify_all()
        if left:
            self._lose(left, CLOSED)
        self._worker.join(timeout_seconds)

    def _work(self) -> None:
        # The trail holds what the agent did for an answer. Spans of the archive's own calls would belong to no session.
        with suppress_instrumentation():
            while (texts := self._next()) is not None:
                self._keep_new(texts)
                with self._changed:
                    self._waiting -= len(texts)
                    self._changed.notify_all()

    def _next(self) -> Mapping[str, Passage] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or not self._open)
            return self._queue.popleft() if self._queue else None

    def _keep_new(self, texts: Mapping[str, Passage]) -> None:
        unseen = [text for text in texts if text not in self._seen]
        if not unseen:
            return
        try:
            self._seen.update(self._store.known(unseen))
        except Exception as error:  # noqa: BLE001 - whatever a store raises, answers go on and the loss is counted
            self._lose(unseen, _reason(error))
            return
        for text in unseen:
            if text in self._seen:
                continue
            try:
                # As it was retrieved: normalised again, it gives the same fingerprint.
                self._store.put(text, texts[text].text.encode("utf-8", "replace"))
            except Exception as error:  # noqa: BLE001 - as above: the loss is counted
                self._lose([text], _reason(error))
            else:
                self._seen.add(text)

    def _lose(self, texts: Sequence[str], reason: str) -> None:
        with self._changed:
            self._lost += len(texts)
        notice("archive_lost", count=len(texts), reason=reason, first="/".join(texts[:_SHOWN]))


def _reason(error: Exception) -> str:
    return error.code if isinstance(error, AgentError) else type(error).__name__
