"""Show text from elsewhere on a terminal: what could steer it is spelt out instead."""

from __future__ import annotations

from typing import Final
from unicodedata import category

_LINES: Final = frozenset("\n\t")
# They join letters and emoji, and move nothing.
_JOINERS: Final = frozenset("\u200c\u200d")


def shown(text: str) -> str:
    r"""Spell out control, direction and other characters that print nothing, such as `\x1b`.

    Each character is judged alone, so a text may come in pieces.
    """
    return "".join(
        character if _is_harmless(character) else character.encode("unicode_escape").decode() for character in text
    )


def shown_line(text: str) -> str:
    r"""Spell out line ends and tabs as well: a text that stands in one line cannot begin another."""
    return shown(text).replace("\n", "\\n").replace("\t", "\\t")


def shown_json(text: str) -> str:
    r"""Spell them out in a JSON text, as `\u001b`: it stays JSON and means the same."""
    # A carriage return can only stand between values; within a string it is escaped already.
    return "".join(
        character if _is_harmless(character) else _escaped(character) for character in text if character != "\r"
    )


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in _LINES or character in _JOINERS or category(character) == "Zs"


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
