"""Export the trail: prune, strip, fit, sample, split, and count what the backend did not take."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agent_image.notice import notice
from agent_image.telemetry.prune import Pruner
from agent_image.telemetry.sampling import SessionSampler
from agent_image.telemetry.size import at_most, fitted, request_bytes
from agent_image.telemetry.strip import Strip

REQUEST_LIMIT: Final = 4_500_000
"""Bytes of one request, uncompressed. X-Ray takes 5 MB."""
REQUEST_SPANS: Final = 64
"""Spans of one request."""
FAIR_SHARE: Final = REQUEST_LIMIT // REQUEST_SPANS
"""Bytes up to which a span's bound will do: as many such spans as a request takes are no more than it takes."""


class Lost:
    """Count the spans that no backend took."""

    def __init__(self, tell: Callable[..., None] = notice) -> None:
        """Take the way to tell an operator."""
        self._tell = tell
        self._lock = threading.Lock()
        self.spans = 0

    def add(self, spans: int, reason: str) -> None:
        """Count spans, and say so with the type of what went wrong."""
        with self._lock:
            self.spans += spans
        self._tell("spans_lost", count=spans, reason=reason)


class TrailExporter(SpanExporter):
    """Stand between a span processor and the exporter that speaks to the backend."""

    def __init__(self, inner: SpanExporter, strip: Strip, pruner: Pruner, sampler: SessionSampler, lost: Lost) -> None:
        """Take the exporter that speaks to the backend, and the rules that what leaves has passed."""
        self.inner = inner
        self._strip = strip
        self._pruner = pruner
        self._sampler = sampler
        self._lost = lost

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export what may leave, in requests that the backend takes; one that fails does not take others with it."""
        ready = self._sampler.admitted(self._ready(spans))
        results = [self._sent(request) for request in requests(ready)]
        return SpanExportResult.SUCCESS if all(results) else SpanExportResult.FAILURE

    def shutdown(self) -> None:
        """Shut the exporter to the backend down."""
        self.inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter to the backend."""
        return self.inner.force_flush(timeout_millis)

    def _ready(self, spans: Sequence[ReadableSpan]) -> Iterator[ReadableSpan]:
        for span in self._pruner.pruned(spans):
            try:
                yield fitted(self._strip(span))
            except Exception as error:  # noqa: BLE001 - a span that cannot be stripped does not leave, and takes no other
                self._lost.add(1, type(error).__name__)

    def _sent(self, request: Sequence[ReadableSpan]) -> bool:
        try:
            result = self.inner.export(request)
        except Exception as error:  # noqa: BLE001 - whatever an exporter raises, the other requests go on
            self._lost.add(len(request), type(error).__name__)
            return False
        if result is not SpanExportResult.SUCCESS:
            self._lost.add(len(request), "refused")
        return result is SpanExportResult.SUCCESS


def requests(spans: Iterable[ReadableSpan]) -> Iterator[list[ReadableSpan]]:
    """Split spans, in their order, into requests that keep to both limits."""
    request: list[ReadableSpan] = []
    size = 0
    for span in spans:
        # Bounded, or measured as a request of its own: never less than it takes beside others.
        more = bound if (bound := at_most(span)) <= FAIR_SHARE else request_bytes(span)
        if request and (size + more > REQUEST_LIMIT or len(request) == REQUEST_SPANS):
            yield request
            request, size = [], 0
        request.append(span)
        size += more
    if request:
        yield request
