"""Queries hold what people and callers chose as values, and nothing else of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.retrieval.fingerprint import fingerprint
from console.errors import BadInputError
from console.trace.insights import query
from console.trace.insights.window import Window
from console.trace.trail import Needle
from tests.loopback.insights_language import MalformedQueryError, parse

START = datetime(2026, 3, 14, 3, 0, 0, tzinfo=UTC)
WINDOW = Window(START, START + timedelta(hours=3))
VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=60)


@given(session_ids=st.lists(VISIBLE, min_size=1, max_size=4, unique=True))
def test_any_session_id_is_one_value_of_one_index(session_ids: list[str]) -> None:
    """Quotes, backslashes, slashes and pipes end nothing and begin nothing."""
    parsed = parse(query.of_sessions(session_ids).text(WINDOW))

    assert parsed.indexed == (("attributes.session.id", tuple(session_ids)),)
    assert parsed.conditions == ()
    assert parsed.limit is None


@given(trace_id=VISIBLE)
def test_any_trace_id_is_one_value(trace_id: str) -> None:
    """A person may paste anything."""
    assert parse(query.of_trace(trace_id).text(WINDOW)).indexed == (("traceId", (trace_id,)),)


@given(uri=st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=40))
def test_any_uri_asks_for_a_part_of_its_name(uri: str) -> None:
    """Only a part that is the same in every span, however it was escaped, is looked for; the rest is matched here."""
    parsed = parse(query.reading(Needle(uri=uri)).text(WINDOW))

    fields = {"@data_format": "AWS-OTEL-TRACE-V1", "attributes.gen_ai.operation.name": "retrieval", "@message": uri}
    assert all(holds(fields) for holds in parsed.conditions)
    assert parsed.indexed == ()


@pytest.mark.parametrize("character", ["\n", "\0", "\x1b", "\u202e"])
def test_a_control_character_is_refused(character: str) -> None:
    """No id holds one."""
    with pytest.raises(BadInputError, match="control character"):
        query.of_sessions([f"a{character}b"])


def test_a_query_asks_for_whole_lines_in_their_order() -> None:
    """The text of the query for a session, as it is sent."""
    assert query.of_sessions(["s-1"]).text(WINDOW) == (
        'fields @timestamp, @message | filterIndex attributes.session.id = "s-1" | sort @timestamp asc'
    )


def test_without_an_index_the_same_is_a_condition() -> None:
    """INFREQUENT_ACCESS knows no filterIndex, nor do lines older than 30 days."""
    parsed = parse(query.without_session(["t-1", "t-2"]).unindexed().text(WINDOW))

    assert parsed.indexed == ()
    assert [holds({"traceId": "t-2"}) for holds in parsed.conditions] == [True]
    assert [holds({"traceId": "t-3"}) for holds in parsed.conditions] == [False]
    assert [holds({"traceId": "t-2", "attributes.session.id": "s"}) for holds in parsed.conditions] == [False]


def test_an_answer_s_index_is_used_where_there_is_one() -> None:
    """The index policy names it, or does not."""
    answer = fingerprint("an answer")

    assert query.answered(answer, {"name", "attributes.rag.answer"}).indexed
    assert not query.answered(answer, {"name"}).indexed


def test_a_window_is_asked_for_to_the_millisecond() -> None:
    """StartQuery takes whole seconds: what is finer is a condition."""
    window = Window(START + timedelta(milliseconds=250), START + timedelta(milliseconds=750))

    (condition,) = parse(query.of_trace("t").text(window)).conditions
    held = [condition({"@timestamp": int(START.timestamp() * 1000) + millisecond}) for millisecond in (249, 250, 751)]
    first, last = query.seconds(window)

    assert held == [False, True, False]
    assert (first, last) == (int(START.timestamp()), int(START.timestamp()) + 1)


@pytest.mark.parametrize(
    "text",
    [
        'fields @message | filterindex traceId = "a"',
        'fields @message | filter traceId = "a',
        'fields @message | filter traceId = "a"b"',
        "fields @message | filter traceId == 1",
        "fields message",
        "fields @message | filter traceId like /a/",
        "fields @message | sort @ingestionTime",
        "stats count(*)",
        "fields @message |",
        'filter evnt = "error"',
        'filter attributes.rastro.costusd = "1"',
        "fields @message | sort @timestamp up",
        'filter event = "error" | fields @message',
        "fields coalesce(tool, model)",
        "stats count(*) by event",
        "stats median(cost_usd) as usd by event",
        "stats count(*) as times by event | sort @timestamp desc",
        'stats count(*) as times by event | filter event = "error"',
        "# no query",
    ],
)  # fmt: skip
def test_the_server_of_these_tests_refuses_what_we_should_not_write(text: str) -> None:
    """Otherwise a typo would be an answer."""
    with pytest.raises(MalformedQueryError):
        parse(text)
