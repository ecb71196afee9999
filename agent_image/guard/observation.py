"""Tell whether two calls ask the same, and whether the same came back."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, Final

from agent_image.guard.canonical import NotCanonical, canonical, digest
from agent_image.guard.plain import compact, plain

DIGITS: Final = 32
"""Hexadecimal digits of a fingerprint and of an observation."""
Settle = Callable[[str], str]
_NO_FORM: Final = "no_canonical_form"


def fingerprint(tool: str, arguments: Mapping[str, Any], volatile: Collection[str] = ()) -> str:
    """Give equal calls equal fingerprints.

    `volatile` names arguments that do not count, such as a counter: a key, or a path of keys joined by dots. Arguments
    that have no canonical form are all equal: whatever they are, no tool takes them.
    """
    try:
        text = canonical(_without(dict(arguments), frozenset(volatile)))
    except (NotCanonical, RecursionError):
        text = _NO_FORM
    return digest(tool, text)[:DIGITS]


def observation(result: object, *, is_error: bool, volatile: Collection[str] = (), settle: Settle | None = None) -> str:
    """Give equal results equal observations: white space does not count, nor what the tool declared volatile.

    Hand over what the tool answered, without the id of its call. `settle` is the tool's own way with its texts.
    """
    left_out = frozenset(volatile)
    settled = _settled(_without(plain(result), left_out), left_out, settle or str)
    return digest(compact(settled, sort_keys=True), str(is_error))[:DIGITS]


def _without(value: Any, volatile: frozenset[str]) -> Any:  # noqa: ANN401 - JSON of any shape
    """Leave out the named keys; what follows a key and a dot is left out of what lies under the key."""
    match value:
        case list() if volatile:
            return [_without(one, volatile) for one in value]
        case dict() if volatile:
            return {key: _without(one, _under(key, volatile)) for key, one in value.items() if key not in volatile}
        case _:
            return value


def _under(key: object, volatile: frozenset[str]) -> frozenset[str]:
    return frozenset(path.removeprefix(f"{key}.") for path in volatile if path.startswith(f"{key}."))


def _settled(value: Any, volatile: frozenset[str], settle: Settle) -> Any:  # noqa: ANN401 - JSON of any shape
    match value:
        case list():
            return [_settled(one, volatile, settle) for one in value]
        case dict():
            return {key: _settled(one, volatile, settle) for key, one in value.items()}
        case str():
            return _words(settle(value), volatile)
        case _:
            return value


def _words(text: str, volatile: frozenset[str]) -> str:
    """Settle a text; one that is JSON loses what was declared volatile."""
    if volatile and text.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError, RecursionError):
            text = compact(_without(plain(json.loads(text)), volatile), sort_keys=True)
    return " ".join(unicodedata.normalize("NFC", text).split())
