"""Read YAML strictly, as values that JSON has: the core schema of YAML 1.2, one document, no tags, no key twice.

`no` and `on` are texts here, as YAML has read them since 2009; a number with a fraction is exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import yaml

from agent_image.contract import HOOK_FILE_BYTES
from agent_image.errors import SettingsError

NODES: Final = 20_000
"""Values of a document, those that aliases repeat counted each time."""
DEPTH: Final = 32
"""Levels of a document."""
_KEY_LIMIT: Final = 200
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")
_BASED: Final = re.compile(r"0o[0-7]{1,18}|0x[0-9a-fA-F]{1,15}")
_DECIMAL: Final = re.compile(r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_EMPTY: Final = "is empty; allowed: a YAML document"
_STAR: Final = 'allowed: in quotes, a text that begins with *, as in matcher: "*"'
_HINTS: Final = (
    ("'\\t'", "a tab stands outside of quotes; allowed: spaces"),
    ("scanning an alias", f"an anchor has no such name; {_STAR}"),
)


def read_yaml(text: bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    """Read the one document of a file.

    Raises:
        SettingsError: with what is wrong, and the line and column.
    """
    if len(text) > HOOK_FILE_BYTES:
        raise SettingsError([f"has {len(text):,} bytes; allowed: {HOOK_FILE_BYTES:,} or fewer"])
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        raise SettingsError([f"is no UTF-8 at byte {error.start:,}; allowed: a text in UTF-8"]) from None
    try:
        return _Document(decoded).value()
    except yaml.YAMLError as error:
        raise SettingsError([_said(error)]) from None
    except (ValueError, OverflowError):
        # The library turns digits into a character, or into a version, and looks at neither.
        raise SettingsError(["holds digits that stand for no character or version; allowed: a YAML document"]) from None


@dataclass(frozen=True, slots=True)
class _Anchored:
    value: Any
    nodes: int
    height: int


class _Document:
    """Read a document event by event: no more of it is held than it may have."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._anchors: dict[str, _Anchored] = {}
        self._nodes = 0
        self._deepest = 0
        self._faults: list[str] = []

    def value(self) -> Any:  # noqa: ANN401 - JSON of any shape
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            raise SettingsError([_EMPTY])
        value = self._node(next(self._events), "", 1)
        next(self._events)
        if not isinstance(after := next(self._events), yaml.StreamEndEvent):
            raise SettingsError([f"{_at(after)}: a second document begins; allowed: one"])
        if self._faults:
            raise SettingsError(self._faults)
        if value is None:
            raise SettingsError([_EMPTY])
        return value

    def _node(self, event: Any, path: str, depth: int) -> Any:  # noqa: ANN401 - the same
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth)
        nodes, outer, self._deepest = self._nodes, self._deepest, 0
        self._count(event, 1, depth)
        if event.tag is not None:
            self._fault(event, f"{path or 'the document'} has a tag; allowed: values without tags")
        match event:
            case yaml.MappingStartEvent():
                value: Any = self._mapping(path, depth)
            case yaml.SequenceStartEvent():
                value = self._sequence(path, depth)
            case _:
                value = _scalar(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, self._nodes - nodes, self._deepest - depth)
        self._deepest = max(outer, self._deepest)
        return value

    def _alias(self, event: Any, depth: int) -> Any:  # noqa: ANN401 - the same
        if event.anchor not in self._anchors:
            raise SettingsError([f"{_at(event)}: no anchor of this name stands before; {_STAR}"])
        anchored = self._anchors[event.anchor]
        self._count(event, anchored.nodes, depth + anchored.height)
        return anchored.value

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, path, depth + 1)
            known = isinstance(key, str) and 0 < len(key) <= _KEY_LIMIT and key.isprintable()
            if not known:
                self._fault(event, f"a key of {path or 'the document'} is no name; allowed: a short text")
            inner = f"{path}.{key}" if path else str(key)
            value = self._node(next(self._events), inner if known else path, depth + 1)
            if known and key in found:
                self._fault(event, f"{inner} stands twice; allowed: once")
            if known:
                found[key] = value
        return found

    def _sequence(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._node(event, f"{path}[{len(found)}]", depth + 1))
        return found

    def _count(self, event: Any, nodes: int, depth: int) -> None:  # noqa: ANN401 - an event of the parser
        self._nodes += nodes
        self._deepest = max(self._deepest, depth)
        if self._nodes > NODES:
            raise SettingsError([f"{_at(event)}: more than {NODES:,} values; allowed: fewer"])
        if depth > DEPTH:
            raise SettingsError([f"{_at(event)}: more than {DEPTH} levels; allowed: fewer"])

    def _fault(self, event: Any, what: str) -> None:  # noqa: ANN401 - the same
        self._faults.append(f"{_at(event)}: {what}")


def _scalar(event: Any) -> Any:  # noqa: ANN401 - one of them in, JSON out
    text: str = event.value
    if not event.implicit[0]:
        # It stands in quotes, or as a block.
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    return Decimal(text) if _DECIMAL.fullmatch(text) else text


def _said(error: Any) -> str:  # noqa: ANN401 - the library's errors
    if not isinstance(error, yaml.MarkedYAMLError):
        return f"holds a character that YAML does not have, at position {error.position:,}; allowed: printable text"
    said = " ".join(filter(None, (error.context, error.problem)))
    for sign, hint in _HINTS:
        if sign in said:
            return f"{_line(error.problem_mark)}: {hint}"
    return f"{_line(error.problem_mark)}: is no YAML, {error.problem}; allowed: a YAML document"


def _at(event: Any) -> str:  # noqa: ANN401 - an event of the parser
    return _line(event.start_mark)


def _line(mark: Any) -> str:  # noqa: ANN401 - the library's marks
    return f"line {mark.line + 1}, column {mark.column + 1}"
