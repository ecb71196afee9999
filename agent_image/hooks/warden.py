"""Run hooks so that nothing of them outlives them: the processes that stand between the agent and its hooks.

The agent starts this file as a program of its own, `python -I -S warden.py` with a socket as its standard input; it
needs the standard library alone. The warden forks a supervisor for each socket that it is sent, and a supervisor runs
hooks, one after the other. On Linux all of them adopt what loses its parent. So whatever a hook starts, in whatever
session and environment, stays below its supervisor until it has ended: a supervisor that has no child left has proved
that nothing is. Elsewhere a hook's process group is what ends with it.

A hook ends when its first process does, when the agent says so, or when the agent dies. Where a hook kills its
supervisor, the warden adopts what that leaves, and ends it before it lets go of the supervisor's socket.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

LENGTH: Final = struct.Struct("!I")
"""Stands before each order: the bytes of its JSON."""
STREAMS: Final = 3
"""Descriptors that come with an order: standard input, output and error."""
_LINUX: Final = sys.platform == "linux"
_SET_CHILD_SUBREAPER: Final = 36
_SET_NO_NEW_PRIVS: Final = 38
_IGNORED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
_DEFAULT: Final = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
_PAUSE_SECONDS: Final = 0.001
_READ: Final = 1 << 16


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
    _adopt()
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
            _adopt()
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


class Supervisor:
    """Run the hooks that come over one socket, each to the last of its processes."""

    def __init__(self, control: socket.socket) -> None:
        """Take the socket."""
        self._control = control
        self._changes = Changes()

    def serve(self) -> None:
        """Serve until the agent ends a hook early, closes the socket or dies."""
        with suppress(OSError):
            while order := self._order():
                report = self._run(*order)
                self._control.sendall(json.dumps(report).encode() + b"\n")

    def _order(self) -> tuple[dict[str, Any], Sequence[int]] | None:
        data, streams = received(self._control, _READ, STREAMS)
        if len(data) < LENGTH.size or len(streams) < STREAMS:
            return None
        (length,) = LENGTH.unpack_from(data)
        parts, missing = [data[LENGTH.size :]], length + LENGTH.size - len(data)
        while missing:
            part = self._control.recv(min(missing, _READ))
            if not part:
                return None
            parts.append(part)
            missing -= len(part)
        order: dict[str, Any] = json.loads(b"".join(parts))
        return order, streams

    def _run(self, order: dict[str, Any], streams: Sequence[int]) -> dict[str, Any]:
        """Run one hook: give its wait status, None where the agent ended it; or what kept it from running."""
        arguments = order["arguments"]
        try:
            try:
                os.chdir(order["folder"])
            except OSError:
                return {"error": "folder"}
            hook = os.posix_spawn(
                arguments[0],
                arguments,
                order["environment"],
                file_actions=[(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)],
                setsid=True,
                setsigmask=(),
                setsigdef=_DEFAULT,
            )
        except OSError as error:
            return {"error": errno.errorcode.get(error.errno or 0, "")}
        finally:
            os.chdir("/")
            for stream in streams:
                os.close(stream)
        status = self._watch(hook)
        end_all(hook)
        return {"status": status}

    def _watch(self, hook: int) -> int | None:
        while True:
            ended = dict(reaped())
            if hook in ended:
                return ended[hook]
            if self._changes.wait(self._control):
                # Nothing is ever said while a hook runs, but that it is to end.
                return None


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


def received(source: socket.socket, size: int, count: int) -> tuple[bytes, list[int]]:
    """Receive bytes with descriptors, which no hook inherits; without bytes: the other end is closed."""
    data, descriptors, _, _ = socket.recv_fds(source, size, count)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - os takes it by position alone
    return data, descriptors


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


def _adopt() -> None:
    """Adopt what loses its parent below, and let nothing below become another user.

    Raises:
        OSError: the kernel refuses. Then no hook runs.
    """
    if _LINUX:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        for option in (_SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS):
            if prctl(option, *(ctypes.c_ulong(value) for value in (1, 0, 0, 0))):
                raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    main()
