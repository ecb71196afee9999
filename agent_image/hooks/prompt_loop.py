"""Run what waits for models on one event loop beside the server's: its thread is nobody's whom a model could hold up.

Some clients of models keep connections that belong to the loop that opened them: all of one process's hooks share one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock, Thread
from typing import Any, Final, TypeVar

T = TypeVar("T")

WAITING: Final = 32
"""Threads that may wait for a service: one that does not answer holds its own up, long after its hook was given up."""
_ENDING_SECONDS: Final = 5
"""How long the loop may take to end: what does not let itself be cancelled dies with the process."""


class HookLoop:
    """Hold the loop and its thread; they begin when they are needed. Usable from any thread."""

    def __init__(self) -> None:
        """Begin nothing yet."""
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin work in the caller's context: its trace and its session go with it."""
        with self._lock:
            return asyncio.run_coroutine_threadsafe(work, self._running())

    def close(self) -> None:
        """End the loop, and all that still runs on it; what is submitted later begins another."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None and thread.is_alive():
            loop.call_soon_threadsafe(loop.stop)
            thread.join(_ENDING_SECONDS)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._thread is None or not self._thread.is_alive():
            self._loop = asyncio.new_event_loop()
            self._loop.set_default_executor(ThreadPoolExecutor(WAITING, thread_name_prefix="hook"))
            self._thread = Thread(target=_serve, args=(self._loop,), name="hooks", daemon=True)
            self._thread.start()
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        # Not waiting for threads that wait for a service.
        loop.close()
