"""Write JSON values one way only, so that equal values have equal bytes and a digest binds them."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Any, Final

from agent_image.errors import AgentError

ARGUMENTS_LIMIT: Final = 1_000_000
"""Bytes of one call's canonical arguments."""
# One encoder each: json.dumps would make one a call.
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_LISTED: Final = json.JSONEncoder(separators=(",", ":")).encode


class NotCanonical(AgentError):  # noqa: N818 - it names what the value is
    """Say that a value has no canonical form: it is no JSON, not a finite number, or too large."""


def canonical(value: Any) -> str:  # noqa: ANN401 - JSON of any shape
    """Write a value: keys sorted, no white space, 1.0 as 1, no NaN.

    Raises:
        NotCanonical: there is no such form, or it has more than ARGUMENTS_LIMIT bytes.
    """
    try:
        text = _CANONICAL(_settled(value))
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError):
        raise NotCanonical("invalid_arguments", "The arguments are not JSON.") from None
    if size > ARGUMENTS_LIMIT:
        message = f"The arguments have {size:,} bytes; at most {ARGUMENTS_LIMIT:,} are allowed."
        raise NotCanonical("arguments_too_large", message)
    return text


def digest(*parts: str) -> str:
    """Digest texts so that no two lists of them share one: 43 characters of base64url would do; hex is easier to read.

    Gives 64 hexadecimal digits of SHA-256 over the canonical list.
    """
    return hashlib.sha256(_LISTED(parts).encode()).hexdigest()


def _settled(value: Any) -> Any:  # noqa: ANN401 - the same
    match value:
        case dict():
            if not all(isinstance(key, str) for key in value):
                raise TypeError
            return {key: _settled(one) for key, one in value.items()}
        case list() | tuple():
            return [_settled(one) for one in value]
        case float() if value.is_integer():
            return int(value)
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case _:
            return value
