"""What holds free text does not leave, whoever wrote it and whatever it is called."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
    set_span_in_context,
)

from agent_image.contract import SCOPE, Regime, Span
from agent_image.telemetry.allowed import LIBRARIES, OURS, WORTHLESS
from agent_image.telemetry.forms import TEXTS_IN_A_LIST
from agent_image.telemetry.shape import encoded
from agent_image.telemetry.strip import Strip
from tests.agent_image.telemetry.spans import attributes, documents, made, provider

STRANDS = "strands.telemetry.tracer"
BOTOCORE = "opentelemetry.instrumentation.botocore.bedrock-runtime"
MARKER = "a question that nobody else may read, ção"
KEYS = sorted({key for group in (*LIBRARIES, *OURS, *WORTHLESS) for key in group.keys})
UNDER_PREFIXES = ["rag.anything", "rastro.anything", "gen_ai.server.anything", "memory.anything"]
TEXT_KEYS = [Span.QUESTION, Span.ANSWER_TEXT, Span.NOTE]
NO_CONTENT = [Regime.METADATA, Regime.ADDRESS, Regime.ARCHIVE]


def left(values: dict[str, Any], *, scope: str = STRANDS, regime: Regime = Regime.ADDRESS) -> dict[str, Any]:
    return attributes(Strip(regime)(made(attributes=values, scope=scope)))


@pytest.mark.parametrize(
    "key", ["gen_ai.input.messages", "gen_ai.tool.call.arguments", "system_prompt", "query", "http.request.body"]
)
def test_a_key_that_nobody_listed_does_not_leave(key: str) -> None:
    """It is counted on the span, so that an operator sees that a first lock is open."""
    assert left({key: "x", "gen_ai.operation.name": "chat"}) == {
        "gen_ai.operation.name": "chat",
        "rastro.stripped": 1,
    }


@pytest.mark.parametrize("regime", NO_CONTENT)
@pytest.mark.parametrize("scope", [STRANDS, SCOPE, BOTOCORE])
def test_a_sentence_leaves_under_no_key(scope: str, regime: Regime) -> None:
    """A listed key's value has a form, and none has room for a sentence but the places where sources lie."""
    open_to_us = {Span.BASE, Span.INDEX_VERSION} if scope == SCOPE else set()

    leaked = {
        key
        for key in [*KEYS, *TEXT_KEYS, *UNDER_PREFIXES]
        if MARKER in str(left({key: MARKER}, scope=scope, regime=regime))
    }

    assert leaked == open_to_us


@given(st.dictionaries(st.text(max_size=20), st.text(st.characters(codec=None), max_size=40), max_size=6), st.text())
@example({"gen_ai.request.model": "\ud800", "error.type": "\x00"}, "\ud800")
def test_whatever_leaves_of_a_library_is_a_token(values: dict[str, str], name: str) -> None:
    """No white space, no letter beyond ASCII: nothing that a person would have written."""
    real = made()
    span = ReadableSpan(name, real.get_span_context(), attributes=values, resource=real.resource)

    stripped = Strip(Regime.CONTENT)(span)

    assert " " not in "".join(str(value) for value in attributes(stripped).values())
    assert encoded(stripped).isascii()


def test_real_attributes_leave_in_their_form() -> None:
    """What the libraries say of a call in normal operation is all there, and nothing counts as stripped."""
    values = {
        "session.id": "a session of 33 characters: yes! 1",
        "gen_ai.request.model": "anthropic.claude-sonnet-4-20250514-v1:0",
        "gen_ai.response.finish_reasons": ["end_turn"],
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.server.time_to_first_token": 23.5,
        "rpc.service": "Bedrock Agent Runtime",
        "rpc.method": "Retrieve",
        "aws.request_id": "11111111-2222-3333-4444-555555555555",
        "aws.dynamodb.table_names": ["rastro-dev"],
        "http.status_code": 200,
        "http.route": "/invocations",
    }

    assert left(values) == values


def test_what_is_worth_nothing_is_left_out_and_not_counted() -> None:
    """Bytes are what a trail costs; a key id of a credential is nobody's business."""
    assert (
        left(
            {
                "gen_ai.event.start_time": "2026-01-01T00:00:00+00:00",
                "gen_ai.tool.json_schema": '{"type":"object"}',
                "gen_ai.tool.description": "Search.",
                "event_loop.cycle_id": "1",
                "aws.auth.account.access_key": "AKIAIOSFODNN7EXAMPLE",
                "net.peer.ip": "192.0.2.1",
                "gen_ai.tool.call.arguments": "[REDACTED]",
                "gen_ai.system_instructions": "REDACTED",
            }
        )
        == {}
    )


def test_a_list_is_as_free_as_its_freest_text() -> None:
    """One sentence among tokens takes the list with it; a long list is cut."""
    key = "gen_ai.response.finish_reasons"

    assert left({key: ["end_turn", MARKER]}) == {"rastro.stripped": 1}
    assert left({key: ["token"] * (TEXTS_IN_A_LIST + 1)}) == {key: ["token"] * TEXTS_IN_A_LIST}


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://user:secret@example.com:8443/a/b?q=secret#secret", "https://example.com:8443"),
        ("https://example.com/customers/secret", "https://example.com"),
        ("http://[2001:db8::1]:80/x", None),
        ("https://secret words.example.com/", None),
        ("not a url", None),
        ("http://example.com:port/", None),
        (7, None),
    ],
)
def test_of_a_url_only_its_origin_leaves(url: object, origin: str | None) -> None:
    """User info, path, query and fragment may be what a tool was asked."""
    assert left({"http.url": url}).get("http.url") == origin


def test_numbers_that_otlp_cannot_carry_do_not_leave() -> None:
    """One such value would take its attribute, and a log line with it, out of our hands."""
    assert left({"gen_ai.usage.input_tokens": 2**63}) == {"rastro.stripped": 1}


@pytest.mark.parametrize("regime", Regime)
@pytest.mark.parametrize("key", TEXT_KEYS)
def test_texts_of_ours_leave_in_one_regime_and_from_one_scope(key: Span, regime: Regime) -> None:
    """No library can smuggle text under the kit's names; in other regimes the names are locked for us too."""
    from_us = left({key: MARKER}, scope=SCOPE, regime=regime)

    assert from_us == ({key: MARKER} if regime is Regime.CONTENT else {"rastro.stripped": 1})
    assert left({key: MARKER}, scope=STRANDS, regime=regime) == {"rastro.stripped": 1}


@pytest.mark.parametrize("regime", Regime)
def test_documents_keep_their_addresses_and_lose_what_else_they_hold(regime: Regime) -> None:
    """The second lock of a regime without content: whatever a document says beside id and score stays here."""
    value = json.dumps([{"id": "a.md#f.1", "score": 0.5, "content": MARKER}])

    (kept,) = json.loads(left({Span.DOCUMENTS: value}, scope=SCOPE, regime=regime)[Span.DOCUMENTS])

    assert kept == {"id": "a.md#f.1", "score": 0.5} | ({"content": MARKER} if regime is Regime.CONTENT else {})
    assert left({Span.DOCUMENTS: value}, regime=regime) == {"rastro.stripped": 1}


def test_a_score_is_a_number() -> None:
    """A text in its place does not leave."""
    value = json.dumps([{"id": "a.md#f.1", "score": MARKER}])

    assert json.loads(left({Span.DOCUMENTS: value}, scope=SCOPE)[Span.DOCUMENTS]) == [{"id": "a.md#f.1", "score": None}]


@pytest.mark.parametrize("value", [MARKER, '"text"', "[1]", '{"id":"a"}', '[["id"]]', '["id and more"]', 7])
def test_documents_that_are_none_do_not_leave(value: object) -> None:
    """What cannot be read cannot be trusted."""
    assert left({Span.DOCUMENTS: value}, scope=SCOPE) == {"rastro.stripped": 1}


@pytest.mark.parametrize(
    ("name", "scope", "kept"),
    [
        ("POST /invocations", "opentelemetry.instrumentation.starlette", "POST /invocations"),
        ("chat anthropic.claude-sonnet-4-20250514-v1:0", BOTOCORE, "chat anthropic.claude-sonnet-4-20250514-v1:0"),
        ("Bedrock Agent Runtime.Retrieve", BOTOCORE, "Bedrock Agent Runtime.Retrieve"),
        ("execute_tool tell me what he said", STRANDS, "execute_tool"),
        ("invoke_agent Strands Agents", STRANDS, "invoke_agent"),
        ("retrieval KB12345678", SCOPE, "retrieval KB12345678"),
        ("execute_event_loop_cycle", STRANDS, "execute_event_loop_cycle"),
        ("Tell me.Everything", STRANDS, "work"),
        ("what he said", STRANDS, "work"),
        ("dito só aqui", "x", "work"),
        ("\ud800", "x", "work"),
        ("", "x", "work"),
    ],
)
def test_a_name_is_tokens(name: str, scope: str, kept: str) -> None:
    """A model may have invented the tool that it calls; its operation stands for it."""
    span = made(name, {"gen_ai.operation.name": "work"}, scope=scope)

    assert Strip(Regime.ADDRESS)(span).name == kept


@pytest.mark.parametrize(
    ("attributes", "name", "kept"),
    [
        ({"gen_ai.tool.name": "refund", "gen_ai.tool.description": "Refunds."}, "execute_tool refund", "refund"),
        ({"gen_ai.tool.name": "he_has_a_debt"}, "execute_tool", None),
        ({"gen_ai.tool.name": "he has a debt", "gen_ai.tool.description": "Refunds."}, "execute_tool", None),
    ],
)
def test_a_tool_is_named_that_the_agent_has(attributes: dict[str, str], name: str, kept: str | None) -> None:
    """A name that no tool has is the model's own words, token or not."""
    span = Strip(Regime.CONTENT)(made(f"execute_tool {attributes['gen_ai.tool.name']}", attributes, scope=STRANDS))

    assert span.name == name
    assert (span.attributes or {}).get("gen_ai.tool.name") == kept


def test_a_name_without_anything_to_stand_for_it() -> None:
    """A span is always something."""
    assert Strip(Regime.ADDRESS)(made("what he said", scope="x")).name == "span"


def test_of_an_exception_its_type_leaves_and_of_other_events_nothing() -> None:
    """Exceptions quote what they failed on; events are where libraries put messages."""
    span = provider().get_tracer(STRANDS).start_span("work")
    span.add_event("gen_ai.choice", {"message": MARKER})
    span.record_exception(ValueError(MARKER), {"exception.escaped": MARKER})
    span.add_event("exception", {"exception.type": MARKER})
    span.add_event(MARKER, {"exception.type": "ValueError"})
    span.end()
    assert isinstance(span, ReadableSpan)

    stripped = Strip(Regime.CONTENT)(span)

    assert [(event.name, dict(event.attributes or {})) for event in stripped.events] == [
        ("exception", {"exception.type": "ValueError"})
    ]
    assert MARKER.encode() not in encoded(stripped)


@pytest.mark.parametrize(
    ("description", "scope", "kept"),
    [
        ("access_denied", SCOPE, "access_denied"),
        ("throttled", SCOPE, "throttled"),
        ("ValueError: hunter2", SCOPE, None),
        ("Hunter2", SCOPE, None),
        ("throttled", STRANDS, None),
        (None, SCOPE, None),
    ],
)
def test_a_status_says_a_code_of_ours_or_nothing(description: str | None, scope: str, kept: str | None) -> None:
    """A library's description is an exception's text, and one word of it may be a password."""
    span = provider().get_tracer(scope).start_span("work")
    span.set_status(Status(StatusCode.ERROR, description))
    span.end()
    assert isinstance(span, ReadableSpan)

    status = Strip(Regime.ADDRESS)(span).status

    assert (status.status_code, status.description) == (StatusCode.ERROR, kept)


def test_links_scope_and_trace_state_keep_ids_and_names() -> None:
    """The trace state is the caller's own text, and a link's attributes are anybody's."""
    state = TraceState([("vendor", "secret")])
    caller = SpanContext(1, 2, is_remote=True, trace_flags=TraceFlags(1), trace_state=state)
    tracer = provider().get_tracer(STRANDS, "1", attributes={"secret": "secret"})
    parent = set_span_in_context(NonRecordingSpan(caller))
    span = tracer.start_span("work", context=parent, links=[Link(caller, {"secret": "secret"})])
    span.end()
    assert isinstance(span, ReadableSpan)

    stripped = Strip(Regime.CONTENT)(span)

    assert stripped.parent is not None
    assert (stripped.parent.trace_id, stripped.parent.span_id, stripped.parent.is_remote) == (1, 2, True)
    assert [(link.context.span_id, dict(link.attributes or {})) for link in stripped.links] == [(2, {})]
    assert stripped.instrumentation_scope is not None
    assert not stripped.instrumentation_scope.attributes
    for context in (stripped.get_span_context(), stripped.parent, stripped.links[0].context):
        assert context is not None
        assert not context.trace_state


def test_times_kind_and_ids_stay() -> None:
    """A stripped span is the same span."""
    span = made(attributes={Span.DOCUMENTS: documents("text")})

    stripped = Strip(Regime.ADDRESS)(span)

    assert stripped.get_span_context() == span.get_span_context()
    assert (stripped.start_time, stripped.end_time, stripped.kind) == (span.start_time, span.end_time, span.kind)
