"""Define the `[usage]` table from the contract's quantities, which the cost model reads by the same names.

The stacks use none of it: it is checked here so that every fault of a file is shown at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from agent_image.contract import (
    DASHBOARD,
    DASHBOARDS_KEY,
    EVENT_KB_PER_SESSION,
    KB_PER_SESSION,
    KB_PER_SESSION_REGIMES,
    QUERIES_KEY,
    QUERY_CLASS,
    QUERY_CLASS_INDEXED,
    QUERY_CLASS_NAME,
    QUERY_CLASS_STREAMS,
    QUERY_SET_KEY,
    RUNTIME_USAGE,
    RUNTIME_USAGE_KEY,
    SPLIT_TELEMETRY,
    TOKENS,
    TOKENS_KEY,
    TOKENS_MODEL,
    USAGE,
    Quantity,
    QuerySet,
    Streams,
)
from stacks.settings import types
from stacks.settings.quantity import field, record

_Streams: Any = Literal[tuple(each.value for each in Streams)]
_Set: Any = Literal[tuple(each.value for each in QuerySet)]


def _fields(quantities: Iterable[Quantity]) -> dict[str, Any]:
    return {quantity.key: field(quantity) for quantity in quantities}


_BytesByRegime = record(
    "BytesByRegime", KB_PER_SESSION.meaning, {regime: field(KB_PER_SESSION) for regime in KB_PER_SESSION_REGIMES}
)
_EventBytesByRegime = record(
    "EventBytesByRegime",
    EVENT_KB_PER_SESSION.meaning,
    {regime: field(EVENT_KB_PER_SESSION) for regime in KB_PER_SESSION_REGIMES},
)
_ALIKE: dict[str, Any] = {
    QUERY_CLASS_NAME: (types.NonEmpty, Field(description="what the queries are for")),
    QUERY_CLASS_STREAMS: (_Streams, Field(default=Streams.ALL.value, description="what they scan of the log group")),
}
_QueryClass = record(
    "QueryClass",
    "Queries that are alike: how many, how far back, what they scan, and whether an index serves them.",
    {
        **_ALIKE,
        QUERY_CLASS_INDEXED: (bool, Field(description="whether they filter on an indexed field")),
        **_fields(QUERY_CLASS),
    },
)
_Dashboard = record(
    "Dashboard",
    "A dashboard whose widgets query the trail: each refresh of each widget is a query.",
    {
        **_ALIKE,
        QUERY_CLASS_INDEXED: (bool, Field(default=False, description="whether its queries filter on an indexed field")),
        **_fields(DASHBOARD),
    },
)
_Runtime = record("RuntimeUse", "What a session takes of AgentCore Runtime; for scale.", _fields(RUNTIME_USAGE))
_Tokens = record(
    "Tokens",
    "What a session takes of models, by stated prices or by those of `model`; for scale.",
    {
        TOKENS_MODEL: (types.NonEmpty | None, Field(default=None, description="model whose list price holds")),
        **_fields(TOKENS),
    },
)


def _named_once(classes: list[Any]) -> list[Any]:
    types.distinct([str(getattr(query, QUERY_CLASS_NAME)) for query in classes])
    return classes


def _list_of(kind: Any) -> Any:
    return Annotated[GenericAlias(list, (kind,)), AfterValidator(_named_once)]


Usage = record(
    "Usage",
    "What the environment's traffic is expected to be: the cost model's input, and nobody else's.",
    {
        **_fields(USAGE),
        KB_PER_SESSION.key: (_BytesByRegime, Field(default=_BytesByRegime(), description=KB_PER_SESSION.meaning)),
        EVENT_KB_PER_SESSION.key: (
            _EventBytesByRegime,
            Field(default=_EventBytesByRegime(), description=EVENT_KB_PER_SESSION.meaning),
        ),
        SPLIT_TELEMETRY: (bool, Field(default=False, description="whether content goes to log records of the group")),
        QUERY_SET_KEY: (
            _Set | None,
            Field(default=None, description="query classes that come with the cost model, beside the file's own"),
        ),
        QUERIES_KEY: (
            _list_of(_QueryClass),
            Field(default=[], description="Query classes, each with a name of its own."),
        ),
        DASHBOARDS_KEY: (
            _list_of(_Dashboard),
            Field(default=[], description="Dashboards on log queries, each with a name of its own."),
        ),
        RUNTIME_USAGE_KEY: (_Runtime | None, Field(default=None, description="what AgentCore Runtime is used for")),
        TOKENS_KEY: (_Tokens | None, Field(default=None, description="tokens of models, for scale")),
    },
)
