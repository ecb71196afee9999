"""Find credentials: by the form that their issuer gives them, or by the label that stands before them."""

from __future__ import annotations

import json
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterator
from typing import Final

from agent_image.guard.detectors.found import Found, Kind
from agent_image.guard.detectors.names import kind_of, words_of

_PEM: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END: Final = "-----END"
_PEM_DASHES: Final = "-----"

_JWT: Final = re.compile(r"(?<![\w-])([A-Za-z0-9_-]{10,})\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*){0,2}")
_JOINTS: Final = re.compile(r"\.[A-Za-z0-9_-]+\.")
"""What stands in the middle of a token, and hardly ever in prose."""

_KEY_SIGNS: Final = ("-", "_", "AKIA", "ASIA", "AIza", "ya29.", "hooks.slack.com/")
"""Each form of a key has one of them; to look for a text is much faster than to look for a form."""
_KEY: Final = re.compile(
    r"""(?<![A-Za-z0-9])(?:
    sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{16,}
    | sk-(?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{20,}
    | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}
    | (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])
    | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{20,}
    | xox[a-z]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{10,} | hooks\.slack\.com/services/[A-Za-z0-9/]{20,}
    | AIza[A-Za-z0-9_-]{35} | ya29\.[A-Za-z0-9_-]{20,} | hf_[A-Za-z0-9]{30,} | npm_[A-Za-z0-9]{36}
    )""",
    re.VERBOSE,
)

_SCHEME: Final = re.compile(r"\b(bearer|basic)[ \t]{1,8}([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
_SCHEME_NAMES: Final = ("bearer", "basic")
_LONG: Final = 24
"""Characters from which a word after `Bearer` is a token even without a digit."""

_SIGN: Final = re.compile(r"""[:=][=>]?[ \t]{0,4}(?P<open>\\{0,3}["'])?""")
_LABEL_REACH: Final = 48
_HEADERS: Final = frozenset({"authorization", "cookie", "cookies"})
"""Their values go to the end of the line."""
_WORD: Final = re.compile(r"""(?:[^\s"'\\,;&<>{}()\[\]]|\\(?!["'nrt]))*""")
_LINE: Final = re.compile(r"[^\n]*")
_QUOTED: Final = {'"': re.compile(r'(?:[^"\\\n]|\\.)*'), "'": re.compile(r"(?:[^'\\\n]|\\.)*")}
_NOTHING: Final = frozenset({"", "null", "none", "nil", "undefined", "true", "false"})

_OF_URL: Final = re.compile(r"://([^\s/?#@:]{0,256}:[^\s/?#@]{1,256})@")


def private_keys(text: str) -> Iterator[Found]:
    """Find private keys, to their end or to the text's."""
    position = 0
    while begin := _PEM.search(text, position):
        stop = text.find(_PEM_END, begin.end())
        dashes = -1 if stop < 0 else text.find(_PEM_DASHES, stop + len(_PEM_END))
        position = len(text) if dashes < 0 else dashes + len(_PEM_DASHES)
        yield Found(begin.start(), position, Kind.PRIVATE_KEY, text[begin.start() : position])


def web_tokens(text: str) -> Iterator[Found]:
    """Find JSON web tokens, signed or encrypted: their first part is the base64url of a JSON object."""
    position = 0 if _JOINTS.search(text) else len(text)
    while found := _JWT.search(text, position):
        if _is_header(found[1]):
            position = found.end()
            yield Found(found.start(), position, Kind.JWT, found[0])
        else:
            position = found.end(1)


def keys(text: str) -> Iterator[Found]:
    """Find keys of services that mark theirs by a prefix."""
    for found in _KEY.finditer(text) if any(map(text.__contains__, _KEY_SIGNS)) else ():
        yield Found(found.start(), found.end(), Kind.KEY, found[0])


def schemes(text: str) -> Iterator[Found]:
    """Find what follows `Bearer` or `Basic`, if it looks like a token, or holds a user and a password."""
    # Letters beyond ASCII have cases of their own: there the form itself has to tell.
    if text.isascii() and not any(map(text.lower().__contains__, _SCHEME_NAMES)):
        return
    for found in _SCHEME.finditer(text):
        token = found[2]
        is_bearer = found[1].lower() == "bearer"
        if (len(token) >= _LONG or any(map(str.isdigit, token))) if is_bearer else _is_pair(token):
            yield Found(found.start(2), found.end(2), Kind.BEARER, token)


def labelled(text: str) -> Iterator[Found]:
    """Find what follows a label such as `password=`: to the end of its quotes, its word or, of a header, its line."""
    position = 0 if ":" in text or "=" in text else len(text)
    while sign := _SIGN.search(text, position):
        position = sign.end()
        label = text[max(0, sign.start() - _LABEL_REACH) : sign.start()]
        kind = kind_of(label)
        if kind not in {Kind.SECRET, Kind.CARD}:
            continue
        end = _value_end(text, sign.end(), sign["open"] or "", to_line=words_of(label)[-1] in _HEADERS)
        value = text[position:end]
        if value.strip().lower() not in _NOTHING:
            position = end
            yield Found(sign.end(), end, Kind.SECRET, value)


def of_urls(text: str) -> Iterator[Found]:
    """Find the user and the password in a URL."""
    for found in _OF_URL.finditer(text):
        yield Found(found.start(1), found.end(1), Kind.SECRET, found[1])


def _value_end(text: str, start: int, opening: str, *, to_line: bool) -> int:
    if len(opening) > 1:
        # Quotes within quotes: they end as they began.
        found = text.find(opening, start)
        return len(text) if found < 0 else found
    form = _QUOTED[opening] if opening else _LINE if to_line else _WORD
    value = form.match(text, start)
    return start if value is None else value.end()


def _is_header(part: str) -> bool:
    try:
        header = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and ("alg" in header or "enc" in header)


def _is_pair(token: str) -> bool:
    try:
        return b":" in b64decode(token + "=" * (-len(token) % 4), validate=True)
    except ValueError:
        return False
