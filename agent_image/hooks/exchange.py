"""Carry one hook's context in and its answer out, through a supervisor that ends all of it."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent_image.hooks.hook import HookFailed, HookFault
from agent_image.hooks.streams import Streams
from agent_image.hooks.supervisor import LENGTH
from agent_image.hooks.supervisors import Supervisors

OUT_LIMIT: Final = 1 << 20
"""Bytes of standard output; one more is a fault."""
ERR_LIMIT: Final = 1 << 16
"""Bytes of standard error that are kept."""
LOOK_SECONDS: Final = 0.1
"""Between two looks whether anybody still waits."""


@dataclass(frozen=True, slots=True)
class Order:
    """Hold what is to run: the program with its arguments, its whole environment, and the folder that it works in."""

    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: Path

    @property
    def encoded(self) -> bytes:
        """Give it as the warden reads it."""
        parts = {"arguments": self.arguments, "environment": self.environment, "folder": str(self.folder)}
        data = json.dumps(parts).encode()
        return LENGTH.pack(len(data)) + data


@dataclass(frozen=True, slots=True)
class Ended:
    """Hold how a hook ended.

    Attributes:
        status: as the kernel gives it to who waits; None where it was ended, or never ran.
        error: the name of what kept it from running; empty where it ran.
    """

    status: int | None
    error: str
    out: bytes
    err: bytes


def exchange(supervisors: Supervisors, order: Order, context: bytes, timeout: float, gone: Callable[[], bool]) -> Ended:
    """Run what is ordered, and come back when no process of it is left.

    Raises:
        HookFailed: TIMEOUT, OUTPUT or ABANDONED, and it was ended early; BROKEN, there was no supervisor, or it died.
    """
    ends_at = time.monotonic() + timeout
    _look(gone)
    # The pipes are closed last: a hook that is ended early must not see that nobody reads, and go on.
    with _streams(context) as streams, _supervisor(supervisors) as control:
        try:
            streams.send(control, order.encoded)
        except OSError:
            raise HookFailed(HookFault.BROKEN, "The hook's supervisor takes no orders.") from None
        return _followed(control, streams, ends_at, gone)


@contextmanager
def _streams(context: bytes) -> Iterator[Streams]:
    try:
        streams = Streams(context, OUT_LIMIT, ERR_LIMIT)
    except OSError:
        raise HookFailed(HookFault.BROKEN, "There are no descriptors left for a hook.") from None
    with closing(streams):
        yield streams


@contextmanager
def _supervisor(supervisors: Supervisors) -> Iterator[socket.socket]:
    """Lend a supervisor; unless it reported, it ends what it runs, and goes."""
    try:
        control = supervisors.lend()
    except OSError:
        raise HookFailed(HookFault.BROKEN, "No process can be started that looks after hooks.") from None
    try:
        yield control
    except BaseException:
        ended = _told_to_end(control)
        supervisors.drop(control, trusted=ended)
        if not ended:
            raise HookFailed(HookFault.BROKEN, "The hook's processes could not be ended in time.") from None
        raise
    supervisors.give_back(control)


def _told_to_end(control: socket.socket) -> bool:
    """Have a hook ended; False: nothing says that it was."""
    try:
        with suppress(OSError):
            control.shutdown(socket.SHUT_WR)
        # Whatever it still says, the end comes when all has ended.
        while control.recv(1 << 10):
            pass
    except ConnectionError:
        return True
    except OSError:
        return False
    return True


def _followed(control: socket.socket, streams: Streams, ends_at: float, gone: Callable[[], bool]) -> Ended:
    poll = select.poll()
    poll.register(control, select.POLLIN)
    streams.register(poll)
    look_at = time.monotonic() + LOOK_SECONDS
    while not streams.full():
        now = time.monotonic()
        if now >= ends_at:
            raise HookFailed(HookFault.TIMEOUT, "The hook took longer than its timeout.")
        if now >= look_at:
            look_at = now + LOOK_SECONDS
            _look(gone)
        ready = {number for number, _ in poll.poll(1_000 * (min(look_at, ends_at) - now))}
        streams.move(ready)
        if control.fileno() in ready:
            report = _report(control)
            streams.drain()
            if streams.full():
                break
            out, err = bytes(streams.out.kept), bytes(streams.err.kept)
            return Ended(report.get("status"), report.get("error", ""), out, err)
    raise HookFailed(HookFault.OUTPUT, f"The hook wrote more than {OUT_LIMIT:,} bytes to its standard output.")


def _look(gone: Callable[[], bool]) -> None:
    if gone():
        raise HookFailed(HookFault.ABANDONED, "Nobody waits for the hook any more.")


def _report(control: socket.socket) -> Mapping[str, Any]:
    data = b""
    try:
        while not data.endswith(b"\n"):
            part = control.recv(1 << 10)
            if not part:
                raise HookFailed(HookFault.BROKEN, "The hook's supervisor died.")
            data += part
    except OSError:
        raise HookFailed(HookFault.BROKEN, "The hook's supervisor died.") from None
    report: Mapping[str, Any] = json.loads(data)
    return report
