"""Take out of a value what must not be kept, before it is kept: `[EMAIL:digest]` stands in its place.

The digest is keyed, so that equal values can be joined and none can be guessed. Fields go by their names first, then
texts by what they hold; a text that is JSON is read as JSON. What cannot be looked at is not shown. To redact what was
redacted changes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from agent_image.digest import Digest
from agent_image.guard.detectors import NUMBERS, Found, Kind, find
from agent_image.guard.detectors.names import kind_of, kind_of_pair

WITHHELD: Final = "[REDACTED]"
"""What stands for a value that could not be looked at."""
TEXT_LIMIT: Final = 100_000
"""Characters of one text that are looked at; of a longer one the beginning is shown."""
TOTAL_LIMIT: Final = 1_000_000
"""Characters of one value that are looked at."""
DEPTH: Final = 64
ROUNDS: Final = 8
"""How often a text is looked at again because something in it was replaced."""
_MARGIN: Final = 4_096
"""Characters before a cut that are not shown: what was cut in two there could not be known."""
_JSON_DEPTH: Final = 2
"""How deep JSON within JSON is read."""
# Digits alone are no digest, but what somebody would hide in one.
_MARK: Final = re.compile(rf"\[REDACTED\]|\[(?:{'|'.join(Kind)}):(?![0-9]+\])[A-Za-z0-9_-]{{16}}\]")
_PERSONAL: Final = re.compile("@|(?:[0-9][^0-9]*){6}")
"""What a field for an address or a number of a person holds, if it holds one."""
_WHATEVER: Final = frozenset({Kind.SECRET, Kind.CARD})
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_.]{1,40}")


class Redactor:
    """Redact values under one key."""

    def __init__(self, digest: Digest) -> None:
        """Take the digest that stands for what is taken out."""
        self._digest = digest

    def redact(self, value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
        """Redact a value: texts, numbers, lists and objects; anything else is not shown. Never fails."""
        try:
            return _Redaction(self._digest, TOTAL_LIMIT, _JSON_DEPTH).value(value, 0)
        except Exception:  # noqa: BLE001 - whatever went wrong, the value is not shown
            return WITHHELD


class _Redaction:
    """Walk one value, counting what was looked at."""

    def __init__(self, digest: Digest, left: int, json_depth: int) -> None:
        self._digest = digest
        self._left = left
        self._json_depth = json_depth

    def value(self, value: Any, depth: int) -> Any:  # noqa: ANN401, PLR0911 - one line for each type
        if depth > DEPTH:
            return WITHHELD
        match value:
            case None | bool():
                return value
            case str():
                return self._text(value)
            case int() | float() | Decimal():
                return self._number(value)
            case list() | tuple():
                return [self.value(one, depth + 1) for one in value]
            case dict() | Mapping():
                return self._fields(value, depth)
            case _:
                return WITHHELD

    def _fields(self, fields: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        redacted: dict[str, Any] = {}
        pair = kind_of_pair(fields)
        for name, value in fields.items():
            text = str(name)
            kind = kind_of(text) or (pair if text.lower() == "value" else None)
            shown = text if _PLAIN_NAME.fullmatch(text) else self._text(text)
            while shown in redacted:
                shown += "'"
            redacted[shown] = self.value(value, depth + 1) if kind is None else self._named(kind, value, depth + 1)
        return redacted

    def _named(self, kind: Kind, value: Any, depth: int) -> Any:  # noqa: ANN401 - the same
        """Redact what a field's name says it is: a secret whatever it looks like, others if they look like it."""
        if isinstance(value, list | tuple) and kind not in _WHATEVER:
            return [self._named(kind, one, depth + 1) for one in value]
        if value is None or isinstance(value, bool) or value in ("", [], {}):
            return value
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
        rest = _MARK.sub("", text)
        if not rest or (kind not in _WHATEVER and not (isinstance(value, str | int) and _PERSONAL.search(rest))):
            return self.value(value, depth)
        return self._mark(kind, _plain(kind, text))

    def _number(self, value: float | Decimal) -> Any:  # noqa: ANN401 - the number, or what stands for it
        try:
            if value != int(value):
                return value
            text = str(int(value))
            found = find(text, (), NUMBERS)
        except Exception:  # noqa: BLE001 - infinities, and integers of thousands of digits
            return WITHHELD
        return self._marked(text, found) if found else value

    def _text(self, text: str) -> str:
        self._left -= len(_MARK.sub("", text))
        if self._left < 0:
            return WITHHELD
        try:
            shown = self._settled(text[:TEXT_LIMIT])
            if len(text) <= TEXT_LIMIT >= len(shown):
                return shown
            return self._settled(shown[: max(0, min(len(shown), TEXT_LIMIT) - _MARGIN)] + WITHHELD)
        except Exception:  # noqa: BLE001 - whatever went wrong, the text is not shown
            return WITHHELD

    def _settled(self, text: str) -> str:
        """Redact until nothing is left to redact: what stands beside a mark may read as something else than before."""
        for _ in range(ROUNDS):
            redacted = self._once(self._as_json(text))
            if redacted == text:
                return text
            text = redacted
        return WITHHELD

    def _as_json(self, text: str) -> str:
        if not self._json_depth or not text.strip().startswith(("{", "[")):
            return text
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        inner = _Redaction(self._digest, TOTAL_LIMIT, self._json_depth - 1)
        redacted = inner.value(value, 0)
        # What names nothing stays as it was written.
        return text if redacted == value else json.dumps(redacted, ensure_ascii=False)

    def _once(self, text: str) -> str:
        marks = [*_MARK.findall(text), ""]
        return "".join(
            self._marked(piece, find(piece)) + mark for piece, mark in zip(_MARK.split(text), marks, strict=True)
        )

    def _marked(self, text: str, found: list[Found]) -> str:
        parts, position = [], 0
        for one in found:
            parts += [text[position : one.start], self._mark(one.kind, one.value)]
            position = one.end
        return "".join([*parts, text[position:]])

    def _mark(self, kind: Kind, value: str) -> str:
        return f"[{kind}:{self._digest.of(value)}]"


def _plain(kind: Kind, text: str) -> str:
    """Give the value that a text would have if it were found by itself, so that both can be joined."""
    found = next(iter(find(text)), None)
    whole = found is not None and found.kind is kind and (found.start, found.end) == (0, len(text))
    return found.value if found is not None and whole else text
