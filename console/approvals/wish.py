"""Hold what a person wants done about a checkpoint, and read the arguments that replace the model's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn

from agent_image.contract import Choice
from agent_image.guard.canonical import NotCanonical, canonical
from console.errors import BadInputError
from console.terminal import shown_line

ID_DIGITS: Final = 64
"""Hexadecimal digits of a checkpoint's id."""
ID_FORM: Final = re.compile(rf"[0-9a-f]{{{ID_DIGITS}}}")
"""What an id looks like."""
REASON_LIMIT: Final = 10_000
"""Characters of a reason."""
DONE: Final[Mapping[Choice, str]] = MappingProxyType(
    {
        Choice.APPROVE: "approved",
        Choice.EDIT: "edited and approved",
        Choice.REJECT: "rejected",
        Choice.CANCEL: "cancelled",
    }
)
"""What somebody did who chose so."""
FILE_MARK: Final = "@"
"""What stands before the name of a file that holds the arguments."""
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Hold one wish.

    Attributes:
        reason: what the model is told; empty where a person gave none.
        arguments: those in the place of the model's; only with an edit.
    """

    choice: Choice
    reason: str = ""
    arguments: Mapping[str, Any] | None = None

    @property
    def releases(self) -> bool:
        """Tell whether the call runs if the wish is granted."""
        return self.choice in {Choice.APPROVE, Choice.EDIT}


def reason_of(text: str | None, *, required: bool = False) -> str:
    """Read a reason.

    Raises:
        BadInputError: it is missing where one is required, or too long.
    """
    reason = (text or "").strip()
    if required and not reason:
        message = "--reason is empty; allowed: a text, which the model is told"
        raise BadInputError(message)
    if len(reason) > REASON_LIMIT:
        message = f"--reason has {len(reason):,} characters; allowed: at most {REASON_LIMIT:,}"
        raise BadInputError(message)
    return reason


def arguments_of(given: str) -> Mapping[str, Any]:
    """Read arguments: a JSON object, or `@` and the file that holds one.

    Raises:
        BadInputError: it is none, holds a key twice, or a number that would not stay what it is.
    """
    text = _file(given.removeprefix(FILE_MARK)) if given.startswith(FILE_MARK) else given
    try:
        document = json.loads(
            text, object_pairs_hook=_object, parse_float=_float, parse_constant=lambda name: _refuse(f"{name} is in it")
        )
    except (ValueError, RecursionError) as error:
        # What Python says of a text holds positions, and nothing of the text.
        _refuse(str(error) if isinstance(error, json.JSONDecodeError) else "it cannot be read")
    if not isinstance(document, dict):
        _refuse(f"it is a {type(document).__name__}")
    try:
        canonical(document)
    except NotCanonical as error:
        _refuse(error.message)
    return document


def _file(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        _refuse(f"{name} is not UTF-8")
    except (OSError, ValueError) as error:
        _refuse(f"{name} cannot be read ({getattr(error, 'strerror', None) or type(error).__name__})")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        twice = next(key for position, (key, _) in enumerate(pairs) if key in dict(pairs[:position]))
        _refuse(f"the key {twice[:_SHOWN]!r} is in it twice")
    return document


def _float(text: str) -> float:
    """Read a number; one with more digits than a float keeps would not be what was approved."""
    value = float(text)
    try:
        same = Decimal(text) == Decimal(repr(value))
    except InvalidOperation:
        same = False
    if not same:
        _refuse(f"{text[:_SHOWN]} cannot be kept exactly; write it with fewer digits, or as a text")
    return value


def _refuse(reason: str) -> NoReturn:
    message = f"--arguments: {shown_line(reason)}; allowed: a JSON object, or {FILE_MARK}file that holds one"
    raise BadInputError(message)
