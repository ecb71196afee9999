"""Be a process that writes an audit: tests.agent_image.guard.appending PATH SESSION COUNT LIMIT DIE_AT.

It says "ready", waits for a line, writes, and says where its chain ends. With DIE_AT it is killed in the middle of that
write.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from time import sleep

from agent_image.contract import EventName
from agent_image.guard.audit_file import FileOutlet
from tests.agent_image.guard.chains import chain


class Dying:
    """Write half of what one write is given, and die."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __call__(self, file: int, data: bytes) -> int:
        self._left -= 1
        if self._left:
            return os.write(file, data)
        os.write(file, data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def main(path: str, session: str, count: str, limit: str, die_at: str) -> None:
    append = Dying(int(die_at)) if int(die_at) else os.write
    events = chain(
        FileOutlet(Path(path), sleep, limit=int(limit), append=append), session_id=session, run=f"run-{os.getpid()}"
    )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for step in range(int(count)):
        events.append(EventName.LLM_CALL, step=step, model="m", cost_usd="0.000001")
        if step % 10 == 0:
            events.flush()
    head = events.flush()
    sys.stdout.write(f"{head.seq} {head.hash}")


if __name__ == "__main__":
    main(*sys.argv[1:])
