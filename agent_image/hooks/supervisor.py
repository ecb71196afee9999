"""Run the hooks that come over one socket, each to the last of its processes."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from agent_image.hooks.processes import Changes, end_all, reaped

LENGTH: Final = struct.Struct("!I")
"""Stands before each order: the bytes of its JSON."""
STREAMS: Final = 3
"""Descriptors that come with an order: standard input, output and error."""
_DEFAULT: Final = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
_READ: Final = 1 << 16


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


def received(source: socket.socket, size: int, count: int) -> tuple[bytes, list[int]]:
    """Receive bytes with descriptors, which no hook inherits; without bytes: the other end is closed."""
    data, descriptors, _, _ = socket.recv_fds(source, size, count)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - os takes it by position alone
    return data, descriptors
