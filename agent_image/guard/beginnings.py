"""Keep of long texts their beginnings: of megabytes, nobody redacts more than is shown."""

from __future__ import annotations

import json
from operator import is_
from typing import Any


def beginnings(value: Any, limit: int) -> Any:  # noqa: ANN401 - plain JSON
    """Give a value with its long texts cut; one that needs no cut is given back itself.

    A text that is JSON stays whole: it is redacted by its fields, which half of it would not have.
    """
    match value:
        case str():
            return value if len(value) <= limit or _is_json(value) else value[:limit]
        case list():
            parts = [beginnings(one, limit) for one in value]
            return value if all(map(is_, parts, value)) else parts
        case dict():
            begun = {name: beginnings(one, limit) for name, one in value.items()}
            return value if all(map(is_, begun.values(), value.values())) else begun
        case _:
            return value


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
