"""Keep the audit in a file of JSON lines that processes share.

Every write opens the file, locks it and appends whole lines at once. A write that fails is taken back under the lock,
so only a process that died in the middle of one leaves a torn line; the next write begins on a line of its own.

A file that has grown to `limit` bytes is closed: made durable and renamed `<path>.1`, the next one `<path>.2`, and so
on. What is closed is neither renamed again nor deleted.

What was written is durable after `sync`, which the gate asks for before a gated call and at the end of a run. What
happens between is in the hands of the operating system: it survives the process, but not the machine.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agent_image.errors import AuditError
from agent_image.guard.outlet import Folder

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
FILE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes after which the next line goes into a new file."""
ATTEMPTS: Final = 500
"""How often a lock that somebody else holds is asked for."""
PAUSE_SECONDS: Final = 0.01
"""How long to wait before it is asked for again."""


class FileOutlet:
    """Append lines to a file."""

    at_once = True

    def __init__(
        self,
        path: Path,
        pause: Callable[[float], object],
        *,
        limit: int = FILE_LIMIT,
        append: Callable[[int, bytes], int] = os.write,
        fsync: Callable[[int], object] = os.fsync,
    ) -> None:
        """Take the file's path and what waits some seconds. The file is made when the first line comes."""
        self._path = path
        self._pause = pause
        self._limit = limit
        self._append = append
        self._fsync = fsync
        self._lost = False

    def write(self, lines: Sequence[bytes], *, folder: Folder, run: str, seq: int) -> None:  # noqa: ARG002 - the port's
        """Append lines in one write.

        Raises:
            AuditError: nothing was appended.
        """
        data = b"".join(lines)
        with _told(), self._locked() as (file, size):
            self._put(file, b"\n" + data if _torn(file, size) else data, size)

    def sync(self) -> None:
        """Make durable what was appended; files that were closed already are.

        Raises:
            AuditError: it may not be. After that nothing is taken any more: what the kernel could not write it forgets.
        """
        if self._lost:
            raise AuditError("audit_lost", "A part of the audit did not reach the disk; repair it and start again.")
        with _told():
            try:
                file = os.open(self._path, os.O_RDONLY)
            except FileNotFoundError:
                return
            try:
                self._durable(file)
            finally:
                os.close(file)

    def _put(self, file: int, data: bytes, size: int) -> None:
        try:
            written = self._append(file, data)
        except OSError:
            os.ftruncate(file, size)
            raise
        if written != len(data):
            os.ftruncate(file, size)
            raise AuditError("audit_unwritable", "The audit's file took a part of a line only.")

    @contextmanager
    def _locked(self) -> Iterator[tuple[int, int]]:
        """Hold the file that has room, and tell its size."""
        while True:
            file = self._opened()
            try:
                waited = self._lock(file)
                now = os.fstat(file)
                full = now.st_size >= self._limit
                # It may have been closed under another name: while we waited, or because it is full.
                if (waited or full or not now.st_nlink) and not self._current(now):
                    continue
                if not full:
                    yield file, now.st_size
                    return
                self._close(file)
            finally:
                os.close(file)

    def _opened(self) -> int:
        if self._lost:
            raise AuditError("audit_lost", "A part of the audit did not reach the disk; repair it and start again.")
        flags = os.O_RDWR | os.O_APPEND
        try:
            return os.open(self._path, flags)
        except FileNotFoundError:
            self._path.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
            file = os.open(self._path, flags | os.O_CREAT, FILE_MODE)
            self._sync_folder()
            return file

    def _lock(self, file: int) -> bool:
        """Lock a file, and tell whether another had it."""
        # Not for ever: a process that was stopped may hold it.
        for attempt in range(ATTEMPTS):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._pause(PAUSE_SECONDS)
            else:
                return attempt > 0
        raise AuditError("audit_busy", "Another process holds the audit's file.")

    def _current(self, file: os.stat_result) -> bool:
        try:
            return os.path.samestat(file, self._path.stat())
        except FileNotFoundError:
            return False

    def _close(self, file: int) -> None:
        size = os.fstat(file).st_size
        if _torn(file, size):
            self._put(file, b"\n", size)
        self._durable(file)
        number = max((numbered for numbered, _ in closed_files(self._path)), default=0) + 1
        self._path.rename(self._path.with_name(f"{self._path.name}.{number}"))
        self._sync_folder()

    def _sync_folder(self) -> None:
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            self._durable(folder)
        finally:
            os.close(folder)

    def _durable(self, file: int) -> None:
        try:
            self._fsync(file)
        except OSError:
            self._lost = True
            raise


def _torn(file: int, size: int) -> bool:
    """Tell whether a file ends in the middle of a line."""
    return size > 0 and os.pread(file, 1, size - 1) != b"\n"


def closed_files(path: Path) -> list[tuple[int, Path]]:
    """List the files that were closed, the oldest first, with their numbers."""
    if not path.parent.is_dir():
        return []
    found = (
        (int(number), sibling)
        for sibling in path.parent.iterdir()
        if (name := sibling.name).startswith(f"{path.name}.")
        if (number := name.removeprefix(f"{path.name}.")).isascii() and number.isdigit()
    )
    return sorted(found)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise AuditError("audit_unwritable", "The audit's file cannot be written.") from None
