"""Find e-mail addresses: at each sign, as far as an address may reach to both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent_image.guard.detectors.found import Found, Kind

_AT: Final = re.compile("@|%40")
_LOCAL: Final = 64
_DOMAIN: Final = 253
_MARKS: Final = frozenset("._+'%-")
_AFTER: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_TOP: Final = re.compile(r"[^\W\d_]{2,63}|xn--[a-z0-9-]{2,59}", re.IGNORECASE)


def emails(text: str) -> Iterator[Found]:
    """Find addresses whose domain ends in letters; `%40` is the sign as URLs write it."""
    for sign in _AT.finditer(text) if "@" in text or "%40" in text else ():
        local = _local(text[max(0, sign.start() - _LOCAL) : sign.start()])
        domain = _domain(text[sign.end() : sign.end() + _DOMAIN])
        if local and domain:
            start, end = sign.start() - len(local), sign.end() + len(domain)
            yield Found(start, end, Kind.EMAIL, f"{local}@{domain}".casefold())


def _local(text: str) -> str:
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] in _MARKS):
        start -= 1
    return text[start:].lstrip(".'%-")


def _domain(text: str) -> str:
    found = _AFTER.match(text)
    labels = found[0].split(".") if found else []
    # What follows a full stop may be the next sentence's first word, or a number.
    while labels and _TOP.fullmatch(labels[-1]) is None:
        labels.pop()
    return ".".join(labels) if len(labels) > 1 else ""
