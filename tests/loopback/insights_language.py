"""Read and run the part of the Logs Insights query language that the console writes; the rest is malformed.

A command, a field, an operator or a quote that is not known is refused, so that a typo fails a test and is no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

Fields = Mapping[str, Any]
"""The fields of one line, by their flat names."""
Condition = Callable[[Fields], bool]

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<quoted>`[^`\n]+`)
    | (?P<number>\d+)
    | (?P<name>[@A-Za-z_][@A-Za-z0-9_.]*)
    | (?P<sign>!=|>=|<=|[=<>|,()\[\]])
    )""",
    re.VERBOSE,
)
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
}
_KNOWN: Final = ("@timestamp", "@message", "@ptr", "@logStream", "@log")


class MalformedQueryError(Exception):
    """Refuse a query."""


@dataclass(frozen=True)
class Parsed:
    """Hold a query.

    Attributes:
        shown: the fields of a row.
        conditions: all must hold.
        indexed: the conditions of `filterIndex`, each a field and the values it may have.
        descending: the newest line comes first, as where no order is named.
    """

    shown: tuple[str, ...]
    conditions: tuple[Condition, ...]
    indexed: tuple[tuple[str, tuple[str, ...]], ...]
    descending: bool
    limit: int | None


def parse(text: str) -> Parsed:
    """Read a query.

    Raises:
        MalformedQueryError: it is none, or none that the console should write.
    """
    return _Reader(text).query()


@lru_cache(maxsize=50_000)
def flat(message: str) -> Fields:
    """Give the fields that Logs Insights discovers in a line of JSON; names of nested ones are joined by dots."""
    try:
        document = json.loads(message)
    except ValueError:
        document = None
    return MappingProxyType(dict(_flat(document, "")) if isinstance(document, dict) else {})


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _flat(member, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for position, member in enumerate(value):
            yield from _flat(member, f"{name}.{position}")
    elif value is not None:
        yield name, value


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = list(self._split(text))
        self._shown: tuple[str, ...] = ()
        self._conditions: list[Condition] = []
        self._indexed: list[tuple[str, tuple[str, ...]]] = []
        self._descending = True
        self._limit: int | None = None

    def query(self) -> Parsed:
        self._command()
        while self._tokens:
            self._expect("|")
            self._command()
        return Parsed(self._shown, tuple(self._conditions), tuple(self._indexed), self._descending, self._limit)

    @staticmethod
    def _split(text: str) -> Iterator[tuple[str, str]]:
        position, end = 0, len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if found is None or found.lastgroup is None:
                message = f"unexpected symbol at {position}: {text[position : position + 20]!r}"
                raise MalformedQueryError(message)
            yield found.lastgroup, found[found.lastgroup]
            position = found.end()

    def _command(self) -> None:
        match self._word():
            case "fields":
                self._shown = tuple(self._listed(self._field))
                if unknown := [field for field in self._shown if field not in _KNOWN]:
                    message = f"no field of every line: {unknown}"
                    raise MalformedQueryError(message)
            case "filter":
                self._conditions.append(self._either())
            case "filterIndex":
                field, values = self._index()
                self._indexed.append((field, values))
            case "sort":
                if self._field() != "@timestamp":
                    message = "this server sorts by @timestamp alone"
                    raise MalformedQueryError(message)
                self._descending = self._word() == "desc"
            case "limit":
                self._limit = int(self._take("number"))
            case other:
                message = f"unknown command {other!r}"
                raise MalformedQueryError(message)

    def _index(self) -> tuple[str, tuple[str, ...]]:
        field = self._field()
        if self._peek() == "=":
            self._expect("=")
            return field, (self._string(),)
        self._expect("in")
        return field, tuple(self._strings())

    def _either(self) -> Condition:
        found = [self._both()]
        while self._peek() == "or":
            self._expect("or")
            found.append(self._both())
        return lambda fields: any(condition(fields) for condition in found)

    def _both(self) -> Condition:
        found = [self._one()]
        while self._peek() == "and":
            self._expect("and")
            found.append(self._one())
        return lambda fields: all(condition(fields) for condition in found)

    def _one(self) -> Condition:
        match self._peek():
            case "not":
                self._expect("not")
                negated = self._one()
                return lambda fields: not negated(fields)
            case "(":
                self._expect("(")
                inner = self._either()
                self._expect(")")
                return inner
            case "ispresent":
                field = self._called()
                return lambda fields: field in fields
            case "toMillis":
                field = self._called()
                compared, number = _COMPARISONS[self._sign()], int(self._take("number"))
                return lambda fields: compared(fields[field], number)
        return self._compared()

    def _called(self) -> str:
        self._word()
        self._expect("(")
        field = self._field()
        self._expect(")")
        return field

    def _compared(self) -> Condition:
        field = self._field()
        match self._peek():
            case "in":
                self._expect("in")
                values = set(self._strings())
                return lambda fields: fields.get(field) in values
            case "like":
                self._expect("like")
                part = self._string()
                return lambda fields: part in str(fields.get(field, ""))
        sign, text = self._sign(), self._string()
        if sign not in {"=", "!="}:
            message = f"{sign} stands before no text here"
            raise MalformedQueryError(message)
        return lambda fields: _COMPARISONS[sign](fields.get(field), text)

    def _listed(self, read: Callable[[], str]) -> Iterator[str]:
        yield read()
        while self._peek() == ",":
            self._expect(",")
            yield read()

    def _strings(self) -> Sequence[str]:
        self._expect("[")
        found = list(self._listed(self._string))
        self._expect("]")
        return found

    def _string(self) -> str:
        return re.sub(r"\\(.)", r"\1", self._take("string")[1:-1])

    def _field(self) -> str:
        kind = self._tokens[0][0] if self._tokens else ""
        return self._take("quoted")[1:-1] if kind == "quoted" else self._take("name")

    def _word(self) -> str:
        return self._take("name")

    def _sign(self) -> str:
        sign = self._take("sign")
        if sign not in _COMPARISONS:
            message = f"{sign!r} compares nothing"
            raise MalformedQueryError(message)
        return sign

    def _peek(self) -> str:
        return self._tokens[0][1] if self._tokens else ""

    def _expect(self, token: str) -> None:
        if self._peek() != token:
            message = f"{token!r} is expected, {self._peek()!r} found"
            raise MalformedQueryError(message)
        self._tokens.pop(0)

    def _take(self, kind: str) -> str:
        if not self._tokens or self._tokens[0][0] != kind:
            message = f"a {kind} is expected, {self._peek()!r} found"
            raise MalformedQueryError(message)
        return self._tokens.pop(0)[1]
