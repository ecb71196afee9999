"""Define the `[usage]` table from the contract's quantities, which the cost model reads by the same names.

The stacks use none of it: it is checked here so that every fault of a file is shown at once.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Annotated, Any

from pydantic import AfterValidator, Field, create_model

from agent_image.contract import (
    KB_PER_SESSION,
    KB_PER_SESSION_REGIMES,
    QUERIES_KEY,
    QUERY_CLASS,
    QUERY_CLASS_INDEXED,
    QUERY_CLASS_NAME,
    USAGE,
    Quantity,
)
from stacks.settings import types
from stacks.settings.record import Record


def _field(quantity: Quantity) -> tuple[Any, Any]:
    kind = types.number(quantity.minimum, quantity.maximum, whole=quantity.whole)
    described = f"{quantity.meaning} ({quantity.unit})"
    return (
        (kind, Field(description=described)) if quantity.required else (kind | None, Field(None, description=described))
    )


def _fields(quantities: tuple[Quantity, ...]) -> dict[str, Any]:
    return {quantity.key: _field(quantity) for quantity in quantities}


def _record(name: str, meaning: str, fields: dict[str, Any]) -> Any:
    return create_model(name, __base__=Record, __doc__=meaning, **fields)


_BytesByRegime = _record(
    "BytesByRegime", KB_PER_SESSION.meaning, {str(regime): _field(KB_PER_SESSION) for regime in KB_PER_SESSION_REGIMES}
)
_QueryClass = _record(
    "QueryClass",
    "Queries that are alike: how many, how far back, and whether an index serves them.",
    {
        QUERY_CLASS_NAME: (types.NonEmpty, Field(description="what the queries are for")),
        QUERY_CLASS_INDEXED: (bool, Field(description="whether they filter on an indexed field")),
        **_fields(QUERY_CLASS),
    },
)


def _named_once(classes: list[Any]) -> list[Any]:
    types.distinct([str(getattr(query, QUERY_CLASS_NAME)) for query in classes])
    return classes


_QueryClasses: Any = Annotated[GenericAlias(list, (_QueryClass,)), AfterValidator(_named_once)]
Usage = _record(
    "Usage",
    "What the environment's traffic is expected to be: the cost model's input, and nobody else's.",
    {
        **_fields(USAGE),
        KB_PER_SESSION.key: (_BytesByRegime, Field(default=_BytesByRegime(), description=KB_PER_SESSION.meaning)),
        QUERIES_KEY: (_QueryClasses, Field(default=[], description="Query classes, each with a name of its own.")),
    },
)
