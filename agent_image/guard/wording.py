"""Write the words that a session keeps again: of what was said and of what tools answered, and of nothing else.

A call's arguments stay as they are: its id, its checkpoint and its idempotency key are made from them. So does a block
of any other kind: a model's reasoning is signed, and a picture holds no text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Rewrite = Callable[[str], str]
"""Gives a text in other words; the same text where nothing is to change."""


class Rewriting:
    """Write messages and results again, and count.

    Attributes:
        changed: texts that were written in other words.
        left: texts that would have been, and may not.
    """

    def __init__(self, rewrite: Rewrite) -> None:
        """Take what writes a text again."""
        self._rewrite = rewrite
        self.changed = 0
        self.left = 0

    def message(self, message: Any) -> Any:  # noqa: ANN401 - JSON of any shape
        """Write a message again; what has not the form of one stays."""
        content = message.get("content") if isinstance(message, Mapping) else None
        if not isinstance(content, list):
            return message
        return {**message, "content": [self._block(block) for block in content]}

    def result(self, result: Any) -> Any:  # noqa: ANN401 - the same
        """Write a tool's result again, whatever became of the call."""
        content = result.get("content") if isinstance(result, Mapping) else None
        if not isinstance(content, list):
            return result
        return {**result, "content": [self._part(part) for part in content]}

    def arguments(self, arguments: Any) -> None:  # noqa: ANN401 - the same
        """Count what the arguments of a call hold: they are bound, and stay."""
        self._leave(arguments)

    def _block(self, block: Any) -> Any:  # noqa: ANN401 - the same
        match block:
            case {"toolResult": result}:
                return {**block, "toolResult": self.result(result)}
            case {"text": str(text)}:
                return {**block, "text": self._text(text)}
            case _:
                self._leave(block)
                return block

    def _part(self, part: Any) -> Any:  # noqa: ANN401 - the same
        match part:
            case {"text": str(text)}:
                return {**part, "text": self._text(text)}
            case {"json": value}:
                return {**part, "json": self._value(value)}
            case _:
                self._leave(part)
                return part

    def _value(self, value: Any) -> Any:  # noqa: ANN401 - the same
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self._value(held) for key, held in value.items()}
        return [self._value(held) for held in value] if isinstance(value, list) else value

    def _text(self, text: str) -> str:
        written = self._rewrite(text)
        self.changed += written != text
        return written

    def _leave(self, value: Any) -> None:  # noqa: ANN401 - the same
        if isinstance(value, str):
            self.left += self._rewrite(value) != value
        elif isinstance(value, Mapping | list):
            for held in value.values() if isinstance(value, Mapping) else value:
                self._leave(held)
