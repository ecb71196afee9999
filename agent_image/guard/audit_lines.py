"""Read the audit back: lines as they were written, wherever they lie."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from agent_image.contract import Field, Span
from agent_image.errors import AuditError
from agent_image.guard.audit_file import closed_files
from agent_image.guard.audit_s3 import AuditPlace, objects
from agent_image.guard.outlet import Folder
from agent_image.retrieval.failure import AWS_ERRORS, aws_failure


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one line.

    Attributes:
        place: the file's name or the object's key.
        number: the line's number there, from 1.
        raw: its bytes, without the line's end.
        record: what it says; None where it is no JSON object.
    """

    place: str
    number: int
    raw: bytes
    record: Mapping[str, Any] | None

    @property
    def session_id(self) -> str:
        """Give the session that the line speaks of; empty where it names none."""
        attributes = (self.record or {}).get(Field.ATTRIBUTES)
        session = attributes.get(Span.SESSION) if isinstance(attributes, Mapping) else None
        return session if isinstance(session, str) else ""

    def text(self, field: Field) -> str:
        """Give a field that is a text, such as an id; empty where it is none."""
        value = (self.record or {}).get(field)
        return value if isinstance(value, str) else ""

    def texts(self, field: Field) -> tuple[str, ...]:
        """Give the texts of a field that is a list; none where it is none."""
        values = (self.record or {}).get(field)
        return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()

    @property
    def seq(self) -> int:
        """Give the line's place in its chain; 0 where it names none."""
        value = (self.record or {}).get(Field.SEQ)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0


def lines(place: str, data: bytes) -> Iterator[Line]:
    """Take lines apart; empty ones are none."""
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if raw:
            yield line(place, number, raw)


def line(place: str, number: int, raw: bytes) -> Line:
    """Read one line; amounts stay as exact as they were written."""
    try:
        record = json.loads(raw, parse_float=Decimal)
    except (ValueError, RecursionError):
        record = None
    return Line(place, number, raw, record if isinstance(record, dict) else None)


def read_file(path: Path) -> Iterator[Line]:
    """Read the lines of an audit in a file, those of the files that were closed first; none where there is no file.

    Raises:
        AuditError: it cannot be read.
    """
    try:
        with ExitStack() as stack:
            # Opened before the others are listed: should it be closed meanwhile, it is still read, and once.
            current = stack.enter_context(path.open("rb")) if path.exists() else None
            for _, closed in closed_files(path):
                if current is None or not os.path.samestat(closed.stat(), os.fstat(current.fileno())):
                    with closed.open("rb") as opened:
                        yield from _read(closed.name, opened)
            if current is not None:
                yield from _read(path.name, current)
    except OSError:
        raise AuditError("audit_unreadable", "The audit's file cannot be read.") from None


def read_s3(place: AuditPlace, client: Any, folder: Folder = ()) -> Iterator[Line]:  # noqa: ANN401 - boto3 makes clients at run time
    """Read the lines of an audit in S3, or those of one folder, in the order of the objects' keys.

    Raises:
        AuditError: it cannot be read.
    """
    try:
        for key, data in objects(place, client, folder):
            yield from lines(key, data)
    except AWS_ERRORS as error:
        code = f"audit_{aws_failure(error)}"
        raise AuditError(code, "The audit's bucket cannot be read.") from None


def _read(place: str, opened: BinaryIO) -> Iterator[Line]:
    for number, raw in enumerate(opened, start=1):
        if stripped := raw.rstrip(b"\n"):
            yield line(place, number, stripped)
