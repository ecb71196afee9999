"""Hold what a person is to read before deciding, and write it plainly for a pipe or a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from console.terminal import shown_json, shown_line


@dataclass(frozen=True, slots=True)
class Row:
    """Hold a label, and what stands beside it, line by line; a line may come from anywhere."""

    label: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """Hold one card.

    Attributes:
        title: what it is about.
        badge: its state, in a few words.
        warnings: what must not be overlooked.
        rows: the facts.
        commands: what can be done, each with the command to copy.
    """

    title: str
    badge: str
    rows: tuple[Row, ...]
    warnings: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()


def row(label: str, *lines: str) -> Row:
    """Build a row."""
    return Row(label, lines)


def json_row(label: str, value: Any) -> Row:  # noqa: ANN401 - JSON of any shape
    """Build a row that shows a value exactly, as JSON that a person can read."""
    text = shown_json(json.dumps(value, indent=2, ensure_ascii=False))
    return Row(label, tuple(text.split("\n")))


def plain(card: Card) -> str:
    """Write a card as lines without trailing spaces."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(card))


def width(rows: Sequence[Row]) -> int:
    """Tell how wide the column of labels is."""
    return max((len(one.label) for one in rows), default=0)


def _lines(card: Card) -> Iterator[str]:
    yield shown_line(f"{card.title}: {card.badge}")
    yield from (f"WARNING: {shown_line(warning)}" for warning in card.warnings)
    yield ""
    wide = width(card.rows)
    for one in card.rows:
        for position, line in enumerate(one.lines or ("",)):
            yield f"{'' if position else shown_line(one.label):<{wide}}  {shown_line(line)}"
    if card.commands:
        yield ""
        wide = max(len(what) for what, _ in card.commands)
        yield from (f"{shown_line(what):<{wide}}  {shown_line(command)}" for what, command in card.commands)
