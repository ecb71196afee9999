"""Say what a word is worth to whoever reads it: good, to be looked at, or bad. Tables, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from agent_image.contract import Outcome, Ruling, Verdict, Zone
from console.trace.display import Role
from console.trace.facts import Index, Source, Text

RULINGS: Final[Mapping[str, Role]] = MappingProxyType(
    {
        Ruling.ALLOWED: Role.GOOD,
        Ruling.APPROVED: Role.GOOD,
        Ruling.ASKED: Role.WARN,
        Ruling.EDITED: Role.WARN,
        Ruling.REPLAYED: Role.WARN,
        Ruling.BLOCKED: Role.BAD,
        Ruling.REJECTED: Role.BAD,
        Ruling.CANCELLED: Role.BAD,
        Ruling.EXPIRED: Role.BAD,
        Ruling.IN_DOUBT: Role.BAD,
    }
)
OUTCOMES: Final[Mapping[str, Role]] = MappingProxyType(
    {
        Outcome.COMPLETED: Role.GOOD,
        Outcome.SUSPENDED: Role.WARN,
        Outcome.REFUSED: Role.BAD,
        Outcome.BUDGET: Role.BAD,
        Outcome.LOOP: Role.BAD,
        Outcome.FAILED: Role.BAD,
    }
)
ZONES: Final[Mapping[str, Role]] = MappingProxyType({Zone.GREEN: Role.GOOD, Zone.YELLOW: Role.WARN, Zone.RED: Role.BAD})
VERDICTS: Final[Mapping[str, Role]] = MappingProxyType({Verdict.GOOD: Role.GOOD, Verdict.BAD: Role.BAD})
TEXTS: Final[Mapping[Text, Role]] = MappingProxyType({Text.NOT_RECOVERED: Role.BAD})
SOURCES: Final[Mapping[Source, Role]] = MappingProxyType(
    {
        Source.INTACT: Role.GOOD,
        Source.CHANGED: Role.WARN,
        Source.NOT_FOUND: Role.WARN,
        Source.MISSING: Role.BAD,
        Source.UNREADABLE: Role.BAD,
        Source.NOT_READ: Role.DIM,
    }
)
INDEXES: Final[Mapping[Index, Role]] = MappingProxyType(
    {Index.SAME: Role.GOOD, Index.REINDEXED: Role.WARN, Index.UNKNOWN: Role.DIM}
)
