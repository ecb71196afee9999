"""Keep the warden and its supervisors: each runs hooks for the agent, one after the other."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
WARDEN: Final = f"import sys; sys.path.append({str(_ROOT)!r}); from agent_image.hooks.warden import main; main()"
"""The warden's program. It is isolated, and so are its modules: nothing but the standard library is with them."""
IDLE: Final = 2
"""Supervisors that wait for the next hook at most; those of a burst go."""
ANSWER_SECONDS: Final = 10.0
"""What a supervisor has to say, it says within this time."""


class Supervisors:
    """Lend supervisors to threads. The warden starts with the first, and again when it has died."""

    def __init__(self, program: str = WARDEN, answer_seconds: float = ANSWER_SECONDS) -> None:
        """Take the warden's program, and how long an answer may take. Nothing starts yet."""
        self._program = program
        self._answer_seconds = answer_seconds
        self._lock = Lock()
        self._warden: subprocess.Popen[bytes] | None = None
        self._asks: socket.socket | None = None
        self._idle: list[socket.socket] = []
        self._lent: set[socket.socket] = set()
        self._open = True

    def lend(self) -> socket.socket:
        """Give the socket of a supervisor that nobody uses; `give_back` or `drop` takes it.

        Raises:
            OSError: there is none, and none can be started; or this is closed.
        """
        with self._lock:
            if not self._open:
                raise OSError
            if self._warden is None or self._warden.poll() is not None:
                self._start()
            control = self._waiting() or self._forked()
            self._lent.add(control)
            return control

    def give_back(self, control: socket.socket) -> None:
        """Take a supervisor back that has reported."""
        with self._lock:
            self._lent.discard(control)
            if self._open and len(self._idle) < IDLE:
                self._idle.append(control)
            else:
                control.close()

    def drop(self, control: socket.socket, *, trusted: bool = True) -> None:
        """Let go of a supervisor that is not to be used again.

        Args:
            control: its socket.
            trusted: False: it did what it must not, and the warden with all others goes, too.
        """
        with self._lock:
            self._lent.discard(control)
            control.close()
            if not trusted and self._warden is not None:
                self._warden.kill()

    def close(self) -> None:
        """End every hook that runs, and every process of this."""
        with self._lock:
            self._open = False
            for control in self._lent:
                with suppress(OSError):
                    control.shutdown(socket.SHUT_WR)
            self._leave()

    def _start(self) -> None:
        self._leave()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                # In a session of its own: what the agent's terminal signals is no affair of it.
                self._warden = subprocess.Popen(  # noqa: S603
                    [sys.executable, "-I", "-S", "-c", self._program],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={},
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                raise
        ours.settimeout(self._answer_seconds)
        self._asks = ours

    def _leave(self) -> None:
        """Close what leads to the warden, and wait for its end."""
        for control in self._idle:
            control.close()
        self._idle.clear()
        if self._asks is not None:
            self._asks.close()
            self._asks = None
        if self._warden is not None:
            try:
                self._warden.wait(self._answer_seconds)
            except subprocess.TimeoutExpired:
                self._warden.kill()
                self._warden.wait()
            self._warden = None

    def _waiting(self) -> socket.socket | None:
        while self._idle:
            control = self._idle.pop()
            poll = select.poll()
            poll.register(control, select.POLLIN)
            if not poll.poll(0):
                return control
            # One that waits says nothing: it has ended.
            control.close()
        return None

    def _forked(self) -> socket.socket:
        if self._asks is None:
            raise OSError
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._asks, [b"+"], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        ours.settimeout(self._answer_seconds)
        return ours
