"""Write a conversation as a plain text that a program can search: redacted, and each entry under a label of ours.

A label begins at the left edge and nothing else does: every line that somebody said stands indented, so that no text
can pass for an entry. What is no text (a picture, a document's bytes) is named with its size.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from agent_image.guard.plain import compact, plain
from agent_image.guard.redaction import WITHHELD

LIMIT: Final = 4 * 1024 * 1024
"""Bytes that a transcript has at most, but for the line that says what was left out of its middle."""
LEFT_OUT: Final = "[...] {count} bytes are left out here"
INDENT: Final = "    "
_ROLES: Final = frozenset({"assistant", "system", "user"})
_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
_NAMELESS: Final = "?"
"""What stands for a role, a tool or an id that a label cannot hold."""
# A file with a NUL is no text to grep, and the others are for terminals; a lone surrogate is no UTF-8.
_UNSHOWN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SHOWN_INSTEAD: Final = "\ufffd"
_SILENT: Final = frozenset({"cachePoint"})
"""Blocks that say nothing to anybody."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """Hold one entry without its number: what it is, and its lines, indented."""

    label: str
    body: str


class Transcript:
    """Write the conversation of one session, again and again: each message once. Usable from any thread."""

    def __init__(self, redact: Callable[[Any], Any], *, limit: int = LIMIT) -> None:
        """Take what redacts a value, and how many bytes a transcript may have.

        Of a text that is longer than what is redacted in one piece (100,000 characters) the beginning is written.
        """
        self._redact = redact
        self._limit = limit
        self._lock = Lock()
        self._rendered: dict[str, tuple[_Entry, ...]] = {}

    def text(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Write the messages, the oldest first; too long a text loses its middle, and says so. Never fails."""
        messages = list(messages)
        with self._lock:
            kept: dict[str, tuple[_Entry, ...]] = {}
            entries: list[_Entry] = []
            for message in messages:
                key = _key(message)
                found = kept.get(key) or self._rendered.get(key)
                entries += (rendered := found or self._entries(message))
                if key:
                    kept[key] = rendered
            # What was cut out of the conversation is not remembered either.
            self._rendered = kept
        return _cut("".join(f"[{n}] {entry.label}\n{entry.body}" for n, entry in enumerate(entries, 1)), self._limit)

    def _entries(self, message: Mapping[str, Any]) -> tuple[_Entry, ...]:
        try:
            return tuple(self._of(message))
        except Exception:  # noqa: BLE001 - whatever a message is, the others are written
            return (_Entry(_NAMELESS, _indented(WITHHELD)),)

    def _of(self, message: Mapping[str, Any]) -> Iterator[_Entry]:
        role = message.get("role")
        speaker = role if isinstance(role, str) and role in _ROLES else _NAMELESS
        content = message.get("content")
        for block in content if isinstance(content, list | tuple) else [content]:
            if not (isinstance(block, Mapping) and block.keys() <= _SILENT):
                yield self._entry(speaker, block)

    def _entry(self, speaker: str, block: Any) -> _Entry:  # noqa: ANN401 - JSON of any shape
        match block:
            case str() | {"text": str()}:
                return _Entry(speaker, self._shown(block))
            case {"toolUse": {"name": name, "toolUseId": use, "input": arguments}}:
                label = f"{speaker} calls {self._name(name)} as {self._name(use)}"
                return _Entry(label, _indented(self._value(arguments)))
            case {"toolResult": {"toolUseId": use, **result}}:
                status = self._name(result.get("status", "success"))
                content = result.get("content")
                parts = content if isinstance(content, list | tuple) else [content]
                return _Entry(f"tool result of {self._name(use)}, {status}", "".join(map(self._shown, parts)))
            case {"reasoningContent": reasoning}:
                return _Entry(f"{speaker}, reasoning", self._shown(_reasoned(reasoning)))
            case Mapping() if len(block) == 1:
                ((kind, value),) = block.items()
                return _Entry(f"{speaker}, {self._name(kind)}", self._shown(value))
            case _:
                return _Entry(speaker, self._shown(block))

    def _shown(self, part: Any) -> str:  # noqa: ANN401 - the same
        """Write one part of a message: a text as it is, JSON as one line."""
        match part:
            case str(text) | {"text": str(text)} | {"text": {"text": str(text)}}:
                return _indented(str(self._redact(text)))
            case {"json": value}:
                return _indented(self._value(value))
            case _:
                return _indented(self._value(part))

    def _value(self, value: Any) -> str:  # noqa: ANN401 - the same
        return compact(plain(self._redact(plain(_without_bytes(value)))))

    def _name(self, name: Any) -> str:  # noqa: ANN401 - the same
        """Give a name that a label can hold: a model may have invented it, and put lines into it."""
        shown = self._redact(name) if isinstance(name, str) else None
        return shown if isinstance(shown, str) and _NAME.fullmatch(shown) else _NAMELESS


def _reasoned(reasoning: Any) -> Any:  # noqa: ANN401 - the same
    """Give what a model thought, without its signature."""
    match reasoning:
        case {"reasoningText": {"text": str(text)}}:
            return text
        case _:
            return reasoning


def _without_bytes(value: Any, depth: int = 16) -> Any:  # noqa: ANN401 - the same
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(value)} bytes)"
    if depth and isinstance(value, Mapping):
        return {name: _without_bytes(held, depth - 1) for name, held in value.items()}
    if depth and isinstance(value, list | tuple):
        return [_without_bytes(held, depth - 1) for held in value]
    return value


def _indented(text: str) -> str:
    return "".join(f"{INDENT}{_UNSHOWN.sub(_SHOWN_INSTEAD, line)}\n" for line in text.splitlines())


def _key(message: Mapping[str, Any]) -> str:
    """Name a message by its id and by all of it that is written: one that was changed is written anew."""
    try:
        named = [message.get("tracking_id"), message.get("role"), message.get("content")]
        told = json.dumps(named, default=lambda value: repr(_without_bytes(value)))
    except Exception:  # noqa: BLE001 - a message of any shape; what cannot be named is written anew each time
        return ""
    return hashlib.sha256(told.encode()).hexdigest()


def _cut(text: str, limit: int) -> str:
    """Leave the middle out of a text that is too long, by whole lines."""
    whole = text.encode()
    if len(whole) <= limit:
        return text
    head = whole[: limit // 2]
    head = head[: head.rfind(b"\n") + 1]
    tail = whole[len(whole) - limit // 2 :]
    # Within a line there may be what only its indent tells from a label.
    tail = tail[tail.find(b"\n") + 1 :] if b"\n" in tail else b""
    left = LEFT_OUT.format(count=len(whole) - len(head) - len(tail))
    return f"{head.decode()}{left}\n{tail.decode()}"
