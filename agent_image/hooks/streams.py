"""Carry bytes between the agent and a hook: three pipes, none of which makes anybody wait."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Collection
from typing import Final

from agent_image.hooks.output import Output

_AT_ONCE: Final = 1 << 16


class Streams:
    """Hold three pipes: what a hook reads, what it writes, and what it says beside."""

    def __init__(self, context: bytes, out_limit: int, err_limit: int) -> None:
        """Take what the hook reads, and how many bytes are kept of what it writes.

        Raises:
            OSError: there are no descriptors left.
        """
        self.out = Output(out_limit)
        self.err = Output(err_limit)
        self._rest = memoryview(context)
        self._held: set[int] = set()
        try:
            self._hooks_in, self._into = self._pipe()
            self._from_out, self._hooks_out = self._pipe()
            self._from_err, self._hooks_err = self._pipe()
        except OSError:
            self.close()
            raise
        self._outputs = {self._from_out: self.out, self._from_err: self.err}
        for ours in (self._into, *self._outputs):
            os.set_blocking(ours, False)

    def send(self, control: socket.socket, order: bytes) -> None:
        """Send an order with the hook's ends of the pipes, which are the hook's alone from then on.

        Raises:
            OSError: nobody takes it.
        """
        theirs = (self._hooks_in, self._hooks_out, self._hooks_err)
        control.sendall(order[socket.send_fds(control, [order], theirs) :])
        for end in theirs:
            self._let_go(end)

    def register(self, poll: select.poll) -> None:
        """Have the agent's ends looked at."""
        self._poll = poll
        poll.register(self._into, select.POLLOUT)
        for source in self._outputs:
            poll.register(source, select.POLLIN)

    def move(self, ready: Collection[int]) -> None:
        """Read and write where that is possible at once."""
        for source, output in self._outputs.items():
            if source in ready and not output.read(source):
                self._poll.unregister(source)
        if self._into in ready:
            self._feed()

    def full(self) -> bool:
        """Tell whether the hook wrote more than it may."""
        return self.out.over

    def drain(self) -> None:
        """Read what is left, when nobody writes any more."""
        for source, output in self._outputs.items():
            output.drain(source)

    def close(self) -> None:
        """Close whatever is open."""
        for end in tuple(self._held):
            self._let_go(end)

    def _feed(self) -> None:
        try:
            self._rest = self._rest[os.write(self._into, self._rest[:_AT_ONCE]) :]
        except BlockingIOError:
            return
        except OSError:
            # Nobody reads it any more, which is the hook's own affair.
            self._rest = self._rest[:0]
        if not self._rest:
            self._poll.unregister(self._into)
            self._let_go(self._into)

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._held.update(ends)
        return ends

    def _let_go(self, end: int) -> None:
        self._held.discard(end)
        os.close(end)
