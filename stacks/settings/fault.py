"""Describe what is wrong in a settings file, so that all faults can be shown at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """Name one fault: the file, the key path, the value found, what is wrong and what is allowed."""

    file: str
    path: str
    problem: str
    value: str | None = None
    allowed: str | None = None

    def __str__(self) -> str:
        """Render the fault on one line, safe to print whatever the file held."""
        place = f"{self.file}: {self.path}" if self.path else self.file
        found = "" if self.value is None else f" = {self.value}"
        allowed = "" if self.allowed is None else f"; {self.allowed}"
        return _printable(f"{place}{found}: {self.problem}{allowed}")


class SettingsError(Exception):
    """Refuse the settings, with every fault of every file."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Keep the faults in the order of their files and key paths."""
        self.faults = tuple(sorted(set(faults), key=lambda fault: (fault.file, fault.path, str(fault))))
        count = len(self.faults)
        head = f"the settings have {count} {'fault' if count == 1 else 'faults'}, nothing was written:"
        super().__init__("\n".join([head, *(f"  {fault}" for fault in self.faults)]))


def nearest(word: str, known: Iterable[str]) -> str:
    """Suggest the known word nearest to an unknown one, or list them all."""
    words = sorted(known)
    close = get_close_matches(word, words, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"allowed: {', '.join(words)}"


def shown(value: object) -> str:
    """Show a value as it would stand in TOML, cut to a readable length."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        text = f'"{value}"' if isinstance(value, str) else str(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, tables nested as deep
        text = "(too long to show)"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_SHOWN = 80


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "�" for char in text)
