"""Fit a span into what the backend takes: pure; texts go first, addresses never."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.util.types import AttributeValue

from agent_image.contract import Span
from agent_image.telemetry.allowed import TEXTS
from agent_image.telemetry.another import with_attributes
from agent_image.telemetry.shape import encoded

SPAN_LIMIT: Final = 190_000
"""Bytes of one span, in the larger of its two encodings, resource included. X-Ray rejects a span over 200 KB whole."""
ELLIPSIS: Final = "…"
CHARACTER_BYTES: Final = 6
"""What one character takes at most, as JSON writes a control character."""
ENVELOPE_BYTES: Final = 1_000
"""What a span, an event, a link or an attribute takes at most beside its texts."""

Attributes = dict[str, AttributeValue]

KEPT: Final = frozenset(
    {
        Span.SESSION.value,
        Span.OPERATION.value,
        Span.DATA_SOURCE.value,
        Span.DOCUMENTS.value,
        Span.BASE.value,
        Span.INDEX_VERSION.value,
        Span.CONTENT_BYTES.value,
        Span.CONTENT_TRUNCATED.value,
    }
)
"""What a span keeps whatever its size: whose it is, and where its passages stand."""


def request_bytes(span: ReadableSpan) -> int:
    """Measure a span as a request of its own, in bytes of OTLP protobuf."""
    return int(encode_spans([span]).ByteSize())


def measured(span: ReadableSpan) -> int:
    """Measure a span in the larger of CloudWatch's JSON and OTLP's protobuf, in bytes."""
    return max(len(encoded(span)), request_bytes(span))


def at_most(span: ReadableSpan) -> int:
    """Bound a span's size without encoding it: most spans are small, and say so at once."""
    values = [*(span.attributes or {}).items(), *span.resource.attributes.items()]
    characters = sum(len(key) + len(str(value)) for key, value in values)
    return CHARACTER_BYTES * characters + ENVELOPE_BYTES * (1 + len(span.events) + len(span.links) + len(values))


def fitted(span: ReadableSpan, limit: int = SPAN_LIMIT) -> ReadableSpan:
    """Give a span of at most `limit` bytes: texts are cut evenly first, then other attributes go, longest first.

    Where addresses alone are too long, their URIs are cut and their fingerprints are not: words can still be found.
    """
    if at_most(span) <= limit or measured(span) <= limit:
        return span
    attributes = dict(span.attributes or {})
    for shorten in (_texts_cut, _others_dropped, _uris_cut):
        attributes = shorten(attributes, lambda tried: measured(with_attributes(span, tried)) <= limit)
        if measured(with_attributes(span, attributes)) <= limit:
            break
    return with_attributes(span, attributes)


Fits = Callable[[Attributes], bool]


def _texts_cut(attributes: Attributes, fits: Fits) -> Attributes:
    """Cut every text to the same number of bytes, the largest that fits; short ones stay whole."""
    texts = [text for text in _texts(attributes) if text]
    if not texts:
        return attributes
    sizes = [len(text.encode("utf-8", "replace")) for text in texts]

    def cut(allowance: int) -> Attributes:
        truncated = sum(size > allowance for size in sizes)
        original = attributes.get(Span.CONTENT_BYTES.value, sum(sizes))
        shortened = _map_texts(attributes, lambda text: cut_to(text, allowance))
        return shortened | {Span.CONTENT_BYTES.value: original, Span.CONTENT_TRUNCATED.value: truncated}

    return cut(_largest(max(sizes), lambda allowance: fits(cut(allowance))))


def _others_dropped(attributes: Attributes, fits: Fits) -> Attributes:
    """Drop what is neither an address nor an id, longest first."""
    left = dict(attributes)
    for key in sorted(left.keys() - KEPT, key=lambda key: len(str(left[key])), reverse=True):
        if fits(left):
            break
        left[Span.STRIPPED.value] = _count(left, Span.STRIPPED) + 1
        if key != Span.STRIPPED:
            del left[key]
    return left


def _uris_cut(attributes: Attributes, fits: Fits) -> Attributes:
    documents = _documents(attributes)
    if not documents:
        return attributes

    def cut(allowance: int) -> Attributes:
        shortened = [one | {"id": _uri_cut(str(one.get("id", "")), allowance)} for one in documents]
        return attributes | {Span.DOCUMENTS.value: _json(shortened)}

    longest = max(len(str(one.get("id", "")).encode("utf-8", "replace")) for one in documents)
    return cut(_largest(longest, lambda allowance: fits(cut(allowance))))


def _uri_cut(address: str, allowance: int) -> str:
    uri, mark, fingerprint = address.rpartition("#")
    return cut_to(uri, allowance) + mark + fingerprint


def cut_to(text: str, allowance: int) -> str:
    """Cut a text to at most `allowance` bytes of UTF-8, on a character's boundary, an ellipsis at its end."""
    data = text.encode("utf-8", "replace")
    if len(data) <= allowance:
        return text
    room = allowance - len(ELLIPSIS.encode())
    return data[:room].decode("utf-8", "ignore") + ELLIPSIS if room >= 0 else ""


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """Find the largest number, from 0 to `most`, that fits; 0 where none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _texts(attributes: Mapping[str, AttributeValue]) -> list[str]:
    own = [value for key in TEXTS if isinstance(value := attributes.get(key), str)]
    return own + [content for one in _documents(attributes) if isinstance(content := one.get("content"), str)]


def _map_texts(attributes: Attributes, change: Callable[[str], str]) -> Attributes:
    changed = attributes | {key: change(value) for key in TEXTS if isinstance(value := attributes.get(key), str)}
    documents = _documents(attributes)
    if documents:
        changed[Span.DOCUMENTS.value] = _json(
            [
                one | {"content": change(content)} if isinstance(content := one.get("content"), str) else one
                for one in documents
            ]
        )
    return changed


def _documents(attributes: Mapping[str, AttributeValue]) -> list[dict[str, object]]:
    value = attributes.get(Span.DOCUMENTS.value)
    return json.loads(value) if isinstance(value, str) else []


def _json(documents: list[dict[str, object]]) -> str:
    return json.dumps(documents, separators=(",", ":"), ensure_ascii=False)


def _count(attributes: Attributes, key: Span) -> int:
    value = attributes.get(key.value)
    return value if isinstance(value, int) else 0
