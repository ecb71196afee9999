"""Show things to a person or to a program: framed on a terminal, aligned in a pipe, as JSON where that is asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from console import card as cards
from console import table as tables
from console.card import Card
from console.table import Table
from console.terminal import shown_json

Write = Callable[[str], None]
"""Writes text as it is, at once."""


class Look(Protocol):
    """Show cards and tables in one way."""

    def card(self, card: Card) -> None:
        """Show a card."""
        ...

    def table(self, table: Table) -> None:
        """Show a table."""
        ...


class Plain:
    """Write cards and tables as aligned text."""

    def __init__(self, write: Write) -> None:
        """Take what writes."""
        self._write = write

    def card(self, card: Card) -> None:
        """Write a card."""
        self._write(cards.plain(card))

    def table(self, table: Table) -> None:
        """Write a table."""
        self._write(tables.plain(table))


class Screen:
    """Write for whoever reads."""

    def __init__(self, write: Write, look: Look | None = None) -> None:
        """Take what writes text at once and, where a terminal reads it, how cards and tables look there."""
        self.write = write
        look = look or Plain(write)
        self.card, self.table = look.card, look.table

    def line(self, text: str = "") -> None:
        """Write a line of our own, whose foreign parts are escaped."""
        self.write(f"{text}\n")

    def document(self, document: Mapping[str, Any]) -> None:
        """Write a JSON object on a line of its own, and nothing else."""
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        self.write(f"{shown_json(text)}\n")


def standard(write: Write) -> Screen:
    """Open the screen behind standard output."""
    if not sys.stdout.isatty():
        return Screen(write)
    from console.framed import Framed  # noqa: PLC0415 - rich loads for a terminal alone

    return Screen(write, Framed())
