"""Look after the processes below this one: adopt them, see them end, end them."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_LINUX: Final = sys.platform == "linux"
_SET_CHILD_SUBREAPER: Final = 36
_SET_NO_NEW_PRIVS: Final = 38
_PAUSE_SECONDS: Final = 0.001
_READ: Final = 1 << 16


class Changes:
    """Wake up when a child ends or stops."""

    def __init__(self) -> None:
        """Ask the system to tell."""
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)
        signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def wait(self, other: socket.socket | None) -> bool:
        """Wait until a child has changed, or a socket can be read: tell whether the socket can."""
        poll = select.poll()
        poll.register(self._reads, select.POLLIN)
        if other is not None:
            poll.register(other, select.POLLIN)
        ready = {number for number, _ in poll.poll()}
        if self._reads in ready:
            with suppress(BlockingIOError):
                while os.read(self._reads, _READ):
                    pass
        return other is not None and other.fileno() in ready

    def close(self) -> None:
        """Be told no more."""
        signal.set_wakeup_fd(-1)
        os.close(self._reads)
        os.close(self._writes)


def reaped(options: int = 0) -> Iterator[tuple[int, int]]:
    """Give the children that have ended, with their wait status, until none that has is left."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG | options)
            if not pid:
                return
            yield pid, status


def end_all(hook: int) -> None:
    """End every process below this one, and come back when there is none."""
    if not _LINUX:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(hook, signal.SIGKILL)
    frozen = False
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            # None is left, and what a process leaves becomes ours before it can be waited for: this is the proof.
            return
        if not frozen:
            freeze(children)
            frozen = True
        for child in children():
            end(child)
        time.sleep(_PAUSE_SECONDS)


def freeze(roots: Callable[[], Iterable[int]]) -> None:
    """Stop these children of this process and all that is below them: who is stopped starts no others.

    Killed one by one, they would free places under a limit of processes, in which those that are left fork.
    """
    stopped: set[int] = set()
    before = -1
    while len(stopped) > before:
        before, below = len(stopped), set(roots())
        # A parent's number is lower than its child's, until numbers begin anew: then the next look finds it.
        for pid in _processes():
            if pid in below or _parent(pid) in below:
                below.add(pid)
                if pid not in stopped:
                    stopped.add(pid)
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGSTOP)


def end(child: int) -> None:
    """Kill a child and its process group, which the kernel does in one go, even while they fork.

    A child that has not been waited for keeps its number, and it is in a session that a hook began: no process group in
    there is anybody else's.
    """
    with suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(child)
        os.kill(child, signal.SIGKILL)
        if group != os.getpgrp():
            os.killpg(group, signal.SIGKILL)


def children() -> list[int]:
    """List this process's children; some may be missing while others end, and a later look finds them."""
    if not _LINUX:
        return []
    try:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except FileNotFoundError:
        # A kernel that was built without it.
        return searched()
    return [int(child) for child in listed.split()]


def searched() -> list[int]:
    """List this process's children by looking at all processes there are."""
    return [pid for pid in _processes() if _parent(pid) == os.getpid()]


def _processes() -> list[int]:
    return sorted(int(found.name) for found in Path("/proc").glob("[0-9]*")) if _LINUX else []


def _parent(pid: int) -> int:
    try:
        # "pid (name) state parent ...", and a name may hold anything.
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def adopt() -> None:
    """Adopt what loses its parent below, and let nothing below become another user.

    Raises:
        OSError: the kernel refuses. Then no hook runs.
    """
    if _LINUX:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        for option in (_SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS):
            if prctl(option, *(ctypes.c_ulong(value) for value in (1, 0, 0, 0))):
                raise OSError(ctypes.get_errno(), "prctl")
