"""Define the `[usage]` table from the contract's quantities, which the cost model reads by the same names.

The stacks use none of it: it is checked here so that every fault of a file is shown at once.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from agent_image.contract import (
    EVENT_KB_PER_SESSION,
    KB_PER_SESSION,
    KB_PER_SESSION_REGIMES,
    QUERIES_KEY,
    QUERY_CLASS,
    QUERY_CLASS_INDEXED,
    QUERY_CLASS_NAME,
    USAGE,
)
from stacks.settings import types
from stacks.settings.quantity import field, record

_BytesByRegime = record(
    "BytesByRegime", KB_PER_SESSION.meaning, {regime: field(KB_PER_SESSION) for regime in KB_PER_SESSION_REGIMES}
)
_EventBytesByRegime = record(
    "EventBytesByRegime",
    EVENT_KB_PER_SESSION.meaning,
    {regime: field(EVENT_KB_PER_SESSION) for regime in KB_PER_SESSION_REGIMES},
)
_QueryClass = record(
    "QueryClass",
    "Queries that are alike: how many, how far back, and whether an index serves them.",
    {
        QUERY_CLASS_NAME: (types.NonEmpty, Field(description="what the queries are for")),
        QUERY_CLASS_INDEXED: (bool, Field(description="whether they filter on an indexed field")),
        **{quantity.key: field(quantity) for quantity in QUERY_CLASS},
    },
)


def _named_once(classes: list[Any]) -> list[Any]:
    types.distinct([str(getattr(query, QUERY_CLASS_NAME)) for query in classes])
    return classes


_QueryClasses: Any = Annotated[GenericAlias(list, (_QueryClass,)), AfterValidator(_named_once)]
Usage = record(
    "Usage",
    "What the environment's traffic is expected to be: the cost model's input, and nobody else's.",
    {
        **{quantity.key: field(quantity) for quantity in USAGE},
        KB_PER_SESSION.key: (_BytesByRegime, Field(default=_BytesByRegime(), description=KB_PER_SESSION.meaning)),
        EVENT_KB_PER_SESSION.key: (
            _EventBytesByRegime,
            Field(default=_EventBytesByRegime(), description=EVENT_KB_PER_SESSION.meaning),
        ),
        QUERIES_KEY: (_QueryClasses, Field(default=[], description="Query classes, each with a name of its own.")),
    },
)
