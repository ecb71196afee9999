"""Check values against what is allowed and collect every fault, so that one run shows them all."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeVar

from agent_image.contract import Quantity
from cost_model.errors import UsageError

CEILING: Final = Decimal(10**15)
"""Above this a number is a slip of the hand, and exact arithmetic would run out of digits."""
FLOOR: Final = Decimal("1e-12")
_SHOWN: Final = 60

Name = TypeVar("Name", bound=StrEnum)


@dataclass(slots=True)
class Faults:
    """Collect the faults of one source; a check returns None where it found one."""

    source: str
    lines: list[str] = field(default_factory=list)

    def add(self, path: str, value: object, allowed: str) -> None:
        """Record that the value at a key path is not what is allowed there; None is a key left out."""
        what = "missing" if value is None else f"{shown(value)} is not allowed"
        self.lines.append(f"{self.source}: {path}: {what}; allowed: {allowed}")

    def raise_if_any(self) -> None:
        """Refuse the source with all its faults."""
        if self.lines:
            raise UsageError(*self.lines)

    def unknown_keys(self, path: str, table: Mapping[str, object], allowed: Iterable[str]) -> None:
        """Record each key that nobody reads, with the nearest one that somebody does; the path "" is the document's."""
        names = tuple(allowed)
        for key in table.keys() - set(names):
            near = difflib.get_close_matches(key, names, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            where = f"{path}.{key}" if path else key
            self.lines.append(f"{self.source}: {where}: unknown key{hint}; allowed: {', '.join(names)}")
        self.lines.sort()

    def table(self, path: str, value: object) -> Mapping[str, object]:
        """Return the value if it is a table, else an empty one."""
        if isinstance(value, dict):
            return value
        self.add(path, value, "a table")
        return {}

    def number(self, path: str, quantity: Quantity, value: object) -> Decimal | None:
        """Return the value as an exact number within the quantity's range."""
        number = exact(value)
        if number is not None and fits(quantity, number):
            return number
        self.add(path, value, allowed_range(quantity))
        return None

    def optional_number(self, path: str, quantity: Quantity, table: Mapping[str, object]) -> Decimal | None:
        """Return the number under the quantity's key; an absent key is unknown, not a fault."""
        if quantity.key not in table:
            return None
        return self.number(f"{path}.{quantity.key}", quantity, table[quantity.key])

    def flag(self, path: str, value: object) -> bool | None:
        """Return the value if it is a truth value."""
        if isinstance(value, bool):
            return value
        self.add(path, value, "true or false")
        return None

    def one_of(self, path: str, names: type[Name], value: object) -> Name | None:
        """Return the name that the value is; the nearest one is suggested for a slip."""
        allowed = [str(name.value) for name in names]
        if value in allowed:
            return names(value)
        near = difflib.get_close_matches(value, allowed, n=1) if isinstance(value, str) else []
        hint = f'; did you mean "{near[0]}"?' if near else ""
        self.add(path, value, f"{' or '.join(allowed)}{hint}")
        return None

    def text(self, path: str, value: object) -> str | None:
        """Return the value if it is text with something in it."""
        if isinstance(value, str) and value.strip():
            return value
        self.add(path, value, "a text that is not empty")
        return None


def exact(value: object) -> Decimal | None:
    """Return a finite number exactly; a truth value or a text is none."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    if not number.is_finite():
        return None
    return number or Decimal(0)


def allowed_range(quantity: Quantity) -> str:
    """Say in words which numbers a quantity takes, and their unit."""
    kind = "a whole number" if quantity.whole else "a number"
    return f"{kind} from {quantity.minimum:,} to {_maximum(quantity):,} ({quantity.unit})"


def shown(value: object) -> str:
    """Show a value as its file has it, cut to a readable length."""
    text = f'"{value}"' if isinstance(value, str) else str(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _maximum(quantity: Quantity) -> Decimal:
    return CEILING if quantity.maximum is None else quantity.maximum


def fits(quantity: Quantity, number: Decimal) -> bool:
    """Tell whether a number is in the quantity's range, and whole where it must be."""
    if not quantity.minimum <= number <= _maximum(quantity):
        return False
    if number and number < FLOOR:
        return False
    return not quantity.whole or number == number.to_integral_value()
