"""Tell which lines of a trail answer a question: pure, over the JSON object of a line, whoever wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import unquote

from agent_image.contract import EventName, Field, Ruling, Span
from agent_image.retrieval.fingerprint import Fingerprint
from agent_image.retrieval.passage import Address, parse_address
from console.trace.otlp import flat
from console.trace.trail import Needle

START: Final = "startTimeUnixNano"
"""When a span began, in nanoseconds."""
TRACE: Final = "traceId"
LINKS: Final = "links"
RUN_EVENTS: Final = frozenset({EventName.RUN_STARTED, EventName.RUN_ENDED, EventName.ALERT, EventName.GATE})
"""The events that say how runs fared."""
DECIDED: Final = frozenset({Ruling.APPROVED, Ruling.EDITED, Ruling.BLOCKED})
"""What a call alone says: a person let it through, and its gate told only that it asked; or it came to none."""
_ID: Final = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*")')
_PLAIN: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOSECONDS: Final = 1_000
"""In a microsecond."""


def attributes_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the attributes of a span or of a slim line; none where there are none."""
    return flat(document.get("attributes"))


def session_id_of(document: Mapping[str, Any]) -> str:
    """Give the session that a line belongs to; empty where it does not say."""
    return _text(attributes_of(document).get(Span.SESSION))


def trace_id_of(document: Mapping[str, Any]) -> str:
    """Give the trace that a span or a slim line belongs to; empty where it does not say."""
    return _text(document.get(TRACE)) or _text(document.get(Field.TRACE_ID))


def linked_traces(document: Mapping[str, Any]) -> Iterator[str]:
    """List the traces that a span links to."""
    links = document.get(LINKS)
    for link in links if isinstance(links, list) else ():
        if isinstance(link, Mapping) and (trace_id := _text(link.get(TRACE))):
            yield trace_id


def moment_of(document: Mapping[str, Any]) -> datetime | None:
    """Tell when a span began, or when an event was; None where the line does not say."""
    try:
        if (start := document.get(START)) is not None:
            return _EPOCH + timedelta(microseconds=int(start) // _NANOSECONDS)
        moment = datetime.fromisoformat(_text(document.get(Field.TS)))
    except (ArithmeticError, TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_since(document: Mapping[str, Any], since: datetime | None) -> bool:
    """Tell whether a line is of that time; one that does not say when it was is."""
    moment = moment_of(document)
    return since is None or moment is None or moment >= since


def is_invocation(document: Mapping[str, Any]) -> bool:
    """Tell whether a line is the span of an invocation."""
    return TRACE in document and Span.RUN in attributes_of(document)


def begins_run(document: Mapping[str, Any]) -> bool:
    """Tell whether a line says when a run began."""
    return is_invocation(document) or document.get(Field.EVENT) == EventName.RUN_STARTED


def tells_of_runs(document: Mapping[str, Any]) -> bool:
    """Tell whether a line says how a run fared."""
    if is_invocation(document) or document.get(Field.EVENT) in RUN_EVENTS:
        return True
    # A hook's own word is no second ruling: the call that it held back says the same.
    ruled = document.get(Field.EVENT) not in {None, EventName.HOOK}
    return ruled and document.get(Field.DECISION) in DECIDED


def answers(document: Mapping[str, Any], answer: Fingerprint) -> bool:
    """Tell whether a line is the span of an invocation whose answer has this fingerprint."""
    return attributes_of(document).get(Span.ANSWER) == str(answer)


def reads(document: Mapping[str, Any], needle: Needle) -> bool:
    """Tell whether a line is the span of a retrieval that holds the passage, or one of the source."""
    attributes = attributes_of(document)
    base = _text(attributes.get(Span.BASE))
    return any(_is(address, base, needle) for address in _addresses(_text(attributes.get(Span.DOCUMENTS))))


def plain_part(text: str) -> str:
    """Give the longest part of a text that stands in JSON as it is, whoever wrote it, however often it was escaped."""
    parts = "".join(character if character in _PLAIN else " " for character in text).split()
    return max(parts, key=len, default="")


def same_source(one: str, other: str) -> bool:
    """Tell whether two URIs name one source: who writes one may escape what another leaves as it is."""
    return unquote(one) == unquote(other)


def source_part(uri: str) -> str:
    """Give a part of a URI's last name that stands in every way of writing it."""
    return plain_part(unquote(uri.rpartition("/")[2]))


def _is(address: Address, base: str, needle: Needle) -> bool:
    if needle.fingerprint:
        return needle.fingerprint in {address.fingerprint.text, str(address.fingerprint)}
    return same_source(address.uri(base), needle.uri)


def _addresses(documents: str) -> Iterator[Address]:
    for form in _ids(documents):
        try:
            yield parse_address(form)
        except ValueError:
            # Another vendor's id is no address.
            continue


def _ids(documents: str) -> Iterator[str]:
    try:
        listed = json.loads(documents)
    except (ValueError, RecursionError):
        # A list that was cut off still names those that stand before the cut.
        listed = [{"id": json.loads(found)} for found in _ID.findall(documents) if _is_json(found)]
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping):
            yield _text(one.get("id"))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
