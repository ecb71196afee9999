"""Read the context that hooks are tried with, and say all that is wrong with it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from agent_image.guard.canonical import NotCanonical, canonical
from agent_image.hooks.context import Field
from agent_image.hooks.hook import HookEvent
from console.errors import BadInputError
from console.terminal import shown_line

STDIN: Final = "-"
LIMIT: Final = 10_000_000
"""Bytes of a context."""
_COMMON: Final[Mapping[Field, type]] = {Field.AGENT: str, Field.TURN: int, Field.MAX_TURNS: int}
_TOOL: Final[Mapping[Field, type]] = {Field.TOOL: str, Field.INPUT: dict}
_NEEDED: Final[Mapping[HookEvent, Mapping[Field, type]]] = {
    HookEvent.PRE_TOOL_USE: {**_COMMON, **_TOOL, Field.TOOL_USE_ID: str},
    HookEvent.POST_TOOL_USE: {**_COMMON, **_TOOL, Field.RESULT: str, Field.SUCCEEDED: bool, Field.DECISION: str},
    HookEvent.STOP: {**_COMMON, Field.FINAL_OUTPUT: str, Field.ACTIVE: bool, Field.REJECTIONS: int},
}
_OPTIONAL: Final[Mapping[Field, type]] = {Field.EVENT: str, Field.TRANSCRIPT: str}
_WORDS: Final[Mapping[type, str]] = {str: "a text", int: "a whole number", bool: "true or false", dict: "an object"}


def read_context(source: str, event: HookEvent) -> dict[str, Any]:
    """Read a context for an event from a file, or from standard input.

    Raises:
        BadInputError: with every fault.
    """
    try:
        context = json.loads(_text(source), parse_constant=lambda name: _refuse([f"{name} is no number of JSON"]))
    except (ValueError, RecursionError) as error:
        _refuse([str(error) if isinstance(error, json.JSONDecodeError) else "it cannot be read"])
    if not isinstance(context, dict):
        _refuse([f"it is a {type(context).__name__}; allowed: an object"])
    faults = list(_faults(context, event))
    if faults:
        _refuse(faults)
    return context


def _faults(context: Mapping[str, Any], event: HookEvent) -> Iterator[str]:
    needed = _NEEDED[event]
    known = {**needed, **_OPTIONAL}
    for field in needed:
        if field not in context:
            yield f"{field} is missing; allowed: {_WORDS[needed[field]]}"
    for name, value in context.items():
        if name not in known:
            yield f"{shown_line(name[:80])} is unknown; allowed at {event}: {', '.join(known)}"
        elif type(value) is not known[Field(name)]:
            yield f"{name} is a {type(value).__name__}; allowed: {_WORDS[known[Field(name)]]}"
        elif name == Field.EVENT and value != event:
            yield f"{name} is {shown_line(str(value)[:80])}; allowed: {event}, as --event says"
    if isinstance(arguments := context.get(Field.INPUT), dict):
        try:
            canonical(arguments)
        except NotCanonical as error:
            yield f"{Field.INPUT}: {error.message}"


def _text(source: str) -> str:
    try:
        if source == STDIN:
            found = sys.stdin.buffer.read(LIMIT + 1)
        else:
            with Path(source).open("rb") as file:
                found = file.read(LIMIT + 1)
        if len(found) > LIMIT:
            _refuse([f"it has more than {LIMIT:,} bytes; allowed: at most as many"])
        return found.decode()
    except UnicodeDecodeError:
        _refuse(["it is not UTF-8"])
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        _refuse([f"{shown_line(source)} cannot be read ({why})"])


def _refuse(faults: list[str]) -> NoReturn:
    raise BadInputError("\n".join(f"--context: {fault}" for fault in faults))
