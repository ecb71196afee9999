"""Hold what a check found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum


class Fault(StrEnum):
    """Name what may be wrong with a document."""

    UNKNOWN_TYPE = "unknown type"
    UNKNOWN_ARGUMENT = "unknown argument"
    MISSING_ARGUMENT = "missing argument"
    WRONG_TYPE = "wrong type"
    UNDECLARED = "undeclared"
    UNKNOWN_ATTRIBUTE = "unknown attribute"


@dataclass(frozen=True, slots=True)
class Finding:
    """Say where a document departs from the schema and how; `fault` sorts the findings, `problem` is for people."""

    path: str
    fault: Fault
    problem: str

    def __str__(self) -> str:
        """Return one line for a test's failure text."""
        return f"{self.path}: {self.problem}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name nearest to an unknown one as the end of a sentence, empty when none is near."""
    matches = get_close_matches(name, known, n=1)
    return f"; did you mean {matches[0]}?" if matches else ""
