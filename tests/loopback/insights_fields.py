"""Name the fields that lines of the trail have: a query that names another one finds nothing, so it is refused."""

from __future__ import annotations

from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext, TraceFlags

from agent_image.contract import Field, Span
from agent_image.guard.events import TOKENS
from agent_image.telemetry.shape import shape

GENERATED: Final = frozenset({"@timestamp", "@message", "@ptr", "@logStream", "@log", "@data_format"})
"""What Logs Insights makes of every line, or of every span."""
_CONTEXT: Final = SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(1))
_SHAPE: Final = shape(ReadableSpan("a span", context=_CONTEXT, parent=_CONTEXT))
OF_SPANS: Final = frozenset(
    {
        *(name for name, value in _SHAPE.items() if not isinstance(value, dict | list)),
        *(f"{name}.{key}" for name in ("status", "scope") for key in _SHAPE[name]),
        *(f"attributes.{name}" for name in Span),
    }
)
OF_EVENTS: Final = frozenset(
    {
        *(str(name) for name in Field if name not in {Field.ATTRIBUTES, Field.TOKENS}),
        *(f"{Field.TOKENS}.{count}" for count in TOKENS),
        f"{Field.ATTRIBUTES}.{Span.SESSION}",
    }
)
KNOWN: Final = GENERATED | OF_SPANS | OF_EVENTS
