"""Hold what an environment keeps for itself, in its encrypted table and buckets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from agent_image.guard.audit_lines import Line
from agent_image.guard.session import Head


@dataclass(frozen=True)
class Kept:
    """Hold what was kept.

    Attributes:
        items: those of the table that may hold texts.
        others: those that may not.
        archived: passages.
        audit: its lines.
        heads: of the sessions' chains, as the table has them.
        decided: the hashes that decisions hold.
    """

    items: bytes = b""
    others: bytes = b""
    archived: frozenset[str] = frozenset()
    audit: tuple[Line, ...] = ()
    heads: Mapping[str, Head] = field(default_factory=dict)
    decided: Mapping[str, Collection[str]] = field(default_factory=dict)
