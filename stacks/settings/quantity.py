"""Turn the contract's quantities into fields of a settings table: kind, range, default and description."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field, create_model

from agent_image.contract import Quantity
from stacks.settings import types
from stacks.settings.record import Record


def unit_last(quantity: Quantity) -> str:
    """Describe a quantity whose meaning names what it counts."""
    return f"{quantity.meaning} ({quantity.unit})"


def unit_first(quantity: Quantity) -> str:
    """Describe a quantity whose meaning goes on from its unit."""
    return f"{quantity.unit[:1].upper()}{quantity.unit[1:]} {quantity.meaning}."


def field(quantity: Quantity, described: Callable[[Quantity], str] = unit_last) -> tuple[Any, Any]:
    """Make the field of one quantity: required, or with its default, or left out."""
    if quantity.required:
        return _kind(quantity), Field(description=described(quantity))
    if quantity.default is not None:
        return _kind(quantity), Field(default=quantity.default, description=described(quantity))
    return optional(quantity, described)


def optional(quantity: Quantity, described: Callable[[Quantity], str] = unit_last) -> tuple[Any, Any]:
    """Make a field that may be left out, and is then settled elsewhere, whatever the quantity's default."""
    return _kind(quantity) | None, Field(default=None, description=described(quantity))


def _kind(quantity: Quantity) -> Any:
    return types.number(quantity.minimum, quantity.maximum, whole=quantity.whole)


def record(name: str, meaning: str, fields: Mapping[str, Any]) -> Any:
    """Make a table of fields whose keys the contract names."""
    return create_model(name, __base__=Record, __doc__=meaning, **{str(key): held for key, held in fields.items()})
