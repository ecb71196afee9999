"""Read the documents of a folder, Markdown and text in UTF-8 at any depth, and see when they change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Final
from urllib.parse import quote

from agent_image.notice import notice

SUFFIXES: Final = frozenset({".md", ".txt"})
SETTLED_NS: Final = 2_000_000_000
"""Nanoseconds after which a file system's clock tells one change from the next, on any file system."""


@dataclass(frozen=True, slots=True, order=True)
class Trace:
    """Hold what the file system says of a file that nobody has read.

    The change time cannot be set back, so it gives away an edit that kept size and modification time.
    """

    path: str
    size: int
    modified_ns: int
    changed_ns: int
    inode: int


@dataclass(frozen=True, slots=True, order=True)
class Document:
    """Hold a document: its path relative to the folder, percent-encoded, and its text."""

    path: str
    text: str

    @property
    def digest(self) -> bytes:
        """Digest path and text."""
        return sha256(f"{self.path}\n{self.text}".encode()).digest()


@dataclass(frozen=True, slots=True)
class Skipped:
    """Say which file holds no document, and why, as a code."""

    path: str
    reason: str


class Documents:
    """Watch one folder. Not for two threads at once."""

    def __init__(self, folder: Path, clock_ns: Callable[[], int]) -> None:
        """Take the folder, and the time of day in nanoseconds."""
        self._folder = folder
        self._clock_ns = clock_ns
        self._traces: tuple[Trace, ...] | None = None
        self._skipped: frozenset[Skipped] = frozenset()

    def changed(self) -> bool:
        """Tell, without reading a file, whether any may have changed since they were read.

        Raises:
            OSError: the folder is not there, or may not be listed.
        """
        return self._traces is None or self._traces != traces(self._folder)

    def read(self) -> tuple[Document, ...]:
        """Read all documents, in order; a file that holds none leaves a notice, once.

        Raises:
            OSError: the folder is not there, or may not be listed.
        """
        now, found = self._clock_ns(), traces(self._folder)
        # A file that has only just changed may change again and look the same: until it settles, it is read each time.
        settled = all(trace.changed_ns + SETTLED_NS < now for trace in found)
        self._traces = found if settled else None
        contents = [_read(self._folder, trace.path) for trace in found]
        self._notice(frozenset(one for one in contents if isinstance(one, Skipped)))
        return _documents(contents)

    def _notice(self, skipped: frozenset[Skipped]) -> None:
        for one in sorted(skipped - self._skipped, key=lambda one: one.path):
            notice(one.reason, path=_encoded(one.path))
        self._skipped = skipped


def documents(folder: Path) -> tuple[Document, ...]:
    """Read the documents of a folder once, in order, and say nothing of files that hold none.

    Raises:
        OSError: the folder is not there, or may not be listed.
    """
    return _documents(_read(folder, trace.path) for trace in traces(folder))


def traces(folder: Path) -> tuple[Trace, ...]:
    """List the files that may hold documents, in order; what is hidden is left out.

    Raises:
        OSError: the folder is not there, or may not be listed.
    """
    with os.scandir(folder):  # `walk` would pass over a folder that is not there
        return tuple(sorted(_traces(folder)))


def _documents(contents: Iterable[Document | Skipped]) -> tuple[Document, ...]:
    return tuple(sorted(one for one in contents if isinstance(one, Document)))


def _traces(folder: Path) -> Iterator[Trace]:
    refused: list[OSError] = []
    for root, folders, files in os.walk(folder, onerror=refused.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            file = Path(root, name)
            if file.suffix.lower() in SUFFIXES and not name.startswith("."):
                yield from _trace(folder, file)
    for error in refused:
        yield _unseen(folder, Path(error.filename))


def _trace(folder: Path, file: Path) -> Iterator[Trace]:
    try:
        stat = file.stat()
    except OSError:
        yield _unseen(folder, file)
    else:
        if S_ISREG(stat.st_mode):  # reading a pipe would wait for ever
            path = file.relative_to(folder).as_posix()
            yield Trace(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


def _unseen(folder: Path, file: Path) -> Trace:
    """Stand for what cannot be looked at: reading it says why."""
    return Trace(file.relative_to(folder).as_posix(), 0, 0, 0, 0)


def _read(folder: Path, path: str) -> Document | Skipped:
    try:
        return Document(_encoded(path), (folder / path).read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Skipped(path, "document_not_utf8")
    except OSError:
        return Skipped(path, "document_unreadable")


def _encoded(path: str) -> str:
    return quote(os.fsencode(path))
