"""Make another span of a span that has ended: the SDK's are read-only."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext
from opentelemetry.util.types import AttributeValue


def with_attributes(span: ReadableSpan, attributes: Mapping[str, AttributeValue]) -> ReadableSpan:
    """Give the same span with other attributes."""
    return _another(span, span.parent, attributes)


def below(span: ReadableSpan, parent: SpanContext | None) -> ReadableSpan:
    """Give the same span below another parent; a root where there is none."""
    return _another(span, parent, span.attributes or {})


def _another(span: ReadableSpan, parent: SpanContext | None, attributes: Mapping[str, AttributeValue]) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=parent,
        resource=span.resource,
        attributes=attributes,
        events=span.events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
