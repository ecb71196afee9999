"""Reading a trail's lines: spans of any shape, slim lines, and what says nothing. Nothing raises."""

from __future__ import annotations

import itertools
import json
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import Span
from console.trace.reading import BEGINNING, event_of, material, span_of
from console.trace.record import EventRecord, SpanRecord, Unread
from tests.console.trace.trails import at, event, lines, span, story


def read(document: dict[str, Any]) -> SpanRecord:
    """Read a line that must be a span."""
    (found,) = material([json.dumps(document)]).spans
    return found


def told(document: dict[str, Any]) -> EventRecord:
    """Read a line that must be an event."""
    (found,) = material([json.dumps(document)]).events
    return found


def test_a_span_is_read_with_all_that_its_line_says() -> None:
    """Ids, name, kind, times, attributes, status, scope and links stand in the record."""
    found = read(
        span("chat", "c1", "l1", start=2, seconds=0.5, status="OK", links=[("b2" * 16, "i2")], odd__key=[1, 2])
    )
    assert (found.trace_id, found.span_id, found.parent_id) == ("a1" * 16, "c1", "l1")
    assert (found.name, found.kind, found.status, found.scope) == ("chat", "INTERNAL", "OK", "strands.telemetry.tracer")
    assert (found.start_ns, found.end_ns) == (at(2), at(2.5))
    assert found.attributes["odd.key"] == [1, 2]
    assert found.links == (("b2" * 16, "i2"),)


def test_a_slim_line_is_read_with_its_place_in_its_chain() -> None:
    """Session, moment, seq, chain, run and ids stand in the record, the whole object beside them."""
    found = told(event("llm_call", 7, after=1.5, span_id="c1", cost_usd=0.25))
    assert (found.name, found.seq, found.chain, found.run) == ("llm_call", 7, "session", "run-1")
    assert found.ts is not None
    assert found.ts.isoformat() == "2026-03-14T03:00:01.500000+00:00"
    assert found.fields["cost_usd"] == Decimal("0.25")


def test_money_keeps_every_digit_that_its_line_has() -> None:
    """An amount that no binary number holds is read as it is written."""
    line = json.dumps(event("llm_call", 1)).replace('"agent"', '"cost_usd":0.10000000000000000000000001,"agent"')
    (found,) = material([line]).events
    assert found.fields["cost_usd"] == Decimal("0.10000000000000000000000001")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"traceId":"a1', "truncated"),
        ('{"traceId":"a1","score":***}', "malformed"),
        ("INFO:     Application startup complete.", "no_object"),
        ("[1,2]", "no_object"),
        ("17", "no_object"),
        ('{"message":"hello"}', "unknown"),
        ('{"traceId":"a1"}', "unknown"),
        ('{"event":"gate"}', "unknown"),
        ('{"a":' * 200 + "1" + "}" * 200, "too_deep"),
        ('{"a":' + "[" * 100_000, "too_deep"),
        ('{"a":1e99999999999999999999}', "unknown"),
        ('{"a":' + "9" * 5_000 + "}", "unknown"),
    ],
)
def test_a_line_that_says_nothing_is_kept_with_its_reason(line: str, reason: str) -> None:
    """What is neither span nor event leaves its beginning, and why it was not read."""
    found = material([line.encode()])
    assert found.unread == (Unread(reason, line[:BEGINNING]),)
    assert not found.spans
    assert not found.events


def test_an_empty_line_is_no_line() -> None:
    """White space between lines, and a byte order mark before the first, say nothing."""
    first, *rest = lines(story())
    found = material([b"\xef\xbb\xbf" + first, b"", b"  \r\n", *rest])
    assert not found.unread
    assert found == material(lines(story()))


def test_bytes_that_are_no_utf8_lose_nothing_else() -> None:
    """A byte that no encoding has becomes a mark in its text; the span is read."""
    (found,) = material([lines([span("chat", "c1")])[0].replace(b"chat", b"ch\xffat")]).spans
    assert found.name == "ch\ufffdat"


def test_control_characters_and_lone_surrogates_stay_data() -> None:
    """They are kept as they are: who shows them makes them harmless."""
    line = json.dumps(span("chat", "c1")).replace("chat", "a\\u001b[31m\\ud800\x07b")
    (found,) = material([line]).spans
    assert found.name == "a\x1b[31m\ud800\x07b"


def test_attributes_may_come_as_the_list_that_otlp_writes() -> None:
    """Each value is taken out of its type."""
    attributes = [
        {"key": "text", "value": {"stringValue": "a"}},
        {"key": "number", "value": {"intValue": "7"}},
        {"key": "float", "value": {"doubleValue": 0.5}},
        {"key": "yes", "value": {"boolValue": True}},
        {"key": "list", "value": {"arrayValue": {"values": [{"intValue": 1}, {"stringValue": "b"}]}}},
        {"key": "map", "value": {"kvlistValue": {"values": [{"key": "in", "value": {"intValue": "2"}}]}}},
        {"key": "none", "value": None},
        {"key": 5, "value": {"intValue": 1}},
        "nothing",
    ]
    found = read({**span("chat", "c1"), "attributes": attributes})
    assert found.attributes == {
        "text": "a", "number": 7, "float": Decimal("0.5"), "yes": True, "list": [1, "b"], "map": {"in": 2},
        "none": None,
    }  # fmt: skip


def test_an_export_request_gives_all_its_spans() -> None:
    """One line of a collector's file may hold many spans, each with its scope, kinds and statuses as numbers."""
    bare = {key: value for key, value in span("x", "s1").items() if key != "scope"}
    spans = [{**bare, "kind": 3, "status": {"code": 2}}, {**bare, "spanId": "s2", "kind": 9, "status": {}}, 5]
    request = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "vendor"}, "spans": spans}]}, 5]}
    found = material([json.dumps(request)])
    assert [(one.span_id, one.scope, one.kind, one.status) for one in found.spans] == [
        ("s1", "vendor", "CLIENT", "ERROR"),
        ("s2", "vendor", "", ""),
    ]


def test_the_console_exporters_spans_are_read() -> None:
    """Ids in a context, times in ISO 8601, kinds with a prefix: another form of the same."""
    found = read(
        {
            "name": "ChatOpenAI",
            "context": {"trace_id": "0xabc", "span_id": "0x1"},
            "kind": "SpanKind.CLIENT",
            "parent_id": "0x2",
            "start_time": "2026-03-14T03:00:00.000000Z",
            "end_time": "2026-03-14T03:00:01.500000",
            "status": {"status_code": "ERROR", "description": "boom"},
            "attributes": {},
            "links": [{"context": {"trace_id": "0xdef", "span_id": "0x3"}}],
        }
    )
    assert (found.trace_id, found.span_id, found.parent_id, found.kind) == ("abc", "1", "2", "CLIENT")
    assert (found.start_ns, found.end_ns) == (at(0), at(1.5))
    assert (found.status, found.message, found.links) == ("ERROR", "boom", (("def", "3"),))


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (str(at(3)), at(3)),
        (float(at(0)), at(0)),
        ("2026-03-14T03:00:03Z", at(3)),
        ("2026-03-14T00:00:03-03:00", at(3)),
        ("yesterday", None),
        (float("nan"), None),
        (-5, None),
        (10**30, None),
        (True, None),
        ([1], None),
        (None, None),
    ],
)
def test_a_time_is_read_in_whatever_form_it_is_one(time: object, expected: int | None) -> None:
    """Digits, floats and ISO 8601 are times; what is none, or of no year that there is, is unknown."""
    assert read({**span("chat", "c1"), "startTimeUnixNano": time}).start_ns == expected


def test_fields_of_the_wrong_type_are_unknown() -> None:
    """A span whose fields are all wrong is still a span, with what it says."""
    wrong: dict[str, Any] = {
        "traceId": 17, "spanId": 4, "parentSpanId": ["x"], "name": 5, "kind": {}, "startTimeUnixNano": {},
        "attributes": "none", "status": 5, "scope": "s", "links": {"a": 1}, "events": [1, {"name": "e"}],
    }  # fmt: skip
    found = read(wrong)
    assert (found.trace_id, found.span_id, found.parent_id, found.name) == ("17", "4", "", "5")
    assert (found.kind, found.start_ns, found.attributes, found.links) == ("", None, {}, ())
    assert [one["name"] for one in found.events] == ["e"]
    twisted = told({"event": "gate", "run": 5, "seq": "x", "ts": 4, "attributes": [1], "step": "2"})
    assert (twisted.run, twisted.seq, twisted.ts, twisted.session_id, twisted.step) == ("5", None, None, "", 2)


def test_a_span_that_stands_twice_is_read_once() -> None:
    """Equal lines are one span; of lines that differ the first in time is kept, and said."""
    early, late = span("first", "c1", start=1), span("second", "c1", start=2)
    assert len(material(lines([early, early])).spans) == 1
    assert material(lines([early, early])).notes == ()
    for order in ([early, late], [late, early]):
        found = material(lines(order))
        assert [one.name for one in found.spans] == ["first"]
        assert [note.code for note in found.notes] == ["span_twice"]


def test_the_same_id_in_two_traces_is_two_spans() -> None:
    """A span's id is one of its trace alone."""
    assert len(material(lines([span("a", "c1"), span("b", "c1", trace_id="b2" * 16)])).spans) == 2


def test_an_event_that_stands_twice_is_read_once() -> None:
    """Events with one id are one; those without an id are one if they say the same."""
    nameless = {key: value for key, value in event("gate", 1).items() if key != "event_id"}
    assert len(material(lines([event("gate", 1), event("gate", 1)])).events) == 1
    assert len(material(lines([nameless, nameless, {**nameless, "seq": 2}])).events) == 2
    found = material(lines([event("gate", 1, after=2), event("gate", 1, after=1)]))
    assert [note.code for note in found.notes] == ["event_twice"]
    assert len(found.events) == 1


def test_an_event_is_no_span_whatever_ids_it_has() -> None:
    """Slim lines name traces and spans too, and are none."""
    document = event("llm_call", 2, span_id="c1")
    assert event_of(document) is not None
    assert span_of({"traceId": "", "spanId": "x"}) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.binary(max_size=60) | st.text(max_size=60) | _JSON.map(json.dumps), max_size=8))
def test_nothing_raises_whatever_the_lines_hold(given_lines: list[bytes | str]) -> None:
    """Any bytes, texts and JSON are read, as far as they say anything; no line is lost but by being there twice."""
    found = material(given_lines)
    assert len(found.spans) + len(found.events) + len(found.unread) <= len(given_lines)


@given(st.randoms(use_true_random=False))
def test_the_order_of_lines_and_how_often_they_stand_does_not_matter(order: random.Random) -> None:
    """A trail that is read in pieces, twice, or backwards holds the same."""
    whole = [*lines(story()), b'{"cut', b"no json"]
    mixed = [*whole, *order.choices(whole, k=5)]
    order.shuffle(mixed)
    one, other = material(whole), material(mixed)
    assert {(each.trace_id, each.span_id) for each in one.spans} == {
        (each.trace_id, each.span_id) for each in other.spans
    }
    assert len(one.spans) == len(other.spans)
    assert len(one.events) == len(other.events)
    assert (one.unread, one.notes) == (other.unread, other.notes)
    assert all(Span.SESSION in each.attributes for each in other.spans)


def test_values_that_are_equal_and_not_the_same_are_two() -> None:
    """A cost of 0, of false and of a text "0" are three things: which is shown does not hang on the order."""
    documents = [event("llm_call", 1, cost_usd=cost) for cost in (0, False, "0", 0.0)]
    kept = {repr(material(lines(order)).events) for order in itertools.permutations(documents)}
    assert len(kept) == 1
