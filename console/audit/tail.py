"""Give the last lines of the audit, and those that come in: of a file that grows and is closed, or of new objects."""

from __future__ import annotations

import heapq
import os
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from agent_image.contract import Field
from agent_image.errors import AuditError
from agent_image.guard.audit_file import closed_files
from agent_image.guard.audit_lines import Line, line, lines
from agent_image.guard.audit_s3 import SUFFIX, AuditPlace
from agent_image.retrieval.failure import AWS_ERRORS, aws_failure

_UNREADABLE: Final = "audit_unreadable"
_READ: Final = 1 << 20


class Tail(Protocol):
    """Give lines, each once."""

    def last(self, count: int) -> list[Line]:
        """Give the last lines that are there."""
        ...

    def new(self) -> Iterator[Line]:
        """Give those that came since."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


class FileTail:
    """Follow a file, also when it is closed under another name and begun anew."""

    def __init__(self, path: Path) -> None:
        """Take the file's path; it need not be there yet."""
        self._path = path
        self._file: BinaryIO | None = None
        self._rest = b""
        self._number = 0

    def last(self, count: int) -> list[Line]:
        """Give the last lines that are there.

        Raises:
            AuditError: the file cannot be read.
        """
        return list(deque(self.new(), maxlen=count))

    def new(self) -> Iterator[Line]:
        """Give the lines that came since, whole ones alone.

        Raises:
            AuditError: the file cannot be read.
        """
        try:
            while True:
                yield from self._drained()
                following = self._following()
                if following is None:
                    return
                # What was written between our reading and its closing.
                yield from self._drained()
                self._open(following)
        except OSError:
            raise AuditError(_UNREADABLE, "The audit's file cannot be read.") from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _drained(self) -> Iterator[Line]:
        file = self._file
        while file is not None and (data := file.read(_READ)):
            *whole, self._rest = (self._rest + data).split(b"\n")
            for raw in whole:
                self._number += 1
                if raw:
                    yield line(self._path.name, self._number, raw)

    def _following(self) -> Path | None:
        """Find the file that follows the one that is open; the first of all where none is."""
        closed = [path for _, path in closed_files(self._path)] if self._path.parent.is_dir() else []
        follows = self._file is None
        for path in (*closed, self._path):
            with suppress(FileNotFoundError):
                found = path.stat()
                if follows:
                    return path
                follows = self._file is not None and os.path.samestat(found, os.fstat(self._file.fileno()))
        return None

    def _open(self, path: Path) -> None:
        self.close()
        self._file, self._rest, self._number = path.open("rb"), b"", 0


class S3Tail:
    """Follow a bucket: objects never change, so what has another key is new."""

    def __init__(self, place: AuditPlace, client: Any) -> None:  # noqa: ANN401 - a boto3 client has no type
        """Take the place and its client."""
        self._place = place
        self._client = client
        self._seen: set[str] = set()

    def last(self, count: int) -> list[Line]:
        """Give the last lines, out of the objects that were written last.

        Raises:
            AuditError: the bucket cannot be read.
        """
        entries = list(self._unseen())
        newest = heapq.nlargest(count, entries, key=lambda entry: (entry["LastModified"], entry["Key"]))
        return sorted(self._lines(newest), key=_moment)[-count:] if count else []

    def new(self) -> Iterator[Line]:
        """Give the lines of objects that came since.

        Raises:
            AuditError: the bucket cannot be read.
        """
        yield from sorted(self._lines(list(self._unseen())), key=_moment)

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _unseen(self) -> Iterator[Mapping[str, Any]]:
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._place.bucket, Prefix=self._place.prefix
            )
            for page in pages:
                for entry in page.get("Contents", ()):
                    if entry["Key"].endswith(SUFFIX) and entry["Key"] not in self._seen:
                        self._seen.add(entry["Key"])
                        yield entry
        except AWS_ERRORS as error:
            raise _unreadable(error) from None

    def _lines(self, entries: list[Mapping[str, Any]]) -> Iterator[Line]:
        for entry in entries:
            try:
                data = self._client.get_object(Bucket=self._place.bucket, Key=entry["Key"])["Body"].read()
            except AWS_ERRORS as error:
                raise _unreadable(error) from None
            yield from lines(entry["Key"], data)


def _moment(line: Line) -> str:
    return line.text(Field.TS)


def _unreadable(error: Exception) -> AuditError:
    return AuditError(f"audit_{aws_failure(error)}", "The audit's bucket cannot be read.")
