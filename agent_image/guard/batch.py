"""Keep what the calls of one message answered, until the message is answered as a whole: a restart repeats none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

from agent_image.guard.moments import Clock
from agent_image.guard.store import GuardStore

PART: Final = "batch"
_MESSAGE: Final = "message"
_STARTED: Final = "started"
RESULTS: Final = "results"
"""Under it lie the results of calls, each as a JSON text by its call's id."""
CHANGES: Final = "changes"
"""Under it lie the arguments that stages put in the place of calls' own, each as a JSON text by its call's id."""
ASKED: Final = "asked"
"""Under it lie the ids of the session's checkpoints whose calls stages changed: no message leads to them."""
_STEPS: Final = "steps"


class Batch:
    """Hold the started calls of one message and the results of those that ended, durably.

    Attributes:
        steps: how many steps the session had taken when the last of them was kept; its own record may be behind.
    """

    def __init__(self, store: GuardStore, session_id: str, clock: Clock) -> None:
        """Read what a run before left."""
        self._store = store
        self._session_id = session_id
        self._clock = clock
        self._lock = Lock()
        document, self._version = store.part(session_id, PART)
        self._message = str(document.get(_MESSAGE, ""))
        self._started = list(document.get(_STARTED, ()))
        self._results: dict[str, str] = dict(document.get(RESULTS, {}))
        self._changes: dict[str, str] = dict(document.get(CHANGES, {}))
        self._asked = list(document.get(ASKED, ()))
        self.steps = int(document.get(_STEPS, 0))

    def result(self, message: str, call_id: str) -> dict[str, Any] | None:
        """Give the result of a call that ended."""
        with self._lock:
            kept = self._results.get(call_id) if message == self._message else None
        return None if kept is None else json.loads(kept)

    def started(self, message: str, call_id: str) -> bool:
        """Tell whether a call began whose end nobody knows."""
        with self._lock:
            return message == self._message and call_id in self._started and call_id not in self._results

    def changed(self, message: str, call_id: str) -> dict[str, Any] | None:
        """Give the arguments that a stage put in the place of a call's own, if one did."""
        with self._lock:
            kept = self._changes.get(call_id) if message == self._message else None
        return None if kept is None else json.loads(kept)

    def change(self, message: str, call_id: str, arguments: Mapping[str, Any], steps: int) -> None:
        """Keep what a call runs with in the place of its own arguments: a later run must not begin another."""
        with self._lock:
            self._turn_to(message)
            self._changes[call_id] = json.dumps(arguments, ensure_ascii=False)
            self._put(steps)

    def ask(self, message: str, call_id: str, steps: int) -> None:
        """Keep that a checkpoint is opened for a call that a stage changed: whoever erases words finds it here."""
        with self._lock:
            if call_id not in self._asked:
                self._turn_to(message)
                self._asked.append(call_id)
                self._put(steps)

    def start(self, message: str, call_id: str, steps: int) -> None:
        """Note that a call begins."""
        with self._lock:
            self._turn_to(message)
            self._started.append(call_id)
            self._put(steps)

    def withdraw(self, message: str, call_id: str, steps: int) -> None:
        """Note that a call that was to begin has not."""
        with self._lock:
            self._turn_to(message)
            # One that a run before began stays in doubt.
            self._started.remove(call_id)
            self._put(steps)

    def record(self, message: str, call_id: str, result: Mapping[str, Any], steps: int) -> None:
        """Keep the result of a call, and with it the steps that the session has taken."""
        with self._lock:
            self._turn_to(message)
            self._results[call_id] = json.dumps(result, ensure_ascii=False)
            self._put(steps)

    def _turn_to(self, message: str) -> None:
        if message != self._message:
            self._message, self._started, self._results, self._changes = message, [], {}, {}

    def _put(self, steps: int) -> None:
        self.steps = max(self.steps, steps)
        document = {
            _MESSAGE: self._message,
            _STARTED: self._started,
            RESULTS: self._results,
            _STEPS: self.steps,
            **({CHANGES: self._changes} if self._changes else {}),
            **({ASKED: self._asked} if self._asked else {}),
        }
        self._version = self._store.put_part(self._session_id, PART, document, self._version, self._clock())
