"""Tell whether two calls ask the same, and whether the same came back."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final

from agent_image.guard.canonical import NotCanonical, canonical, digest

DIGITS: Final = 32
"""Hexadecimal digits of a fingerprint and of an observation."""


def fingerprint(tool: str, arguments: Mapping[str, Any], volatile: Collection[str] = ()) -> str:
    """Give equal calls equal fingerprints.

    `volatile` names arguments that do not count, such as a counter: a key, or a path of keys joined by dots. Arguments
    that have no canonical form are all equal: whatever they are, no tool takes them.
    """
    try:
        text = canonical(_without(dict(arguments), frozenset(volatile)))
    except NotCanonical as error:
        text = error.code
    return digest(tool, text)[:DIGITS]


def observation(result: object, *, is_error: bool, volatile: Collection[str] = ()) -> str:
    """Give equal results equal observations: white space does not count, nor what the tool declared volatile.

    Hand over what the tool answered, without the id of its call.
    """
    left_out = frozenset(volatile)
    try:
        text = json.dumps(_settled(_without(result, left_out), left_out), sort_keys=True)
    except (RecursionError, ValueError) as error:
        text = type(error).__name__
    return digest(text, str(is_error))[:DIGITS]


def _without(value: object, volatile: frozenset[str]) -> Any:  # noqa: ANN401 - JSON of any shape
    """Leave out the named keys; what follows a key and a dot is left out of what lies under the key."""
    if not volatile:
        return value
    if isinstance(value, list | tuple):
        return [_without(one, volatile) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {key: _without(one, _under(key, volatile)) for key, one in value.items() if key not in volatile}


def _under(key: object, volatile: frozenset[str]) -> frozenset[str]:
    return frozenset(path.removeprefix(f"{key}.") for path in volatile if path.startswith(f"{key}."))


def _settled(value: object, volatile: frozenset[str]) -> Any:  # noqa: ANN401 - JSON of any shape
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return _words(value, volatile)
        case bytes() | Decimal():
            return repr(value)
        case Mapping():
            return {str(key): _settled(one, volatile) for key, one in value.items()}
        case list() | tuple():
            return [_settled(one, volatile) for one in value]
    # Not its text: that may name a place in memory, and nothing would ever be seen twice.
    return type(value).__name__


def _words(text: str, volatile: frozenset[str]) -> str:
    """Settle a text; one that is JSON loses what was declared volatile."""
    if volatile and text.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError):
            text = json.dumps(_without(json.loads(text), volatile), sort_keys=True)
    return " ".join(unicodedata.normalize("NFC", text).split())
