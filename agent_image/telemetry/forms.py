"""Say in what form a value may leave: pure; a sentence has none of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry.util.types import AttributeValue

Form = Callable[[Any], AttributeValue | None]
"""Give the value as it may leave, or None where it may not."""

TOKEN: Final = re.compile(r"[A-Za-z0-9_.:/@+=-]{1,256}")
"""What names, ids, ARNs, models and routes look like, and sentences do not."""
SERVICE: Final = re.compile(r"[A-Za-z0-9]{1,32}( [A-Za-z0-9]{1,32}){0,5}")
NUMBERS: Final = re.compile(r"[0-9]{1,6}( [0-9]{1,6})*")
PRINTABLE: Final = re.compile(r"[!-~]([ -~]{0,254}[!-~])?")
TEXTS_IN_A_LIST: Final = 32
INT64: Final = range(-(2**63), 2**63)
REDACTED: Final = frozenset({"REDACTED", "[REDACTED]"})
"""What the first locks leave in place of a text: a first lock that holds is no finding."""


def number(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass numbers and truth values that OTLP can carry."""
    if isinstance(value, int):
        return value if value in INT64 else None
    return value if isinstance(value, float) else None


def token(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass a token, a number, or a short list of either."""
    if isinstance(value, str):
        return value if TOKEN.fullmatch(value) and value not in REDACTED else None
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        tokens = [one for one in value if isinstance(one, str) and TOKEN.fullmatch(one)]
        return tokens[:TEXTS_IN_A_LIST] if len(tokens) == len(value) else None
    return number(value)


def origin(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass a URL's scheme, host and port: the path of an outbound call is as often as not an argument of a tool's."""
    try:
        url = urlsplit(value)
        host, port = url.hostname or "", url.port
    except (ValueError, TypeError, AttributeError):
        return None
    whole = f"{url.scheme}://{host}" + (f":{port}" if port else "")
    return whole if host and ":" not in host and TOKEN.fullmatch(whole) else None


def service(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass the name of an AWS service, as its model gives it: a few words."""
    return value if isinstance(value, str) and SERVICE.fullmatch(value) else None


def numbers(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass whole numbers with a space between them."""
    return value if isinstance(value, str) and NUMBERS.fullmatch(value) else None


def session(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass an id as its caller wrote it: one line of printable ASCII, of at most 256 characters."""
    return value if isinstance(value, str) and PRINTABLE.fullmatch(value) else None


def text(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass a text of ours, of any length: size.py bounds it."""
    return carried(value) if isinstance(value, str) else None


def carried(value: str) -> str:
    """Make a text one that UTF-8 can carry."""
    return value.encode("utf-8", "replace").decode()


def nothing(_: Any) -> AttributeValue | None:  # noqa: ANN401
    """Pass nothing."""
    return None
