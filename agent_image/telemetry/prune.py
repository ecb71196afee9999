"""Leave out spans that are noise, and hang their children where they hung."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import SpanContext

from agent_image.telemetry.another import below

ASGI_EVENTS: Final = (" http send", " http receive", " websocket send", " websocket receive")
"""Ends of the names of the spans that ASGI makes for every event: a streamed answer has one for each piece."""
EVENT_LOOP: Final = "execute_event_loop_cycle"
REMEMBERED: Final = 10_000
"""Pruned spans whose parents are remembered: children end before them, and before the next thousands start."""


class Pruner(SpanProcessor):
    """Learn the parents of noise when it starts, for children end before their parents do."""

    def __init__(self, *, event_loop: bool) -> None:
        """Prune ASGI's events, and the agent's event loop cycles if asked."""
        self._event_loop = event_loop
        self._parents: OrderedDict[int, SpanContext | None] = OrderedDict()
        self._lock = threading.Lock()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:  # noqa: ARG002 - the SDK's signature
        """Remember the nearest kept ancestor of a span that is noise."""
        if not self._is_noise(span.name):
            return
        with self._lock:
            self._parents[span.get_span_context().span_id] = self._kept(span.parent)
            while len(self._parents) > REMEMBERED:
                self._parents.popitem(last=False)

    def pruned(self, spans: Iterable[ReadableSpan]) -> Iterator[ReadableSpan]:
        """Give the spans that are no noise, below their nearest kept ancestors."""
        for span in spans:
            if self._is_noise(span.name):
                continue
            with self._lock:
                parent = self._kept(span.parent)
            yield span if parent is span.parent else below(span, parent)

    def _is_noise(self, name: str) -> bool:
        return name.endswith(ASGI_EVENTS) or (self._event_loop and name == EVENT_LOOP)

    def _kept(self, parent: SpanContext | None) -> SpanContext | None:
        # What is remembered is kept itself: one step is enough.
        return parent if parent is None else self._parents.get(parent.span_id, parent)
