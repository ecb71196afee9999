"""Turn the guard's values into records and back: what cannot be read is refused, never guessed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from agent_image.errors import StoreError

T = TypeVar("T")


def encode(value: object) -> dict[str, Any]:
    """Render a value as a JSON object."""
    document: dict[str, Any] = _adapter(cast("Hashable", type(value))).dump_python(value, mode="json")
    return document


def decode(kind: type[T], document: Mapping[str, Any]) -> T:
    """Read a value.

    Raises:
        StoreError: the record is not what such a value looks like.
    """
    try:
        value: T = _adapter(cast("Hashable", kind)).validate_python(document)
    except ValidationError:
        raise StoreError("record_malformed", f"A {kind.__name__.lower()} in the store cannot be read.") from None
    return value


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("Any", kind))
