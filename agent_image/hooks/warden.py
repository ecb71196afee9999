"""Run hooks so that nothing of them outlives them: the processes that stand between the agent and its hooks.

The agent starts the warden as a program of its own with a socket as its standard input; it and what it imports need the
standard library alone. The warden forks a supervisor for each socket that it is sent, and a supervisor runs
hooks, one after the other. On Linux all of them adopt what loses its parent. So whatever a hook starts, in whatever
session and environment, stays below its supervisor until it has ended: a supervisor that has no child left has proved
that nothing is. Elsewhere a hook's process group is what ends with it.

A hook ends when its first process does, when the agent says so, or when the agent dies. Where a hook kills its
supervisor, the warden adopts what that leaves, and ends it before it lets go of the supervisor's socket.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import time
from typing import Final

from agent_image.hooks.processes import Changes, adopt, children, end, freeze, reaped
from agent_image.hooks.supervisor import STREAMS, Supervisor, received

_IGNORED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
_PAUSE_SECONDS: Final = 0.001


def main() -> None:
    """Serve the agent until it closes its socket, or dies."""
    # Descriptors 0 to 2 lead nowhere: none that comes later may have these numbers, and nothing is to be said.
    agent = socket.socket(fileno=os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(STREAMS):
        os.dup2(nowhere, stream)
    os.chdir("/")
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    adopt()
    Warden(agent).serve()


class Warden:
    """Fork supervisors, and end what they leave behind when they are killed."""

    def __init__(self, agent: socket.socket) -> None:
        """Take the agent's socket."""
        self._agent = agent
        self._changes = Changes()
        self._supervisors: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Serve until the agent has gone and every supervisor has ended."""
        open_ = True
        while open_ or self._supervisors:
            ready = self._changes.wait(self._agent if open_ else None)
            self._look_after()
            if ready and open_:
                open_ = self._start()

    def _start(self) -> bool:
        """Fork a supervisor for the socket that the agent sends; False: the agent has gone."""
        data, (*descriptors,) = received(self._agent, 1, 1)
        if not data or not descriptors:
            return False
        control = socket.socket(fileno=descriptors[0])
        try:
            pid = os.fork()
        except OSError:
            # The agent sees the end of its socket.
            control.close()
            return True
        if not pid:
            self._become_supervisor(control)
        # Held until the supervisor and what it left have ended: the agent sees the end of it no earlier.
        self._supervisors[pid] = control
        return True

    def _become_supervisor(self, control: socket.socket) -> None:
        status = 1
        try:
            self._changes.close()
            for held in (self._agent, *self._supervisors.values()):
                held.close()
            adopt()
            Supervisor(control).serve()
            status = 0
        finally:
            # Never into the warden's own stack.
            os._exit(status)

    def _look_after(self) -> None:
        over = []
        for pid, status in reaped(os.WUNTRACED):
            if os.WIFSTOPPED(status):
                # A supervisor that a hook keeps from its work. It is ours and unreaped, so the number is its own.
                os.kill(pid, signal.SIGKILL)
            elif pid in self._supervisors:
                over.append(self._supervisors.pop(pid))
        if self._strays():
            freeze(self._strays)
        while strays := self._strays():
            for stray in strays:
                end(stray)
            over += [self._supervisors.pop(pid) for pid, _ in reaped() if pid in self._supervisors]
            time.sleep(_PAUSE_SECONDS)
        for control in over:
            control.close()

    def _strays(self) -> list[int]:
        return [child for child in children() if child not in self._supervisors]
