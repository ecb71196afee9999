"""Read what OTLP writes in a way of its own: attributes as a list of typed values, and many spans in one object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from console.trace.values import members, text, whole

_SCALARS: Final = frozenset({"stringValue", "boolValue", "doubleValue", "bytesValue"})
_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES: Final = ("UNSET", "OK", "ERROR")


def flat(attributes: object) -> Mapping[str, Any]:
    """Give attributes as a flat map, whether they are one or OTLP's list; what is neither has none."""
    if type(attributes) is dict:
        return attributes
    if not isinstance(attributes, list):
        return {}
    found = (members(one) for one in attributes)
    return {one["key"]: _value(one.get("value")) for one in found if isinstance(one.get("key"), str)}


def kind_in(value: object) -> str:
    """Read a span's kind, whether it is written as its name, with a prefix, or as its number."""
    return _named(value, _KINDS).removeprefix("SpanKind.").removeprefix("SPAN_KIND_")


def status_in(value: object) -> str:
    """Read a status code, whether it is written as its name, with a prefix, or as its number."""
    return _named(value, _STATUSES).removeprefix("STATUS_CODE_")


def spans_in(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """List the spans of an export request, each with its scope."""
    for resource in _objects(document.get("resourceSpans")):
        for scoped in _objects(resource.get("scopeSpans")):
            for span in _objects(scoped.get("spans")):
                yield {"scope": scoped.get("scope"), **span}


def _named(value: object, names: Sequence[str]) -> str:
    if type(value) is str:
        return value
    number = whole(value)
    return names[number] if number is not None and 0 <= number < len(names) else ""


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def _value(value: object) -> Any:  # noqa: ANN401 - an attribute's value is of any type
    """Take a value out of its type; one that has none is kept as it is. Lines are no deeper than reading lets in."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, held),) = value.items()
    if kind in _SCALARS:
        return held
    if kind == "intValue":
        number = whole(held)
        return held if number is None else number
    if kind == "arrayValue":
        values = members(held).get("values")
        return [_value(one) for one in values] if isinstance(values, list) else held
    if kind == "kvlistValue":
        return {text(one.get("key")): _value(one.get("value")) for one in _objects(members(held).get("values"))}
    return value
