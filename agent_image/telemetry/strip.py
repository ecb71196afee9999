"""Strip a span to what holds no free text: pure, by an allow-list of keys and of the forms of their values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, Status
from opentelemetry.util.types import AttributeValue

from agent_image.contract import SCOPE, Regime, Span
from agent_image.telemetry.allowed import TEXTS, TOOL, TOOL_DESCRIPTION, form_of
from agent_image.telemetry.forms import REDACTED, Form, carried, nothing, number, text, token
from agent_image.telemetry.span_name import name_of

CODE: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
"""What the codes of ours look like."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Strip the spans of a process, by its regime."""

    regime: Regime

    def __call__(self, span: ReadableSpan) -> ReadableSpan:
        """Give the span as it may leave: its ids, times and kind are the same."""
        ours = span.instrumentation_scope is not None and span.instrumentation_scope.name == SCOPE
        attributes = self._attributes(span.attributes or {}, ours=ours)
        return ReadableSpan(
            name=name_of(span, attributes),
            context=_context(span.get_span_context()),
            parent=_context(span.parent),
            resource=span.resource,
            attributes=attributes,
            events=tuple(_events(span.events)),
            links=tuple(Link(_bare(link.context)) for link in span.links),
            kind=span.kind,
            status=_status(span.status, ours=ours),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=_scope(span.instrumentation_scope),
        )

    def _attributes(self, attributes: Mapping[str, AttributeValue], *, ours: bool) -> dict[str, AttributeValue]:
        kept: dict[str, AttributeValue] = {}
        stripped = 0
        for key, value in attributes.items():
            invented = key == TOOL and TOOL_DESCRIPTION not in attributes
            form = None if invented else self._form(key, ours=ours)
            left = None if form is None else form(value)
            if left is not None:
                kept[key] = left
            elif form is not nothing and not (isinstance(value, str) and value in REDACTED):
                stripped += 1
        return kept | ({Span.STRIPPED.value: stripped} if stripped else {})

    def _form(self, key: str, *, ours: bool) -> Form | None:
        if ours and key == Span.DOCUMENTS:
            return self._documents
        if ours and key in TEXTS:
            return text if self.regime is Regime.CONTENT else None
        return form_of(key, ours=ours)

    def _documents(self, value: Any) -> AttributeValue | None:  # noqa: ANN401
        if self.regime is Regime.CONTENT:
            return text(value)
        return addresses_only(value)


def addresses_only(value: Any) -> AttributeValue | None:  # noqa: ANN401
    """Take everything but ids and scores out of a list of documents; what is no such list does not pass."""
    try:
        documents = json.loads(value)
        kept = [{"id": str(one["id"]), "score": number(one.get("score"))} for one in documents]
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return carried(json.dumps(kept, separators=(",", ":"), ensure_ascii=False))


def _context(context: SpanContext | None) -> SpanContext | None:
    return None if context is None else _bare(context)


def _bare(context: SpanContext) -> SpanContext:
    # The trace state is whatever the caller's header said.
    return SpanContext(context.trace_id, context.span_id, context.is_remote, context.trace_flags)


def _scope(scope: InstrumentationScope | None) -> InstrumentationScope | None:
    if scope is None:
        return None
    name, version, schema_url = (str(token(one) or "") for one in (scope.name, scope.version, scope.schema_url))
    return InstrumentationScope(name, version, schema_url)


def _events(events: Sequence[Event]) -> Iterator[Event]:
    for event in events:
        kind = token((event.attributes or {}).get("exception.type"))
        if event.name == "exception" and kind is not None:
            yield Event("exception", {"exception.type": kind}, event.timestamp)


def _status(status: Status, *, ours: bool) -> Status:
    # Others' descriptions are exceptions' texts; ours are codes, unless the SDK wrote an exception's text for us.
    is_code = ours and CODE.fullmatch(status.description or "") is not None
    return Status(status.status_code, status.description if is_code else None)
