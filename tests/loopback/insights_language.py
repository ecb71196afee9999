"""Read and run the part of the Logs Insights query language that we write; the rest is malformed.

A command, a field, an operator or a quote that is not known is refused, so that a typo fails a test and is no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeVar

from tests.loopback.insights_counting import AGGREGATES, Column, Counting, Fields, pct
from tests.loopback.insights_fields import KNOWN

Condition = Callable[[Fields], bool]
Part = TypeVar("Part")

_TOKEN: Final = re.compile(
    r"""(?:\s|\#[^\n]*\n)*(?:
      (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<quoted>`[^`\n]+`)
    | (?P<number>\d+)
    | (?P<name>[@A-Za-z_][@A-Za-z0-9_.]*)
    | (?P<sign>!=|>=|<=|[=<>|,()\[\]*/])
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
_ORDER: Final = ("fields", "filterIndex", "filter", "stats", "sort", "limit")
"""Commands stand in this order here; both kinds of filters may change places."""


class MalformedQueryError(Exception):
    """Refuse a query."""


@dataclass(frozen=True)
class Parsed:
    """Hold a query.

    Attributes:
        columns: what is shown of a line, or computed of it.
        conditions: all must hold.
        indexed: the conditions of `filterIndex`, each a field and the values it may have.
        counting: what is told of groups of lines; None lists lines.
        order: what rows are sorted by.
        descending: the greatest comes first: the newest line, where no order is named.
    """

    columns: tuple[Column, ...]
    conditions: tuple[Condition, ...]
    indexed: tuple[tuple[str, tuple[str, ...]], ...]
    counting: Counting | None
    order: str
    descending: bool
    limit: int | None

    @property
    def shown(self) -> tuple[str, ...]:
        """Name the columns of a row."""
        if self.counting is None:
            return tuple(column.name for column in self.columns)
        return (*self.counting.by, *(name for name, _ in self.counting.told))

    def computed(self, line: Fields) -> Fields:
        """Give a line's fields and what is computed of them."""
        values = {column.name: column.value(line) for column in self.columns}
        return {**line, **{name: value for name, value in values.items() if value is not None}}

    def sorted(self, rows: Iterable[Fields]) -> list[Fields]:
        """Sort rows; those that lack the field come last."""
        having: list[Fields] = []
        lacking: list[Fields] = []
        for row in rows:
            (having if self.order in row else lacking).append(row)
        return [*sorted(having, key=lambda row: row[self.order], reverse=self.descending), *lacking]


def parse(text: str) -> Parsed:
    """Read a query.

    Raises:
        MalformedQueryError: it is none, or none that we should write.
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
        self._columns: list[Column] = []
        self._conditions: list[Condition] = []
        self._indexed: list[tuple[str, tuple[str, ...]]] = []
        self._counting: Counting | None = None
        self._order = "@timestamp"
        self._descending = True
        self._limit: int | None = None
        self._known = KNOWN
        self._reached = 0

    def query(self) -> Parsed:
        self._command()
        while self._tokens:
            self._expect("|")
            self._command()
        return Parsed(
            tuple(self._columns),
            tuple(self._conditions),
            tuple(self._indexed),
            self._counting,
            self._order,
            self._descending,
            self._limit,
        )

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
        command = self._word()
        self._in_order(command)
        match command:
            case "fields":
                self._columns = list(self._listed(self._column))
                self._known = self._known | {column.name for column in self._columns}
            case "filter":
                self._conditions.append(self._either())
            case "filterIndex":
                self._indexed.append(self._index())
            case "stats":
                self._counting = self._counted()
                # What stats does not name is gone after it.
                self._known = self._counting.names
                self._order = ""
            case "sort":
                self._order = self._field()
                self._descending = self._direction() == "desc"
            case "limit":
                self._limit = int(self._take("number"))

    def _in_order(self, command: str) -> None:
        if command not in _ORDER:
            message = f"unknown command {command!r}"
            raise MalformedQueryError(message)
        place = _ORDER.index(command) - (command == "filter")
        if place < self._reached:
            message = f"{command} stands too late for this server"
            raise MalformedQueryError(message)
        # Filters may come one after the other, everything else but once.
        self._reached = place if command in {"filter", "filterIndex"} else place + 1

    def _direction(self) -> str:
        direction = self._word()
        if direction not in {"asc", "desc"}:
            message = f"{direction!r} is no direction"
            raise MalformedQueryError(message)
        return direction

    def _column(self) -> Column:
        if self._peek() == "coalesce":
            self._word()
            self._expect("(")
            names = tuple(self._listed(self._field))
            self._expect(")")
            return Column(self._alias(), lambda line: next((line[name] for name in names if name in line), None))
        field = self._field()
        if self._peek() != "/":
            return Column(field, lambda line: line.get(field))
        self._expect("/")
        divisor = int(self._take("number"))
        return Column(self._alias(), lambda line: line[field] / divisor if field in line else None)

    def _alias(self) -> str:
        self._expect("as")
        return self._take("name")

    def _counted(self) -> Counting:
        told = tuple(self._listed(self._aggregate))
        self._expect("by")
        return Counting(told, tuple(self._listed(self._field)))

    def _aggregate(self) -> tuple[str, Callable[[Sequence[Fields]], Any]]:
        function = self._word()
        self._expect("(")
        if function == "pct":
            field = self._field()
            self._expect(",")
            tell = pct(field, int(self._take("number")))
        elif function in AGGREGATES:
            every = function == "count" and self._peek() == "*"
            tell = AGGREGATES[function](self._take("sign") if every else self._field())
        else:
            message = f"{function!r} is no function of stats here"
            raise MalformedQueryError(message)
        self._expect(")")
        return self._alias(), tell

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

    def _listed(self, read: Callable[[], Part]) -> Iterator[Part]:
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
        name = self._take("quoted")[1:-1] if kind == "quoted" else self._take("name")
        if name not in self._known:
            message = f"no line has a field {name!r}"
            raise MalformedQueryError(message)
        return name

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
