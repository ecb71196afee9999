"""Gather what queries found for one question, window by window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from console.trace.insights.results import Line
from console.trace.record import Note


@dataclass(slots=True)
class Gathered:
    """Hold what was found so far.

    Attributes:
        moments: when the lines were.
        notes: by their texts: what several queries say is said once.
        at_the_end: the group holds nothing older.
    """

    lines: list[Line] = field(default_factory=list)
    moments: list[datetime] = field(default_factory=list)
    notes: dict[str, Note] = field(default_factory=dict)
    at_the_end: bool = False

    @property
    def documents(self) -> Iterator[Mapping[str, Any]]:
        """Give the objects of the lines."""
        return (line.document for line in self.lines)

    def note(self, code: str, text: str, *, partial: bool = False) -> None:
        """Note something."""
        self.notes[text] = Note(code, text, partial=partial)
