"""Read a table of the settings document value by value, and note every fault on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any, Final, TypeVar

from agent_image.contract import Quantity
from agent_image.guard.rules import Scalar

E = TypeVar("E", bound=Enum)

_SHOWN: Final = 60
_SCALAR: Final = "a text, a number, true or false"
_MONEY: Final = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")


class Table:
    """Hold one table, where it stands, and the faults of the document it is part of."""

    def __init__(self, path: str, values: Mapping[str, Any], faults: list[str]) -> None:
        """Take the table, and the list that faults are added to."""
        self._path = path
        self._values = values
        self._faults = faults

    def only(self, allowed: type[StrEnum]) -> None:
        """Note each key that nobody knows."""
        for key in self._values:
            if key not in set(allowed):
                self._faults.append(f"{self._path}.{key} is no setting; allowed: {', '.join(allowed)}")

    def number(self, quantity: Quantity) -> Decimal | None:
        """Read a number within its range; money may be text, and is exact."""
        value = self._values.get(quantity.key)
        if value is None:
            if quantity.required:
                self.fault(quantity.key, None, _allowed(quantity))
            return quantity.default
        number = _decimal(value, text=not quantity.whole)
        if number is None or not _within(number, quantity):
            self.fault(quantity.key, value, _allowed(quantity))
            return quantity.default
        return number

    def whole(self, quantity: Quantity) -> int:
        """Read a whole number within its range; 0 where it is left out and has no default."""
        return int(self.number(quantity) or 0)

    def one_of(self, key: str, kind: type[E]) -> E | None:
        """Read a value of an enumeration."""
        value = self._values.get(key)
        found = next((one for one in kind if type(value) is type(one.value) and value == one.value), None)
        if value is not None and found is None:
            self.fault(key, value, ", ".join(str(one.value) for one in kind))
        return found

    def flag(self, key: str) -> bool | None:
        """Read true or false."""
        value = self._values.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.fault(key, value, "true or false")
        return None

    def text(self, key: str, allowed: str, holds: Callable[[str], bool] = bool, *, secret: bool = False) -> str | None:
        """Read a text that is not blank and of which something holds; a secret one is never shown."""
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, str) and value.strip() and holds(value):
            return value
        self.fault(key, None if secret else value, allowed, problem="is not what it may be" if secret else None)
        return None

    def required_text(self, key: str, allowed: str, holds: Callable[[str], bool] = bool) -> str:
        """Read a text that has to be there."""
        if self._values.get(key) is None:
            self.fault(key, None, allowed)
        return self.text(key, allowed, holds) or ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts."""
        value = self._values.get(key)
        if value is None:
            return ()
        if isinstance(value, list | tuple) and all(isinstance(one, str) and one.strip() for one in value):
            return tuple(value)
        self.fault(key, value, "a list of texts")
        return ()

    def scalar(self, key: str) -> Scalar | None:
        """Read a text, a number, or true or false."""
        value = self._values.get(key)
        if value is not None and not _is_scalar(value):
            self.fault(key, value, _SCALAR)
            return None
        return value

    def scalars(self, key: str) -> tuple[Scalar, ...] | None:
        """Read a list of texts, numbers, true and false."""
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, list | tuple) and all(_is_scalar(one) for one in value):
            return tuple(value)
        self.fault(key, value, f"a list; each {_SCALAR}")
        return None

    def has(self, key: str) -> bool:
        """Tell whether something stands under a key."""
        return self._values.get(key) is not None

    def table(self, key: str) -> Table:
        """Go into a table; one that is left out is empty."""
        value = self._values.get(key)
        if value is not None and not isinstance(value, Mapping):
            self.fault(key, value, "an object")
        return Table(f"{self._path}.{key}", value if isinstance(value, Mapping) else {}, self._faults)

    def tables(self, key: str) -> Iterator[tuple[str, Table]]:
        """Go through a table of tables, by name."""
        value = self._values.get(key)
        if value is None:
            return
        if not isinstance(value, Mapping):
            self.fault(key, value, "an object of objects, by name")
            return
        for name, inner in value.items():
            if isinstance(inner, Mapping):
                yield name, Table(f"{self._path}.{key}.{name}", inner, self._faults)
            else:
                self._faults.append(f"{self._path}.{key}.{name} is {_shown(inner)}; allowed: an object")

    def rows(self, key: str) -> Iterator[Table]:
        """Go through a list of tables."""
        value = self._values.get(key)
        if value is None:
            return
        if not isinstance(value, list | tuple):
            self.fault(key, value, "a list of objects")
            return
        for position, inner in enumerate(value):
            if isinstance(inner, Mapping):
                yield Table(f"{self._path}.{key}[{position}]", inner, self._faults)
            else:
                self._faults.append(f"{self._path}.{key}[{position}] is {_shown(inner)}; allowed: an object")

    def fault(self, key: str, value: object, allowed: str, *, problem: str | None = None) -> None:
        """Note what is wrong with a value."""
        said = problem or ("is missing" if value is None else f"is {_shown(value)}")
        self._faults.append(f"{self._path}.{key} {said}; allowed: {allowed}")


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | bool | int) or (isinstance(value, Decimal) and value.is_finite())


def _decimal(value: object, *, text: bool) -> Decimal | None:
    match value:
        case bool():
            return None
        case int() | Decimal():
            number = Decimal(value)
            return number if number.is_finite() else None
        case str() if text and _MONEY.fullmatch(value):
            return Decimal(value)
        case _:
            # A float has lost what was written.
            return None


def _within(number: Decimal, quantity: Quantity) -> bool:
    if quantity.whole and number != number.to_integral_value():
        return False
    return quantity.minimum <= number and (quantity.maximum is None or number <= quantity.maximum)


def _allowed(quantity: Quantity) -> str:
    span = (
        f"{quantity.minimum:f} or more" if quantity.maximum is None else f"{quantity.minimum:f} to {quantity.maximum:f}"
    )
    return f"a whole number, {span}" if quantity.whole else f"a number as text or decimal, {span}"


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
