"""Write what an operator must know as one JSON line on standard error: codes, numbers and ids, never free text."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Final

_STANDARD_ERROR: Final = 2
_TOKEN: Final = re.compile(r"[A-Za-z0-9_.:#/@+=-]{0,256}")

Fact = str | int | float | bool | None


def notice(code: str, /, **facts: Fact) -> None:
    """Write one line: the code, then the facts.

    A text with anything but letters, digits and `_.:#/@+=-` in it is no code and no id: its length stands for it.
    """
    # Straight to the file descriptor: whatever guards sys.stderr against free text need not know this line.
    os.write(_STANDARD_ERROR, line(code, facts))


def line(code: str, facts: Mapping[str, Fact]) -> bytes:
    """Render a line."""
    record = {"notice": code, **{key: _safe(value) for key, value in facts.items()}}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _safe(value: Fact) -> Fact | Mapping[str, int]:
    if isinstance(value, str) and _TOKEN.fullmatch(value) is None:
        return {"bytes": len(value.encode("utf-8", "replace"))}
    return value
