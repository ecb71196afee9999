"""Hold one saved query, and write it in the Logs Insights query language: pure, from a row to its text.

A saved query keeps no window of time: its first line says which one to choose. Words in capitals are for whoever runs
it to replace.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from agent_image.contract import DEFAULT_INDEXED_FIELDS

SESSION_WORD: Final = "SESSION"
TRACE_WORD: Final = "TRACE"
FINGERPRINT_WORD: Final = "FINGERPRINT"
WORDS: Final = (SESSION_WORD, TRACE_WORD, FINGERPRINT_WORD)
"""What a query asks for: whoever runs it writes an id, or a fingerprint, in the word's place."""
LISTED: Final = 1_000
"""Rows that a query lists at most."""
COUNTED: Final = 50
"""Rows that a query which counts gives at most."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Ask for lines whose field holds one of some values."""

    field: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        """Write the condition."""
        quoted = [f'"{value}"' for value in self.values]
        return f"{self.field} = {quoted[0]}" if len(quoted) == 1 else f"{self.field} in [{', '.join(quoted)}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRow:
    """Hold one saved query: it lists lines, or counts them.

    Attributes:
        key: its name below the environment's.
        what: one sentence.
        window: how far back to look, as a phrase: no further than its question needs.
        narrowed: the condition that an index answers, where the environment has one on its field.
        conditions: what else a line must fulfil; all of them.
        shown: what is shown of each line, or computed of it before lines are counted.
        counted: what is told of each group of lines; empty where lines are listed.
        by: the fields that make a group.
        order: what rows are sorted by, and in which direction.
    """

    key: str
    what: str
    window: str
    narrowed: OneOf
    conditions: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    order: str = "@timestamp desc"

    @property
    def word(self) -> str | None:
        """Give the word that whoever runs the query replaces, if there is one."""
        asked = " ".join((str(self.narrowed), *self.conditions))
        return next((word for word in WORDS if f'"{word}"' in asked), None)

    def text(self, indexed_fields: Collection[str]) -> str:
        """Write the query for a group that indexes these fields beside the free ones.

        `filterIndex` finds nothing where its field has no index: the same condition then filters what is read.
        """
        replace = f" Write yours in the place of {self.word}." if self.word else ""
        indexed = self.narrowed.field in DEFAULT_INDEXED_FIELDS or self.narrowed.field in indexed_fields
        commands = [
            *([f"fields {', '.join(self.shown)}"] if self.shown else []),
            f"{'filterIndex' if indexed else 'filter'} {self.narrowed}",
            *(f"filter {condition}" for condition in self.conditions),
            *([f"stats {', '.join(self.counted)} by {', '.join(self.by)}"] if self.counted else []),
            f"sort {self.order}",
            f"limit {COUNTED if self.counted else LISTED}",
        ]
        return "\n".join((f"# Window: {self.window}. {self.what}{replace}", "\n| ".join(commands)))


def query_name(environment: str, key: str) -> str:
    """Name a saved query: consoles show what stands before a slash as a folder."""
    return f"{folder(environment)}{key}"


def folder(environment: str) -> str:
    """Name the folder of an environment's saved queries."""
    return f"rastro/{environment}/"
