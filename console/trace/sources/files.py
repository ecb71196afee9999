"""Read documents of this machine: regular files and nothing else, and none that the system only makes up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from console.trace.sources.source import LIMIT_BYTES, Content, Refused, Version, Why, missing, unreadable

_MADE_UP: Final = (Path("/proc"), Path("/sys"), Path("/dev"))
_HERE: Final = frozenset({"", "localhost"})


class Files:
    """Read files of this machine by their `file:` URIs."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        """Take the size of the longest file to read."""
        self._limit_bytes = limit_bytes

    def read(self, uri: str) -> Content | Refused:
        """Read a file."""
        path = _path(uri)
        if isinstance(path, Refused):
            return path
        try:
            return self._read(path.resolve(strict=True))
        except (FileNotFoundError, NotADirectoryError):
            return missing(Why.NOT_FOUND)
        except PermissionError:
            return unreadable(Why.ACCESS_DENIED)
        except (OSError, RuntimeError):
            return unreadable(Why.FAILED)

    def older(self, uri: str, newest: str) -> Sequence[Version]:  # noqa: ARG002 - folders keep none
        """Know of no older versions."""
        return ()

    def _read(self, path: Path) -> Content | Refused:
        """Read a path without links."""
        if any(path.is_relative_to(folder) for folder in _MADE_UP):
            return unreadable(Why.NOT_ALLOWED)
        # Opening a pipe would wait for whoever writes into it.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(file, "rb") as opened:  # noqa: PTH123 - what was opened is what is looked at
            if not S_ISREG(os.fstat(file).st_mode):
                return unreadable(Why.NOT_ALLOWED)
            data = opened.read(self._limit_bytes + 1)
        if len(data) > self._limit_bytes:
            return unreadable(Why.TOO_LARGE)
        return Content(data, name=path.name)


class OtherMachine:
    """Read no files: an agent that is deployed had others than this machine has."""

    def read(self, uri: str) -> Refused:  # noqa: ARG002 - whatever it names
        """Say whose it is."""
        return unreadable(Why.OTHER_MACHINE)

    def older(self, uri: str, newest: str) -> Sequence[Version]:  # noqa: ARG002 - as above
        """Know of no older versions."""
        return ()


def _path(uri: str) -> Path | Refused:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return unreadable(Why.BAD_URI)
    if parts.netloc not in _HERE:
        return unreadable(Why.OTHER_MACHINE)
    # A path may hold any bytes, `#` and `?` included: the image writes them percent-encoded.
    path = Path(os.fsdecode(unquote_to_bytes(parts.path)))
    return path if path.is_absolute() and "\0" not in str(path) else unreadable(Why.BAD_URI)
