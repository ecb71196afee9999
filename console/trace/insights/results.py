"""Turn rows of a query into lines of the trail; what came cut off is fetched whole, as far as that is allowed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from console.trace.insights.query import moment_of
from console.trace.record import Note

FETCH_LIMIT: Final = 200
"""Lines that are fetched one by one at most."""

Fetch = Callable[[str], str | None]
"""Give the whole line behind a pointer; None where that is not allowed, or not possible."""


@dataclass(frozen=True, slots=True)
class Row:
    """Hold a row.

    Attributes:
        at: when the line was, to the millisecond; None where the row does not say.
        message: the line; None where the row has none.
        pointer: leads to the line.
    """

    at: datetime | None
    message: str | None
    pointer: str


@dataclass(frozen=True, slots=True)
class Line:
    """Hold a line, and its object where it is one."""

    text: str
    document: Mapping[str, Any]


def row_of(fields: Sequence[Mapping[str, str]]) -> Row:
    """Read a row as GetQueryResults gives it."""
    values = {str(field.get("field")): field.get("value") for field in fields}
    try:
        at = moment_of(values.get("@timestamp") or "")
    except ValueError:
        at = None
    return Row(at, values.get("@message"), values.get("@ptr") or "")


class Lines:
    """Take lines out of rows."""

    def __init__(self, fetch: Fetch) -> None:
        """Take what fetches a line by its pointer."""
        self._fetch = fetch
        self._fetched = 0
        self._cut = 0

    def of(self, rows: Iterable[Row]) -> Iterator[Line]:
        """Give the lines of rows, each with its object."""
        for row in rows:
            text = row.message
            if _may_be_cut(text):
                whole = self._whole(row.pointer)
                # One that lies there as it came is broken, and not cut.
                self._cut += whole is None
                text = text if whole is None else whole
            if text is not None:
                yield Line(text, _object(text) or {})

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say how many lines are not whole."""
        if not self._cut:
            return ()
        text = f"{self._cut} of the lines came cut off, or not at all; logs:GetLogRecord lets them be fetched whole"
        return (Note("lines_cut_off", text, partial=True),)

    def _whole(self, pointer: str) -> str | None:
        if not pointer or self._fetched == FETCH_LIMIT:
            return None
        self._fetched += 1
        whole = self._fetch(pointer)
        if whole is None:
            # What is not allowed once is not allowed again.
            self._fetched = FETCH_LIMIT
        return whole


def _may_be_cut(text: str | None) -> bool:
    return text is None or (text.lstrip().startswith("{") and _object(text) is None)


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
