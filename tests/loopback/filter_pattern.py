"""Read and run filter patterns for JSON log events, as CloudWatch Logs documents them; the rest is malformed.

Braces around conditions; selectors such as `$.a.b`; `=` and `!=` with a text in quotes, in which `*` stands for
anything; comparisons with numbers; `IS TRUE`, `IS FALSE`, `IS NULL`, `NOT EXISTS`; `&&` before `||`; parentheses.
Lists, regular expressions and texts without quotes are left out: no pattern of ours has any. What the documents do not
settle, such as `!=` of a field that is not there, raises.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

LENGTH: Final = 1_024
"""Characters of a pattern at most (PutMetricFilter)."""
Event = Mapping[str, Any]
Condition = Callable[[Event], bool]
_MISSING: Final = object()
_NUMBERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}
_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<selector>\$(?:\.[A-Za-z0-9_-]+)+)
    | (?P<text>"[^"]*")
    | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)
    | (?P<word>[A-Z]+)
    | (?P<sign>&&|\|\||!=|>=|<=|[=<>(){}])
    )""",
    re.VERBOSE,
)


class MalformedPatternError(Exception):
    """Refuse a pattern."""


class UnsettledError(Exception):
    """Refuse to say what no document says."""


@dataclass(frozen=True)
class Pattern:
    """Hold a pattern that was read."""

    condition: Condition

    def matches(self, line: bytes) -> bool:
        """Tell whether a log event matches; one that is no JSON object does not."""
        event = _read(line)
        return event is not None and self.condition(event)


def parse(pattern: str) -> Pattern:
    """Read a pattern.

    Raises:
        MalformedPatternError: it is none of those that are described above.
    """
    if len(pattern) > LENGTH:
        message = f"{len(pattern)} characters, of {LENGTH}"
        raise MalformedPatternError(message)
    return Pattern(_Reader(_tokens(pattern)).whole())


def published(value: str, line: bytes) -> Decimal | None:
    """Give what a matching event adds to its metric: a number that is written there, or one of its fields."""
    if not value.startswith("$"):
        return Decimal(value)
    found = _at(_read(line) or {}, value)
    return found if isinstance(found, Decimal) else None


def _read(line: bytes) -> Event | None:
    try:
        event = json.loads(line, parse_int=Decimal, parse_float=Decimal)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def _at(event: Event, selector: str) -> Any:
    found: Any = event
    for key in selector.split(".")[1:]:
        found = found.get(key, _MISSING) if isinstance(found, dict) else _MISSING
    return found


def _tokens(pattern: str) -> list[tuple[str, str]]:
    tokens, position = [], 0
    text = pattern.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            message = f"nothing that is known at {text[position : position + 20]!r}"
            raise MalformedPatternError(message)
        tokens.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return tokens


class _Reader:
    """Read tokens, one after the other."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._next = 0

    def whole(self) -> Condition:
        self._expect("{")
        condition = self._either()
        self._expect("}")
        if self._next != len(self._tokens):
            message = f"something stands behind the pattern: {self._tokens[self._next][1]}"
            raise MalformedPatternError(message)
        return condition

    def _either(self) -> Condition:
        conditions = [self._all()]
        while self._takes("||"):
            conditions.append(self._all())
        return lambda event: any(condition(event) for condition in conditions)

    def _all(self) -> Condition:
        conditions = [self._one()]
        while self._takes("&&"):
            conditions.append(self._one())
        return lambda event: all(condition(event) for condition in conditions)

    def _one(self) -> Condition:
        if self._takes("("):
            condition = self._either()
            self._expect(")")
            return condition
        return self._comparison(self._kind("selector"))

    def _comparison(self, selector: str) -> Condition:
        kind, word = self._token()
        if kind == "word":
            return self._word(selector, word)
        if word not in _NUMBERS:
            message = f"{word} is no comparison"
            raise MalformedPatternError(message)
        kind, value = self._token()
        if kind == "number":
            return _of_number(selector, _NUMBERS[word], Decimal(value))
        if kind == "text" and word in {"=", "!="}:
            return _of_text(selector, value[1:-1], equal=word == "=")
        message = f"{word} takes no {value}"
        raise MalformedPatternError(message)

    def _word(self, selector: str, word: str) -> Condition:
        following = self._kind("word")
        match word, following:
            case "IS", "TRUE":
                return lambda event: _at(event, selector) is True
            case "IS", "FALSE":
                return lambda event: _at(event, selector) is False
            case "IS", "NULL":
                return lambda event: _at(event, selector) is None
            case "NOT", "EXISTS":
                return lambda event: _at(event, selector) is _MISSING
        message = f"{word} {following} is nothing that a field can be"
        raise MalformedPatternError(message)

    def _token(self) -> tuple[str, str]:
        if self._next == len(self._tokens):
            message = "the pattern ends too early"
            raise MalformedPatternError(message)
        self._next += 1
        return self._tokens[self._next - 1]

    def _kind(self, wanted: str) -> str:
        kind, text = self._token()
        if kind != wanted:
            message = f"a {wanted} belongs where {text} stands"
            raise MalformedPatternError(message)
        return text

    def _takes(self, sign: str) -> bool:
        if self._next < len(self._tokens) and self._tokens[self._next] == ("sign", sign):
            self._next += 1
            return True
        return False

    def _expect(self, sign: str) -> None:
        if self._token() != ("sign", sign):
            message = f"{sign} is missing"
            raise MalformedPatternError(message)


def _of_number(selector: str, compare: Callable[[Any, Any], bool], value: Decimal) -> Condition:
    def holds(event: Event) -> bool:
        found = _at(event, selector)
        return isinstance(found, Decimal) and compare(found, value)

    return holds


def _of_text(selector: str, value: str, *, equal: bool) -> Condition:
    wanted = re.compile(".*".join(re.escape(part) for part in value.split("*")), re.DOTALL)

    def holds(event: Event) -> bool:
        found = _at(event, selector)
        if not isinstance(found, str):
            if equal:
                return False
            message = f"{selector} is not there, and no document says whether it is unequal then"
            raise UnsettledError(message)
        return (wanted.fullmatch(found) is not None) is equal

    return holds
