"""Turn the history of queries into classes that the cost model prices at what they really read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from cost_model.measure.history import Ran
from cost_model.measure.query_shape import shape_of
from cost_model.meters.queries import INDEX_ENTRY_DAYS
from cost_model.query_classes import QueryClass

MOST_CLASSES: Final = 8
"""Classes that keep a name of their own: those that read most."""
_OTHERS: Final[Mapping[bool, str]] = {True: "other look-ups", False: "other scans"}
_FINE: Final = Decimal("0.0001")
_LONGEST_WINDOW: Final = Decimal(3653)


@dataclass(frozen=True, slots=True)
class Measured:
    """Hold what a class of queries did in the window; a sum that nobody tells is None.

    Attributes:
        runs: queries, whether or not their bytes are told.
        told: those whose bytes are told, of this group alone.
        scanned: bytes that these read.
        skipped: bytes that the index spared those of them whose statistics are still there.
        scanned_of_skipped: bytes that these read.
    """

    name: str
    indexed: bool
    runs: int
    told: int
    scanned: Decimal
    skipped: Decimal | None
    scanned_of_skipped: Decimal

    @property
    def skip_ratio(self) -> Decimal | None:
        """Give the share of bytes that was skipped; None where no statistics are left, or nothing was read."""
        whole = None if self.skipped is None else self.skipped + self.scanned_of_skipped
        return None if self.skipped is None or not whole else self.skipped / whole

    def query_class(self, bytes_a_day: Decimal, days: int, days_per_month: Decimal) -> QueryClass | None:
        """Say it as `[usage]` does; None where no bytes are told.

        The history does not say how far back a query looked. The window is the one in which a query reads as much as
        these did: bytes read and skipped, by those that come in a day. Where what was skipped is not told, the ratio is
        0 and the window the shorter: the price comes out the same. A look-up further back than index entries live is
        written with the ratio of the days that these cover, as the model takes it.
        """
        if not self.told or not bytes_a_day:
            return None
        skip_ratio = self.skip_ratio or Decimal(0)
        # An index that spared everything leaves no window to divide by.
        skip_ratio = min(skip_ratio.quantize(_FINE), 1 - _FINE)
        read = self.scanned / self.told / bytes_a_day
        window = read / (1 - skip_ratio)
        if self.indexed and window > INDEX_ENTRY_DAYS:
            skip_ratio = min((window - read) / INDEX_ENTRY_DAYS, Decimal(1)).quantize(_FINE)
            window = read + INDEX_ENTRY_DAYS * skip_ratio
        runs = (Decimal(self.runs) / days * days_per_month).quantize(_FINE).normalize()
        return QueryClass(self.name, runs, min(window.quantize(_FINE), _LONGEST_WINDOW), self.indexed, skip_ratio)


def classes_of(ran: Iterable[Ran]) -> tuple[Measured, ...]:
    """Group queries by the shape of their texts; the classes that read most come first, small ones are joined."""
    by_name: dict[tuple[str, bool], list[Ran]] = {}
    for query in ran:
        shape = shape_of(query.text)
        by_name.setdefault((shape.name, shape.indexed), []).append(query)
    classes = [_measured(name, indexed, queries) for (name, indexed), queries in by_name.items()]
    classes.sort(key=lambda each: (-each.scanned, -each.runs, each.name))
    kept, rest = classes[:MOST_CLASSES], classes[MOST_CLASSES:]
    for indexed, name in _OTHERS.items():
        joined = [query for each in rest if each.indexed is indexed for query in by_name[each.name, indexed]]
        if joined:
            kept.append(_measured(name, indexed, joined))
    return tuple(kept)


def _measured(name: str, indexed: bool, queries: Iterable[Ran]) -> Measured:  # noqa: FBT001 - a fact of the class
    listed = tuple(queries)
    # The bytes of a query over several groups are not this group's; that it ran is.
    own = [query for query in listed if query.scanned is not None and (query.groups or 1) == 1]
    known = [query for query in own if query.skipped is not None]
    return Measured(
        name,
        indexed,
        len(listed),
        len(own),
        sum((query.scanned for query in own if query.scanned is not None), Decimal(0)),
        sum((query.skipped for query in known if query.skipped is not None), Decimal(0)) if known else None,
        sum((query.scanned for query in known if query.scanned is not None), Decimal(0)),
    )
