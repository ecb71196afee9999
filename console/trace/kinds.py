"""Tell what a span is: a model's call, a tool's call, a retrieval, …, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from agent_image.contract import Span
from console.trace.record import SpanRecord

OPERATION: Final = "gen_ai.operation.name"
INVOKE_AGENT: Final = "invoke_agent"
FLATTENED_DOCUMENTS: Final = "retrieval.documents."
"""Prefix of OpenInference's attributes of retrieved documents; their numbers follow, from 0."""
BOTOCORE: Final = "opentelemetry.instrumentation.botocore"
ENTRANCES: Final = frozenset({"SERVER", "CONSUMER"})
"""Kinds of span whose parents are their callers', and need not be in the trail."""
_CYCLE: Final = "execute_event_loop_cycle"
_STRANDS: Final = "strands."
_ENTRANCE: Final = "POST /invocations"
_MEMORY: Final = "memory."


class Kind(Enum):
    """Name what a span may be."""

    INVOCATION = auto()
    MODEL = auto()
    TOOL = auto()
    RETRIEVAL = auto()
    GUARD = auto()
    HOOK = auto()
    WRAPPER = auto()
    """It only says that what is below it was asked for."""
    OTHER = auto()


_BY_OPERATION: Final[Mapping[object, Kind]] = MappingProxyType(
    {
        "chat": Kind.MODEL,
        "text_completion": Kind.MODEL,
        "generate_content": Kind.MODEL,
        "execute_tool": Kind.TOOL,
        "retrieval": Kind.RETRIEVAL,
        _CYCLE: Kind.WRAPPER,
    }
)
# OpenInference, OpenLLMetry, Langfuse and LangSmith each have an attribute of their own.
_BY_VENDOR: Final[Mapping[str, Mapping[object, Kind]]] = MappingProxyType(
    {
        Span.KIND.value: MappingProxyType({"LLM": Kind.MODEL, "TOOL": Kind.TOOL, "RETRIEVER": Kind.RETRIEVAL}),
        "llm.request.type": MappingProxyType({"chat": Kind.MODEL, "completion": Kind.MODEL}),
        "traceloop.span.kind": MappingProxyType({"tool": Kind.TOOL}),
        "langfuse.observation.type": MappingProxyType(
            {"generation": Kind.MODEL, "tool": Kind.TOOL, "retriever": Kind.RETRIEVAL}
        ),
        "langsmith.span.kind": MappingProxyType({"llm": Kind.MODEL, "tool": Kind.TOOL, "retriever": Kind.RETRIEVAL}),
    }
)


def kind_of(span: SpanRecord) -> Kind:
    """Tell what a span is."""
    attributes = span.attributes
    if Span.RUN in attributes:
        return Kind.INVOCATION
    if Span.HOOK in attributes:
        return Kind.HOOK
    if Span.DECISION in attributes:
        return Kind.GUARD
    operation = attributes.get(OPERATION)
    if type(operation) is str:
        if (kind := _BY_OPERATION.get(operation)) is not None:
            return kind
        if operation == INVOKE_AGENT:
            return Kind.WRAPPER if span.scope.startswith(_STRANDS) else Kind.OTHER
    return _by_vendor(span)


def is_botocore(span: SpanRecord) -> bool:
    """Tell whether the AWS client made a span, whoever called it."""
    return span.scope.startswith(BOTOCORE)


def is_retrieve(span: SpanRecord) -> bool:
    """Tell whether a span is the call of AWS behind a retrieval."""
    return span.attributes.get("rpc.method") == "Retrieve" or span.name.endswith(".Retrieve")


def _by_vendor(span: SpanRecord) -> Kind:
    attributes = span.attributes
    for name, kinds in _BY_VENDOR.items():
        said = attributes.get(name)
        if type(said) is str and (kind := kinds.get(said)) is not None:
            return kind
    if Span.DOCUMENTS in attributes or any(key.startswith(FLATTENED_DOCUMENTS) for key in attributes):
        return Kind.RETRIEVAL
    if span.name in {_ENTRANCE, _CYCLE} or (span.name.startswith(_MEMORY) and span.scope.startswith(_STRANDS)):
        return Kind.WRAPPER
    return Kind.OTHER
