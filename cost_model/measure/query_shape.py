"""Tell by a query's text whether the field index serves it, and which fields it filters: names alone, no values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from agent_image.contract import DEFAULT_INDEXED_FIELDS
from cost_model.render.figures import clean

OWN_MARK: Final = "# rastro cost measure"
"""First line of the queries that measuring itself runs."""
_NAME: Final = r"`?([A-Za-z0-9_.@-]+)`?"
_LITERAL: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|/(?:[^/\\\n]|\\.)+/|#[^\n]*")
_FILTER_INDEX: Final = re.compile(rf"\bfilterIndex\s+{_NAME}", re.IGNORECASE)
_FILTER_INDEX_SQL: Final = re.compile(r"\bfilterIndex\s*\(", re.IGNORECASE)
_CONDITION: Final = re.compile(
    rf"(?:\bfilter|\bwhere|\band|\bor|\()\s+{_NAME}\s*(=|!=|<|>|in\b|like\b|not\b)", re.IGNORECASE
)
_SERVED: Final = frozenset({"=", "in"})
_LONGEST: Final = 60
_SHOWN_FIELDS: Final = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """Hold what a class of queries has in common: whether an index serves it, and the fields it filters by."""

    indexed: bool
    fields: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name the class."""
        listed = ", ".join(self.fields[:_SHOWN_FIELDS]) + (", ..." if len(self.fields) > _SHOWN_FIELDS else "")
        if self.indexed:
            return f"look-up by {listed}" if listed else "look-up by an index"
        return f"scan filtered by {listed}" if listed else "scan without a filter"


def shape_of(text: str) -> Shape:
    """Read a query's shape: `filterIndex`, or an equality on a field that every group indexes, asks the index."""
    bare = _LITERAL.sub(" ? ", text)
    by_index = [clean(name)[:_LONGEST] for name in _FILTER_INDEX.findall(bare)]
    conditions = [(clean(name)[:_LONGEST], sign.lower()) for name, sign in _CONDITION.findall(bare)]
    default = [name for name, sign in conditions if sign in _SERVED and name in DEFAULT_INDEXED_FIELDS]
    indexed = bool(by_index or default or _FILTER_INDEX_SQL.search(bare))
    # A look-up is named by what it looks up: whatever else it filters by is not what spares bytes.
    fields = [*by_index, *default] if indexed else [name for name, _ in conditions]
    return Shape(indexed, tuple(sorted(set(fields))))
