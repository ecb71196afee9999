"""Keep a few child processes that take the text out of documents, and end those that a document breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from signal import SIGKILL, SIGXCPU
from threading import Lock, Timer
from typing import Any, Final

from console.trace.sources.media import Kind
from console.trace.sources.source import Content, Refused, Why, unreadable

CPU_SECONDS: Final = 60
"""Processor time that one document may take."""
WALL_SECONDS: Final = 120
"""Time that one document may take."""
MEMORY_BYTES: Final = 2 << 30
"""Address space of a child, where the platform knows a limit for it."""
TEXT_BYTES: Final = 200_000_000
"""Text that one document may hold, over all ways to read it."""
_MODULE: Final = "console.trace.sources.extracting"
# A child reads documents of strangers: it gets nothing of what this process may do elsewhere.
_INHERITED: Final = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT")
_HERE: Final = Path(__file__).resolve().parents[3]
_COSTLY: Final = frozenset({-SIGKILL, -SIGXCPU})
_ENDING_SECONDS: Final = 5


class Extractors:
    """Hand documents to children: as many as there are threads that ask, each used again while it lives."""

    def __init__(self, cpu_seconds: int, wall_seconds: float, memory_bytes: int) -> None:
        """Take what one document may cost."""
        self._limits = (str(cpu_seconds), str(memory_bytes), str(TEXT_BYTES))
        self._wall_seconds = wall_seconds
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._all: list[subprocess.Popen[bytes]] = []
        self._lock = Lock()
        self._open = True

    def texts(self, kind: Kind, content: Content) -> Sequence[bytes] | Refused:
        """Give the normalised text, once for each way to read it, or say why there is none."""
        child = self._child()
        timer = Timer(self._wall_seconds, child.kill)
        timer.start()
        try:
            taken = _ask(child, kind, content)
        except (OSError, ValueError, KeyError, TypeError):
            # It ended in the middle: by a limit, or by what its libraries did.
            return unreadable(_buried(child))
        finally:
            timer.cancel()
        self._idle.put(child)
        return taken

    def close(self) -> None:
        """End all children, also those that have a document in hand, and start no more."""
        with self._lock:
            self._open = False
        for child in self._all:
            # Whoever waits for an answer of it learns that none comes, and buries it.
            child.kill()
        while True:
            try:
                _buried(self._idle.get_nowait())
            except Empty:
                return

    def _child(self) -> subprocess.Popen[bytes]:
        try:
            return self._idle.get_nowait()
        except Empty:
            pass
        with self._lock:
            if not self._open:
                raise InterruptedError
            self._all.append(self._started())
            return self._all[-1]

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own program
            # Not with the folder that somebody works in: it may hold the very documents, and a `bs4.py` among them.
            [sys.executable, "-P", "-m", _MODULE, *self._limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            # A key on the terminal ends this command, and that ends them: none dies in the middle of an answer.
            start_new_session=True,
        )


@contextmanager
def extractors(
    *, cpu_seconds: int = CPU_SECONDS, wall_seconds: float = WALL_SECONDS, memory_bytes: int = MEMORY_BYTES
) -> Iterator[Extractors]:
    """Keep children until the block ends; the first starts with the first document."""
    found = Extractors(cpu_seconds, wall_seconds, memory_bytes)
    try:
        yield found
    finally:
        found.close()


def _environment() -> dict[str, str]:
    """Give what a child gets: among it, where it finds its own program, also where that is not installed."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    paths = (str(_HERE), *filter(None, (inherited.get("PYTHONPATH"),)))
    return {**inherited, "PYTHONPATH": os.pathsep.join(paths)}


def _ask(child: subprocess.Popen[bytes], kind: Kind, content: Content) -> Sequence[bytes] | Refused:
    """Send one document and read one answer.

    Raises:
        OSError, ValueError: the child ended, or answers what it should not.
    """
    assert child.stdin is not None  # noqa: S101 - both are pipes
    assert child.stdout is not None  # noqa: S101 - as above
    head = {"kind": kind, "size": len(content.data), "charset": content.charset}
    child.stdin.write(json.dumps(head).encode() + b"\n")
    child.stdin.write(content.data)
    child.stdin.flush()
    answer: dict[str, Any] = json.loads(child.stdout.readline())
    if why := answer.get("why"):
        return unreadable(Why(why))
    sizes: list[int] = answer["sizes"]
    if sum(sizes) > TEXT_BYTES:
        raise ValueError
    texts = [child.stdout.read(size) for size in sizes]
    if [len(text) for text in texts] != sizes:
        raise ValueError
    return texts


def _buried(child: subprocess.Popen[bytes]) -> Why:
    """Await the end of a child that broke off, and say what it tells of its document."""
    with suppress(OSError), child:
        try:
            child.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            return Why.MALFORMED
    return Why.TOO_COSTLY if child.returncode in _COSTLY else Why.MALFORMED
