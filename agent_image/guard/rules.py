"""Say what one tool may do alone: its zone, who is asked, what it costs, and which arguments make a call red."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from agent_image.contract import Level, Zone

Scalar = str | bool | int | Decimal
"""What a rule compares with."""
EACH: Final = "*"
"""The step of a path that stands for each element of a list."""
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Rule:
    """Make a call red by one of its arguments. What cannot be compared is red: it is absent, or of another type.

    Attributes:
        argument: its path: `amount`, `order.total`, `to.*.address`.
        over: red above this number.
        equals: red if it is this, however it is spelt.
        outside: red unless it is exactly one of these.
    """

    argument: str
    over: Decimal | None = None
    equals: Scalar | None = None
    outside: tuple[Scalar, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a rule that says nothing, or two things.

        Raises:
            ValueError: with what is wrong.
        """
        if not is_path(self.argument):
            message = f"{self.argument!r} is no path of an argument"
            raise ValueError(message)
        if sum(one is not None for one in (self.over, self.equals, self.outside)) != 1:
            message = f"a rule over {self.argument!r} has one of over, equals and outside"
            raise ValueError(message)
        if self.over is not None and _number(self.over) is None:
            message = f"a rule over {self.argument!r} needs a finite number"
            raise ValueError(message)

    @property
    def code(self) -> str:
        """Name the rule as a reason."""
        return f"red_when:{self.argument}"

    def holds(self, arguments: object) -> bool:
        """Tell whether these arguments make the call red."""
        found = list(_at(arguments, self.argument.split(".")))
        return not found or any(self._is_red(value) for value in found)

    def _is_red(self, value: object) -> bool:
        if self.over is not None:
            number = _number(value)
            return number is None or number > self.over
        if self.outside is not None:
            return _exact(value) not in {_exact(one) for one in self.outside}
        # A tool may take "true" for true and "DELETE" for "delete": what is not surely another value is this one.
        kind, loose = _exact(_loose(value))
        return (kind, loose) == _exact(_loose(self.equals)) or kind != _exact(self.equals)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule:
    """Hold the rules of one tool.

    Attributes:
        zone: what it may do alone.
        level: how people supervise it; None leaves that to the zone: green and yellow run, red is asked and steered.
        price_usd: what one call costs, whoever charges it.
        red_when: what makes a call red whatever the zone.
        poll: it may answer the same many times, `min_interval_seconds` apart.
        volatile: arguments that do not make a call another one, such as a nonce.
        idempotent: it honours the idempotency key: a second run has no second effect.
        notify: somebody is told of each call afterwards.
        settle: leaves out of a text that it answers what makes the same answer look like another, such as a number.
        classified: somebody said which zone it is in.
    """

    zone: Zone
    level: Level | None = None
    price_usd: Decimal = Decimal(0)
    red_when: tuple[Rule, ...] = ()
    poll: bool = False
    min_interval_seconds: int = 0
    volatile: tuple[str, ...] = ()
    idempotent: bool = False
    notify: bool = False
    # No part of the policy: it says what is seen as a circle, not what may run.
    settle: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    classified: bool = True

    def __post_init__(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            ValueError: with what is wrong.
        """
        message = None
        if self.zone is Zone.RED and self.level is Level.NOTIFY:
            message = "a red tool is asked for before it runs: level 2 or 3"
        elif not isinstance(self.price_usd, Decimal) or not self.price_usd.is_finite() or self.price_usd < 0:
            message = "the price of a call is a Decimal, 0 or more"
        elif self.min_interval_seconds < 0:
            message = "the interval between two calls is 0 or more"
        if message:
            raise ValueError(message)

    def level_of(self, zone: Zone) -> Level:
        """Give the level of a call that turned out to be of a zone."""
        if zone is Zone.RED and self.level in {None, Level.NOTIFY}:
            return Level.STEER
        return self.level or Level.NOTIFY


UNKNOWN: Final = ToolRule(zone=Zone.RED, classified=False)
"""The rules of a tool that nobody classified."""


def is_path(text: str) -> bool:
    """Tell whether a text is the path of an argument."""
    return all(text.split("."))


def _at(value: object, path: Sequence[str]) -> Iterator[object]:
    if not path:
        yield value
        return
    step, *rest = path
    match value:
        case Mapping() if step in value:
            yield from _at(value[step], rest)
        case list() | tuple() if step == EACH:
            for one in value:
                yield from _at(one, rest)
        case _:
            yield _ABSENT


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    # The digits that the model wrote, not the binary fraction next to them.
    number = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    return number if number.is_finite() else None


def _exact(value: object) -> tuple[str, object]:
    match value:
        case bool():
            return "truth", value
        case str():
            return "text", value
        case _:
            number = _number(value)
            return ("other", None) if number is None else ("number", number)


def _loose(value: object) -> object:
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split()) if isinstance(value, str) else value
