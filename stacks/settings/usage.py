"""Define the `[usage]` table from the contract's quantities, which the cost model reads by the same names.

The stacks use none of it: it is checked here so that every fault of a file is shown at once.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Any

from pydantic import Field, create_model

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
    return kind | None, Field(default=None, description=f"{quantity.meaning} ({quantity.unit})")


def _fields(quantities: tuple[Quantity, ...]) -> dict[str, Any]:
    return {quantity.key: _field(quantity) for quantity in quantities}


def _record(name: str, meaning: str, fields: dict[str, Any]) -> Any:  # noqa: ANN401 - the fields are data, not types
    return create_model(name, __base__=Record, __doc__=meaning, **fields)


_BytesByRegime = _record(
    "BytesByRegime", KB_PER_SESSION.meaning, {str(regime): _field(KB_PER_SESSION) for regime in KB_PER_SESSION_REGIMES}
)
_QueryClass = _record(
    "QueryClass",
    "Queries that are alike: how many, how far back, and whether an index serves them.",
    {
        QUERY_CLASS_NAME: (types.NonEmpty, Field(description="what the queries are for")),
        QUERY_CLASS_INDEXED: (bool, Field(default=False, description="whether they filter on an indexed field")),
        **_fields(QUERY_CLASS),
    },
)
Usage = _record(
    "Usage",
    "What the environment's traffic is expected to be: the cost model's input, and nobody else's.",
    {
        **_fields(USAGE),
        KB_PER_SESSION.key: (_BytesByRegime, Field(default=_BytesByRegime(), description=KB_PER_SESSION.meaning)),
        QUERIES_KEY: (GenericAlias(list, (_QueryClass,)), Field(default=[], description="Query classes.")),
    },
)
