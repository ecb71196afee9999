"""Give what a span says beside what has a place of its own in a session, as plain values that any writer takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from agent_image.contract import Span
from console.trace.kinds import FLATTENED_DOCUMENTS, OPERATION
from console.trace.values import amount

# Each is shown elsewhere in the session, or is the same on every span.
_SHOWN: Final = frozenset(
    {
        *(name.value for name in Span),
        OPERATION,
        "error.type",
        "gen_ai.agent.name",
        "gen_ai.conversation.id",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.response.finish_reasons",
        "gen_ai.response.model",
        "gen_ai.system",
        "gen_ai.tool.call.id",
        "gen_ai.tool.name",
        "gen_ai.tool.status",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.total_tokens",
    }
)
_PLAIN: Final = frozenset({str, int, bool, type(None)})


def beside(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the attributes that nothing else of a session shows."""
    return {
        key: value if type(value) in _PLAIN else plain(value)
        for key, value in attributes.items()
        if key not in _SHOWN and not key.startswith(FLATTENED_DOCUMENTS)
    }


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape, no deeper than reading lets in
    """Give a value with numbers that JSON has: what is beyond them becomes a text."""
    if isinstance(value, Decimal | float):
        number = amount(value)
        return str(value) if number is None or not math.isfinite(float(number)) else float(number)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value
