"""Make one step of one span, and of what an event says of the same: each fact from where it is known best."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from agent_image.contract import Field, Span
from console.trace.beside import beside
from console.trace.kinds import OPERATION
from console.trace.passages import Named, passages_of
from console.trace.record import EventRecord, SpanRecord
from console.trace.session import ModelCall, OtherStep, Retrieval, Step, Tokens
from console.trace.values import amount, count, flag, members, milliseconds_between, moment_of, nanoseconds_of, text

FAILED: Final = "error"
"""What failed where nobody says what."""
_ERROR: Final = "ERROR"
_HTTP_STATUSES: Final = ("http.status_code", "http.response.status_code")
_HTTP_FAILED: Final = 500
_NANOSECONDS: Final = 1_000_000
_INPUT: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
_OUTPUT: Final = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
_CACHE_READ: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
)
_CACHE_WRITE: Final = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
)
_MODEL: Final = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "llm.request.model")


def first_text(attributes: Mapping[str, Any], names: Sequence[str]) -> str:
    """Give the first of some attributes that holds a text."""
    for name in names:
        if name in attributes and (said := text(attributes[name])):
            return said
    return ""


def error_of(span: SpanRecord) -> str:
    """Say what failed in a span: a type, a code, a message; empty where nothing did."""
    said = text(span.attributes.get("error.type"))
    if span.status == _ERROR:
        raised = (text(members(one.get("attributes")).get("exception.type")) for one in span.events)
        return said or span.message or next(filter(None, raised), FAILED)
    if said:
        return said
    statuses = (count(span.attributes[name]) for name in _HTTP_STATUSES if name in span.attributes)
    return next((str(status) for status in statuses if status is not None and status >= _HTTP_FAILED), "")


def began(event: EventRecord) -> int | None:
    """Tell when what an event reports began, in nanoseconds: a call of a model is told of when it has ended."""
    if event.ts is None:
        return None
    took = amount(event.fields.get(Field.LATENCY_MS)) or 0
    return nanoseconds_of(event.ts) - int(took * _NANOSECONDS)


def tokens_in(field: object) -> Tokens:
    """Read an event's tokens."""
    counts = members(field)
    return Tokens(
        count(counts.get("input")),
        count(counts.get("output")),
        count(counts.get("cache_read")),
        count(counts.get("cache_write")),
    )


def model_call(
    span: SpanRecord | None, inner: SpanRecord | None, event: EventRecord | None, children: tuple[Step, ...]
) -> ModelCall:
    """Make a model's call of its span, of the AWS client's span of the same call, and of its event."""
    outer = span or inner
    said = {} if span is None else span.attributes
    more = {} if inner is None else inner.attributes
    told = {} if event is None else event.fields
    known = {**more, **said} if more else said
    counted = told.get(Field.TOKENS)
    tokens = tokens_in(counted) if isinstance(counted, dict) else _tokens(known)
    model = text(told.get(Field.MODEL)) or first_text(known, _MODEL)
    started, duration = _times(outer, event)
    return ModelCall(
        title=model or (outer.name if outer is not None else "") or "model",
        span_id="" if outer is None else outer.span_id,
        started=started,
        duration_ms=duration,
        error=_failed(told) or ("" if span is None else error_of(span)) or ("" if inner is None else error_of(inner)),
        children=children,
        attributes=beside(known),
        model=model,
        tokens=tokens,
        cost_usd=amount(told.get(Field.COST_USD)),
        stop_reason=text(told.get(Field.STOP_REASON)) or _finish(known),
        hook=text(told.get(Field.HOOK)),
    )


def retrieval(
    span: SpanRecord, named: Named, cited: Collection[int], inner: Sequence[SpanRecord], children: tuple[Step, ...]
) -> Retrieval:
    """Make a retrieval of its span, and of the AWS client's spans below it."""
    attributes = span.attributes
    passages = passages_of(named, attributes, cited)
    counted = count(attributes.get(Span.PASSAGES))
    if counted is None and passages is not None and not named.malformed:
        counted = len(passages)
    source = text(attributes.get(Span.DATA_SOURCE))
    top_k = count(attributes.get(Span.TOP_K))
    return Retrieval(
        title=span.name or f"retrieval {source}".rstrip(),
        span_id=span.span_id,
        started=moment_of(span.start_ns),
        duration_ms=milliseconds_between(span.start_ns, span.end_ns),
        error=next(filter(None, map(error_of, (span, *inner))), ""),
        children=children,
        attributes=beside(attributes),
        data_source=source,
        top_k=count(attributes.get("gen_ai.request.top_k")) if top_k is None else top_k,
        index_version=text(attributes.get(Span.INDEX_VERSION)),
        count=counted,
        passages=passages,
        malformed=named.malformed,
    )


def other(span: SpanRecord, children: tuple[Step, ...]) -> OtherStep:
    """Make a step of any other span."""
    method = text(span.attributes.get("rpc.method"))
    return OtherStep(
        title=span.name or "span",
        span_id=span.span_id,
        started=moment_of(span.start_ns),
        duration_ms=milliseconds_between(span.start_ns, span.end_ns),
        error=error_of(span),
        children=children,
        attributes=beside(span.attributes),
        operation=first_text(span.attributes, (OPERATION, Span.KIND.value, "traceloop.span.kind")) or method,
        scope=span.scope,
    )


def _tokens(attributes: Mapping[str, Any]) -> Tokens:
    return Tokens(*(_count(attributes, names) for names in (_INPUT, _OUTPUT, _CACHE_READ, _CACHE_WRITE)))


def _count(attributes: Mapping[str, Any], names: Sequence[str]) -> int | None:
    for name in names:
        if name in attributes:
            return count(attributes[name])
    return None


def _finish(attributes: Mapping[str, Any]) -> str:
    reasons = attributes.get("gen_ai.response.finish_reasons")
    said = reasons if isinstance(reasons, list) else [reasons]
    return ", ".join(filter(None, map(text, said)))


def _failed(told: Mapping[str, Any]) -> str:
    return (text(told.get(Field.CODE)) or FAILED) if flag(told.get(Field.IS_ERROR)) else ""


def _times(span: SpanRecord | None, event: EventRecord | None) -> tuple[Any, Any]:
    """Give a start and a duration: the span's clock is finer than the event's."""
    start = None if span is None else span.start_ns
    took = None if span is None else milliseconds_between(span.start_ns, span.end_ns)
    if event is None:
        return moment_of(start), took
    return moment_of(began(event) if start is None else start), (
        amount(event.fields.get(Field.LATENCY_MS)) if took is None else took
    )
