"""Name a span by tokens: a model may have invented the tool that it calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.util.types import AttributeValue

from agent_image.contract import Span
from agent_image.telemetry.allowed import TOOL
from agent_image.telemetry.forms import TOKEN

SERVICE_OPERATION: Final = re.compile(r"[A-Za-z0-9 -]{1,64}\.[A-Za-z0-9]{1,64}")
EXECUTE_TOOL: Final = "execute_tool"
OPERATIONS: Final = frozenset(
    {
        "chat",
        "embeddings",
        EXECUTE_TOOL,
        "guard",
        "invocation",
        "generate_content",
        "invoke_agent",
        "retrieval",
        "text_completion",
    }
    | {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE", "HTTP"}
)
"""What may stand before another token in a span's name."""
BOTOCORE: Final = "opentelemetry.instrumentation.botocore"


def name_of(span: ReadableSpan, attributes: Mapping[str, AttributeValue]) -> str:
    """Give the name that may leave; the operation stands for one that may not."""
    scope = span.instrumentation_scope.name if span.instrumentation_scope else ""
    first, _, rest = span.name.partition(" ")
    if scope.startswith(BOTOCORE) and SERVICE_OPERATION.fullmatch(span.name):
        return span.name
    if first == EXECUTE_TOOL and attributes.get(TOOL) != rest:
        return first
    if first in OPERATIONS:
        return span.name if TOKEN.fullmatch(rest) else first
    return span.name if TOKEN.fullmatch(span.name) else str(attributes.get(Span.OPERATION, "span"))
