"""Describe a report without a format: sections of a title, a table and remarks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """Tell what a row is."""

    LINE = auto()
    PART = auto()
    TOTAL = auto()


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one row's texts, the label first."""

    cells: tuple[str, ...]
    kind: Kind = Kind.LINE


@dataclass(frozen=True, slots=True)
class Table:
    """Hold a header and rows; every column but those named as text stands to the right.

    Where there is no room for all columns, those that are dispensable are left out in their order.
    """

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    texts: frozenset[int] = frozenset({0})
    dispensable: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Remarks:
    """Hold a heading and the statements under it."""

    heading: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Hold one titled piece of a report; remarks without items are left out."""

    title: str
    table: Table | None = None
    remarks: tuple[Remarks, ...] = ()

    @property
    def said(self) -> tuple[Remarks, ...]:
        """Return the remarks that say something."""
        return tuple(remark for remark in self.remarks if remark.items)
