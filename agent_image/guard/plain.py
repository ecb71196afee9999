"""Turn any value into plain JSON: whatever a tool returns, its event is written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from agent_image.digest import Digest
from agent_image.guard.moments import written

DEPTH: Final = 32
"""Levels of a value that are written; what lies deeper is named by its type."""
NODES: Final = 100_000
"""Values within one value that are written; one that shares its parts could have more than a machine holds."""
_INTEGER_BITS: Final = 4_096
# Legal in JSON, but not in a terminal or in whatever splits lines: C1 controls, line separators, bidirectional marks.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


# One encoder each: json.dumps would make one a call.
_AS_IT_IS: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_SORTED: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False, sort_keys=True).encode


def plain(value: Any) -> Any:  # noqa: ANN401 - anything at all, which is the point
    """Give a value that JSON has: texts, numbers, true, false, null, lists and objects. Never fails."""
    return _Plain().of(value, 0)


def text_of(value: Any) -> str:  # noqa: ANN401 - the same
    """Give a text as it is, and any other value as compact JSON with sorted keys."""
    return clean(value) if isinstance(value, str) else compact(plain(value), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Words:
    """Hold what may be anybody's words, read once for all who write them in their own ways.

    Attributes:
        plain: as JSON has them.
        whole: as one text, see `text_of`.
        size: the bytes of that.
    """

    plain: Any
    whole: str
    size: int
    _digests: dict[Digest, str] = field(default_factory=dict, compare=False)

    def digest(self, digest: Digest) -> str:
        """Digest the whole, once under a key."""
        if digest not in self._digests:
            self._digests[digest] = digest.of(self.whole)
        return self._digests[digest]


def words_of(value: Any) -> Words:  # noqa: ANN401 - the same
    """Read a value as words."""
    shown = plain(value)
    whole = shown if isinstance(value, str) else compact(shown, sort_keys=True)
    return Words(shown, whole, len(whole.encode()))


def compact(value: Any, *, sort_keys: bool = False) -> str:  # noqa: ANN401 - plain JSON
    """Write plain JSON without white space, on one line that any terminal may show."""
    text = (_SORTED if sort_keys else _AS_IT_IS)(value)
    if text.isascii() and "\x7f" not in text:
        return text
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def clean(text: str) -> str:
    """Replace what UTF-8 cannot hold."""
    return str(text) if text.isascii() else _SURROGATES.sub("\ufffd", str(text))


class _Plain:
    """Walk one value, counting."""

    def __init__(self) -> None:
        self._left = NODES

    def of(self, value: Any, depth: int) -> Any:  # noqa: ANN401 - the same
        self._left -= 1
        if depth > DEPTH:
            return _named(value)
        if type(value) is str:
            return clean(value)
        try:
            return self._plain(value, depth)
        except Exception:  # noqa: BLE001 - an object may raise whatever it likes when it is looked at
            return _named(value)

    def _plain(self, value: Any, depth: int) -> Any:  # noqa: ANN401 - the same
        match value:
            case Enum():
                return self.of(value.value, depth + 1)
            case dict() | Mapping():
                return {self._key(key): self.of(one, depth + 1) for key, one in self._some(value.items())}
            case list() | tuple():
                return [self.of(one, depth + 1) for one in self._some(value)]
            case AbstractSet():
                parts = [self.of(one, depth + 1) for one in self._some(value)]
                return sorted(parts, key=lambda part: compact(part, sort_keys=True))
            case _ if is_dataclass(value) and not isinstance(value, type):
                return {one.name: self.of(getattr(value, one.name), depth + 1) for one in self._some(fields(value))}
            case _:
                return _single(value)

    def _some(self, values: Any) -> Any:  # noqa: ANN401 - any iterable
        for value in values:
            if self._left < 0:
                return
            yield value

    def _key(self, key: Any) -> str:  # noqa: ANN401 - the same
        text = self.of(key, DEPTH - 1)
        return text if isinstance(text, str) else compact(text)


def _single(value: Any) -> Any:  # noqa: ANN401, PLR0911 - one line for each type
    match value:
        case None | bool():
            return value
        case str():
            return clean(value)
        case int():
            return int(value) if value.bit_length() <= _INTEGER_BITS else _named(value)
        case float():
            return float(value) if math.isfinite(value) else str(float(value))
        case Decimal():
            return str(value)
        case bytes() | bytearray() | memoryview():
            return bytes(value).decode("utf-8", "replace")
        case datetime() if value.tzinfo is not None:
            return written(value)
        case date():
            # A moment without a zone is no moment: it stays what it was.
            return value.isoformat()
        case _:
            return _named(value)


def _named(value: object) -> str:
    """Name a value by its type: what an object says of itself may be anything."""
    return f"<{type(value).__name__}>"
