"""Every event of a session is in one chain of hashes, and nothing goes on that the chain cannot say."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import EventName
from agent_image.errors import AuditError
from agent_image.guard.audit import (
    BACKLOG_LINES,
    BATCH_LINES,
    SEEN_LIMIT,
    TEXT_LIMIT,
    AuditText,
    Sealed,
    decision_chain,
    lone_event,
    write_alone,
)
from agent_image.guard.events import Event, fields_of
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.plain import plain, text_of, words_of
from agent_image.guard.redaction import Redactor
from agent_image.guard.session import Head
from tests.agent_image.guard.chains import DIGEST, FULL, SESSION, START, FailingOutlet, chain, event, parsed


def shown(value: object, redact: Any = lambda value: value) -> dict[str, Any]:
    text: dict[str, Any] = json.loads(AuditText(redact, DIGEST)(words_of(value)))
    return text


def test_each_line_is_bound_to_the_one_before() -> None:
    """By its hash, over the line's own bytes without the member that holds it."""
    outlet = MemoryOutlet()
    events = chain(outlet)
    for step in range(3):
        events.append(EventName.TOOL_CALL, step=step, tool="x", args={"n": step})

    records = parsed(outlet.lines)
    assert [record["seq"] for record in records] == [1, 2, 3]
    assert [record["prev"] for record in records] == ["", records[0]["hash"], records[1]["hash"]]
    for raw, record in zip(outlet.lines, records, strict=True):
        bare = raw.replace(f',"hash":"{record["hash"]}"'.encode(), b"").rstrip(b"\n")
        assert hashlib.sha256(bare).hexdigest() == record["hash"]
    assert events.head == Head(3, records[-1]["hash"])


def test_a_run_goes_on_where_the_session_s_chain_ends() -> None:
    """The head that the session's record holds is the next line's `prev`."""
    outlet = MemoryOutlet()
    chain(outlet, head=Head(41, "f" * 64)).append(EventName.RUN_STARTED, kind="prompt")

    (record,) = parsed(outlet.lines)
    assert (record["seq"], record["prev"]) == (42, "f" * 64)


def test_an_event_is_written_when_it_happens_and_once() -> None:
    """The seed wrote at the end: two saves doubled every line, a crash lost them all."""
    outlet = MemoryOutlet()
    events = chain(outlet)

    for count in (1, 2, 3):
        events.append(EventName.LLM_CALL, model="m")
        assert len(outlet.lines) == count
    events.flush()
    events.flush()
    assert len(outlet.lines) == 3


def test_append_gives_the_event() -> None:
    """With the ids under which it is found again."""
    outlet = MemoryOutlet()
    said = chain(outlet, ids=lambda: ("t" * 32, "s" * 16)).append(EventName.GATE, step=7, tool="x")

    (record,) = parsed(outlet.lines)
    assert (said.name, said.step, said.session_id) == (EventName.GATE, 7, SESSION)
    assert (record["event_id"], record["trace_id"], record["span_id"]) == (said.event_id, "t" * 32, "s" * 16)


def test_an_unknown_field_changes_nothing() -> None:
    """The chain goes on as if nobody had said anything."""
    outlet = MemoryOutlet()
    events = chain(outlet)

    with pytest.raises(ValueError, match="colour"):
        events.append(EventName.ERROR, colour="red")
    assert events.head == Head()
    assert not outlet.lines


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Let threads interrupt each other as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("eager_threads")
def test_threads_share_a_chain() -> None:
    """Calls of one model step run side by side."""
    outlet = MemoryOutlet()
    events = chain(outlet)
    threads = [
        Thread(target=lambda: [events.append(EventName.TOOL_RESULT, tool="x") for _ in range(50)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    records = parsed(outlet.lines)
    assert [record["seq"] for record in records] == list(range(1, 201))
    assert [record["prev"] for record in records] == ["", *(record["hash"] for record in records[:-1])]


# --- texts ------------------------------------------------------------------------------------------------------------


def test_a_text_says_how_long_it_was_and_which_it_was() -> None:
    """The same text has the same digest, wherever it stands."""
    assert shown("João") == {"text": "João", "chars": 4, "bytes": 5, "truncated": False, "digest": DIGEST.of("João")}


def test_a_long_text_is_cut_and_says_so() -> None:
    """At 200 characters, with the length and the digest of the whole."""
    text = "é" * 250

    assert shown(text) == {
        "text": "é" * TEXT_LIMIT,
        "chars": 250,
        "bytes": 500,
        "truncated": True,
        "digest": DIGEST.of(text),
    }


def test_arguments_are_a_text_of_their_own() -> None:
    """In one order, so that equal arguments have one digest."""
    first, second = shown({"b": 1, "a": 2}), shown({"a": 2, "b": 1})

    assert first == second
    assert first["text"] == '{"a":2,"b":1}'


def test_what_must_not_be_kept_is_taken_out_before_the_cut() -> None:
    """A secret across the cut would otherwise be left in half."""
    secret = "x" * (TEXT_LIMIT - 5) + "SECRET-KEY"

    assert "SECRET" not in shown(secret, lambda value: value.replace("SECRET-KEY", "[KEY]"))["text"]
    assert shown({"a": "SECRET"}, lambda value: {**value, "a": "[KEY]"})["text"] == '{"a":"[KEY]"}'


def test_of_a_long_text_only_the_beginning_is_looked_at() -> None:
    """Of megabytes, nobody redacts much more than is shown; that something was left out is said in any case."""
    looked_at: list[int] = []

    def redact(value: str) -> str:
        looked_at.append(len(value))
        return "[KEY]"

    text = "x" * 1_000_000
    assert shown(text, redact) == {
        "text": "[KEY]",
        "chars": 1_000_000,
        "bytes": 1_000_000,
        "truncated": True,
        "digest": DIGEST.of(text),
    }
    assert looked_at == [TEXT_LIMIT + SEEN_LIMIT]


@given(
    st.lists(
        st.sampled_from(["order 5501", "ana@example.com", "4111 1111 1111 1111", "sk-ant-" + "a1" * 20, "é" * 50, "\n"])
        | st.text(max_size=60),
        max_size=40,
    ).map(lambda parts: " ".join(parts * 20)),
    st.sampled_from([lambda text: text, lambda text: {"note": text}, lambda text: [{"text": text}]]),
)
def test_what_is_shown_is_what_redaction_of_the_whole_shows(text: str, value: Callable[[str], object]) -> None:
    """Up to the cut, however long the text goes on behind it."""
    redact = Redactor(DIGEST).redact

    assert shown(value(text), redact)["text"] == text_of(redact(plain(value(text))))[:TEXT_LIMIT]


def test_a_text_that_cannot_be_redacted_is_withheld() -> None:
    """Its length and digest are not: they say nothing of it."""

    def broken(_: object) -> object:
        raise RuntimeError

    assert shown("secret", broken) == {
        "text": "[REDACTED]",
        "chars": 6,
        "bytes": 6,
        "truncated": False,
        "digest": DIGEST.of("secret"),
    }


# --- an outlet that fails ---------------------------------------------------------------------------------------------


def test_an_event_that_cannot_be_written_raises() -> None:
    """And none is lost: it goes first when the outlet takes lines again."""
    outlet = FailingOutlet()
    events = chain(outlet)
    outlet.write_error = FULL

    with pytest.raises(AuditError) as refused:
        events.append(EventName.TOOL_CALL, tool="refund_order")
    assert refused.value.code == "audit_unwritable"
    outlet.write_error = None
    events.append(EventName.ERROR, code="audit_unwritable")
    assert [record["seq"] for record in parsed(outlet.lines)] == [1, 2]


def test_after_a_failure_no_tool_is_called_until_a_flush_succeeds() -> None:
    """Results are still taken: what has happened must be told."""
    outlet = FailingOutlet()
    events = chain(outlet)
    outlet.write_error = FULL
    with pytest.raises(AuditError):
        events.append(EventName.TOOL_RESULT, tool="x")
    outlet.write_error = None

    events.append(EventName.TOOL_RESULT, tool="y")
    with pytest.raises(AuditError):
        events.append(EventName.TOOL_CALL, tool="z")
    events.flush()
    events.append(EventName.TOOL_CALL, tool="z")
    assert [record.get("tool") for record in parsed(outlet.lines)] == ["x", "y", "z"]


@pytest.mark.parametrize("error", [FULL, RuntimeError("the outlet's own fault")])
def test_a_flush_that_fails_raises_and_says_no_head(error: Exception) -> None:
    """Whatever the outlet raises, the caller gets one type."""
    outlet = FailingOutlet()
    events = chain(outlet)
    events.append(EventName.TOOL_CALL, tool="x")
    outlet.sync_error = error

    with pytest.raises(AuditError):
        events.flush()
    with pytest.raises(AuditError):
        events.append(EventName.TOOL_CALL, tool="y")
    outlet.sync_error = None
    assert events.flush().seq == 1
    assert outlet.synced == 1


def test_a_batch_that_may_have_arrived_goes_again_as_it_was() -> None:
    """What came since goes after it, and not into it: an object store would take it for another's."""
    outlet = FailingOutlet(at_once=False)
    events = chain(outlet)
    events.append(EventName.TOOL_CALL, tool="a")
    outlet.write_error = FULL
    with pytest.raises(AuditError):
        events.flush()
    events.append(EventName.TOOL_RESULT, tool="b")
    outlet.write_error = None

    assert events.flush() == events.head
    (first, *_), (second, folder, run, seq), (third, _, _, later) = outlet.writes
    assert first == second
    assert (folder, run, seq, later) == ((SESSION,), "run-1", 1, 2)
    assert len(third) == 1


def test_lines_wait_for_a_flush_where_each_would_be_an_object() -> None:
    """But not for ever: memory is bounded."""
    outlet = FailingOutlet(at_once=False)
    events = chain(outlet)
    for _ in range(BATCH_LINES + 1):
        events.append(EventName.LLM_CALL)

    assert [(len(lines), seq) for lines, _, _, seq in outlet.writes] == [(BATCH_LINES, 1)]
    events.flush()
    assert [(len(lines), seq) for lines, _, _, seq in outlet.writes] == [(BATCH_LINES, 1), (1, BATCH_LINES + 1)]


def test_an_outlet_that_takes_nothing_ends_the_run() -> None:
    """Before memory does."""
    outlet = FailingOutlet()
    outlet.write_error = FULL
    events = chain(outlet)
    codes = []
    for _ in range(BACKLOG_LINES + 2):
        with pytest.raises(AuditError) as refused:
            events.append(EventName.LLM_CALL)
        codes.append(refused.value.code)

    assert codes.count("audit_unwritable") == BACKLOG_LINES
    assert events.head.seq == BACKLOG_LINES
    assert codes[-1] == "audit_backlog"


def test_the_slim_line_goes_out_even_if_the_audit_cannot_be_written() -> None:
    """Somebody should see it somewhere."""
    said: list[tuple[Event, Sealed]] = []
    outlet = FailingOutlet()
    outlet.write_error = FULL

    with pytest.raises(AuditError):
        chain(outlet, slim=lambda one, sealed: said.append((one, sealed))).append(EventName.ERROR, code="x")
    assert [one.name for one, _ in said] == [EventName.ERROR]


# --- lone events ------------------------------------------------------------------------------------------------------


def test_a_person_s_decision_is_a_chain_of_its_own() -> None:
    """Its hash goes into the decision's record; nothing comes before it."""
    outlet = FailingOutlet()
    one = event(
        EventName.DECISION,
        chain=decision_chain("c1"),
        fields=fields_of({"decision": "approve", "approver": "arn:aws:iam::1:user/ana", "reason": "fine"}),
    )

    sealed = write_alone(outlet, one, AuditText(lambda value: value, DIGEST))

    (record,) = parsed(outlet.lines)
    assert (record["chain"], record["seq"], record["prev"], record["hash"]) == ("decision/c1", 1, "", sealed.hash)
    assert record["reason"]["text"] == "fine"
    assert outlet.writes[0][1:] == (("decisions", "c1"), "e-1", 1)
    assert outlet.synced == 1


def test_equal_events_have_equal_lines() -> None:
    """A line follows from its event and the one before, and from nothing else."""
    text = AuditText(lambda value: value, DIGEST)

    assert lone_event(event(), text) == lone_event(event(ts=START), text)
