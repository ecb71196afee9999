"""A session as people think of it: turns in time, each with its calls, its words, its cost, and its resumes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent_image.contract import Regime
from console.trace.building import sessions_of
from console.trace.reading import material
from console.trace.session import GuardStep, ModelCall, Retrieval, Session, Tokens, ToolCall, Words
from tests.console.trace.built import built, codes, every, is_event, outline
from tests.console.trace.trails import (
    ANSWER,
    BASE,
    BEGAN,
    CHECKPOINT_ID,
    QUESTION,
    SESSION_ID,
    TEXTS,
    asked,
    event,
    invocation,
    lines,
    resumed,
    retrieval,
    slim,
    span,
    story,
    suspended,
)

UNRECORDED = "not recorded (regime address or archive)"


@pytest.fixture(scope="module")
def session() -> Session:
    return built(story())


def test_a_session_is_its_turns_in_time_without_what_only_wraps(session: Session) -> None:
    """Calls of models and tools stand in their order; what the guard said and what was retrieved, below their calls."""
    assert [outline(turn.steps) for turn in session.turns] == [
        ["offline", ["search_knowledge", "retrieval KB12345678"], "offline"],
        ["offline", ["refund_order", "guard asked"]],
        [["refund_order", "guard approved"], "offline"],
    ]
    assert [(turn.run, turn.kind, turn.outcome) for turn in session.turns] == [
        ("run-1", "prompt", "completed"),
        ("run-2", "prompt", "suspended"),
        ("run-3", "resume", "completed"),
    ]
    assert session.apart == ()
    assert session.notes == ()


def test_a_turn_says_what_it_cost_and_how_long_it_took(session: Session) -> None:
    """Cost and tokens come from the run's last event, times from the invocation's span."""
    turn = session.turns[0]
    assert turn.cost_usd == Decimal("0.003")
    assert turn.tokens == Tokens(1000, 50, 0, 0)
    assert turn.duration_ms == 8500
    assert turn.started is not None
    assert (turn.started - BEGAN).total_seconds() == 0.1
    assert turn.trace_id == "a1" * 16


def test_a_models_call_is_one_step_of_span_and_event(session: Session) -> None:
    """Times are the span's; model, tokens, cost and stop reason the event's."""
    call = next(every(session, ModelCall))
    assert (call.span_id, call.duration_ms) == ("c1", Decimal(1000))
    assert (call.model, call.stop_reason, call.cost_usd) == ("offline", "tool_use", Decimal("0.001"))
    assert call.tokens == Tokens(100, 10, 0, 0)


def test_a_tools_call_is_one_step_of_span_and_events(session: Session) -> None:
    """Zone, ruling, arguments, result and cost are the events'."""
    call = next(every(session, ToolCall))
    assert (call.span_id, call.tool, call.tool_use_id, call.zone, call.ruling) == (
        "t1", "search_knowledge", "use-1", "green", "allowed",
    )  # fmt: skip
    assert call.arguments == Words(None, 49, "iZUuG18FrIRvTgzP", UNRECORDED)
    assert call.result == Words(None, 4454, "iZUuG18FrIRvTgzP", UNRECORDED)
    assert call.cost_usd == 0


def test_a_resume_is_joined_to_the_run_that_it_goes_on_with(session: Session) -> None:
    """Each names the other, and the paused one its checkpoint."""
    _, paused, resume = session.turns
    assert (paused.resumed_by, paused.checkpoint_id) == (("run-3",), CHECKPOINT_ID)
    assert resume.resumes == "run-2"


@pytest.mark.parametrize("lost", ["link", "spans", "events", "checkpoint"])
def test_a_resume_is_joined_by_whatever_is_left(lost: str) -> None:
    """The span's link, the checkpoint's id and the call's id each do."""
    documents = story()
    if lost == "spans":
        documents = [one for one in documents if is_event(one)]
    elif lost == "events":
        documents = [one for one in documents if not is_event(one)]
    else:
        for one in documents:
            one.pop("links", None)
            if lost == "checkpoint" and one.get("decision") != "asked":
                one.pop("checkpoint_id", None)
    found = built(documents)
    assert [turn.resumes for turn in found.turns] == ["", "", "run-2"]


def test_who_approved_stands_below_the_call_that_ran(session: Session) -> None:
    """The ruling is one step, with the checkpoint and the person."""
    told = [one for one in every(session, GuardStep) if one.ruling == "approved"]
    assert [(one.checkpoint_id, one.approver, one.event) for one in told] == [(CHECKPOINT_ID, "maria", "tool_call")]


def test_what_was_asked_of_a_person_is_one_step_of_span_and_event(session: Session) -> None:
    """The guard's span and the gate's event are the same question."""
    told = [one for one in every(session, GuardStep) if one.ruling == "asked"]
    assert [(one.span_id, one.zone, one.reasons, one.duration_ms) for one in told] == [
        ("a1", "red", ("zone_red",), Decimal(1))
    ]


def test_passages_stand_in_context_order_with_their_numbers(session: Session) -> None:
    """Number, position, score, address and whole URI; what the answer names is cited."""
    (found,) = every(session, Retrieval)
    assert (found.data_source, found.top_k, found.index_version, found.count) == ("KB12345678", 5, "job-1", 3)
    assert found.passages is not None
    assert [(one.number, one.position, one.score, one.cited) for one in found.passages] == [
        (1, 1, 0.9, True), (2, 2, 0.8, False), (3, 3, 0.7, False),
    ]  # fmt: skip
    assert [one.uri for one in found.passages] == [f"{BASE}{name}" for name in TEXTS]
    assert all(one.address is not None and str(one.address) == one.id and one.text is None for one in found.passages)


def test_a_later_answer_may_cite_what_an_earlier_turn_read() -> None:
    """Numbers run over a session: the passage is marked where it was read."""
    later = invocation("prompt", "run-9", "i9", start=100, trace_id="d4" * 16, rag__cited="3")
    (found,) = every(built([*asked(), later]), Retrieval)
    assert found.passages is not None
    assert [one.cited for one in found.passages] == [True, False, True]


def test_an_earlier_answer_does_not_cite_what_was_read_after_it() -> None:
    """Of two passages under one number each answer means the one that it could have read last."""
    again = [
        invocation("prompt", "run-9", "i9", start=100, trace_id="d4" * 16, rag__cited="2"),
        retrieval("r9", "i9", start=100.1, trace_id="d4" * 16, first=1),
    ]
    first, second = every(built([*asked(), *again]), Retrieval)
    assert first.passages is not None
    assert second.passages is not None
    assert [one.cited for one in first.passages] == [True, False, False]
    assert [one.cited for one in second.passages] == [False, True, False]


def test_content_is_shown_where_the_regime_holds_it() -> None:
    """Question, answer and passages have their words, and nothing says that they are missing."""
    documents = [
        invocation("prompt", "run-1", "i1", rag__question=QUESTION, rag__answer_text=ANSWER, rag__cited="1 9",
                   rag__unsupported="9 x -1", rag__answer="BIuhNHUaKIdJe4clFqZXdH75.255"),
        retrieval("r1", "i1", start=0.1, regime=Regime.CONTENT),
    ]  # fmt: skip
    found = built(documents)
    (turn,) = found.turns
    assert (turn.question.text, turn.answer.text) == (QUESTION, ANSWER)
    assert (turn.question.size, turn.answer.why) == (len(QUESTION.encode()), "")
    assert (turn.cited, turn.unsupported, turn.answer_fingerprint) == ((1, 9), (9,), "BIuhNHUaKIdJe4clFqZXdH75.255")
    (read,) = every(found, Retrieval)
    assert read.passages is not None
    assert [one.text for one in read.passages] == list(TEXTS.values())
    assert found.regimes == (Regime.CONTENT,)
    assert found.regime is Regime.CONTENT


def test_a_text_that_was_cut_where_it_was_recorded_says_so() -> None:
    """In regime content an event holds the beginning of a long text, and its whole size."""
    text = {"text": "How", "chars": 900, "bytes": 901, "truncated": True, "digest": "d"}
    (turn,) = built([event("run_started", 1, kind="prompt", reason=text)]).turns
    assert turn.question == Words("How", 901, "d", "cut where it was recorded")


def test_what_no_regime_holds_is_said_and_not_guessed() -> None:
    """A question leaves length and digest, an answer nothing but that it was given."""
    found = built(story())
    first, paused, resume = found.turns
    assert first.question == Words(None, 37, "iZUuG18FrIRvTgzP", UNRECORDED)
    assert first.answer == Words(why=UNRECORDED)
    assert paused.answer == Words()
    assert resume.question == Words()


def test_address_and_archive_look_alike() -> None:
    """Both fit what the spans show, until the archive says that it lost something."""
    assert built(story()).regimes == (Regime.ADDRESS, Regime.ARCHIVE)
    assert built(story()).regime is None
    lost = invocation("prompt", "run-8", "i8", trace_id="d4" * 16, rastro__archive_lost=2)
    found = built([*story(), lost])
    assert found.regimes == (Regime.ARCHIVE,)
    assert found.turns[0].archive_lost == 2
    assert "archive_lost" in codes(found)


def test_counts_without_passages_are_the_regime_metadata() -> None:
    """It cannot be known what was read; that something was, is."""
    found = built([invocation("prompt", "run-1", "i1"), retrieval("r1", "i1", regime=Regime.METADATA)])
    (read,) = every(found, Retrieval)
    assert (read.count, read.passages) == (3, None)
    assert found.regimes == (Regime.METADATA,)


def test_a_retrieval_that_found_nothing_tells_of_no_regime() -> None:
    """Nothing found leaves nothing to hold, in any regime."""
    found = built([invocation("prompt", "run-1", "i1"), retrieval("r1", "i1", (), regime=Regime.METADATA)])
    assert found.regimes == ()
    assert found.turns[0].question.why == "not recorded"


def test_feedback_is_a_turn_of_the_session_that_is_judged() -> None:
    """It has its verdict, and of its note what the regime holds."""
    note: dict[str, Any] = {
        "rastro__verdict": "bad",
        "rastro__note_bytes": 9,
        "rastro__note_digest": "D5PeHCYo",
    }
    (*_, turn) = built([*story(), invocation("feedback", "run-4", "i4", start=900, trace_id="d4" * 16, **note)]).turns
    assert (turn.kind, turn.verdict, turn.outcome) == ("feedback", "bad", "completed")
    assert turn.note == Words(None, 9, "D5PeHCYo", UNRECORDED)
    assert turn.question == turn.answer == Words()
    spoken = invocation("feedback", "run-4", "i4", rastro__verdict="good", rastro__note="Thanks!")
    assert built([spoken]).turns[0].note == Words("Thanks!", 7)


def test_a_failed_run_says_with_what_it_failed() -> None:
    """The code is on the invocation's span, or in the run's error; what wrapped it does not repeat it."""
    failed: dict[str, Any] = {"status": "ERROR", "rastro__outcome": "failed", "error__type": "model_unavailable"}
    wrapper = span("invoke_agent rastro", "g1", "i1", status="ERROR", gen_ai__operation__name="invoke_agent")
    (turn,) = built([invocation("prompt", "run-1", "i1", **failed), wrapper]).turns
    assert (turn.outcome, turn.error, turn.steps) == ("failed", "model_unavailable", ())
    (told,) = built([event("error", 2, code="store_down", is_error=True)]).turns
    assert told.error == "store_down"
    assert [(one.title, one.error) for one in told.steps] == [("error store_down", "store_down")]


def test_costs_add_up_exactly_where_each_is_known() -> None:
    """Without the run's last event its cost is the sum of its steps', or unknown."""
    events = [one for one in asked() if is_event(one) and one["event"] != "run_ended"]
    assert built(events).turns[0].cost_usd == Decimal("0.003")
    many = [event("llm_call", n, cost_usd=0.1, tokens={"input": 1}) for n in range(1, 11)]
    assert built(many).turns[0].cost_usd == 1
    assert built(many).turns[0].tokens == Tokens(10)
    unknown = [*many, event("llm_call", 11, tokens={"input": 1})]
    assert built(unknown).turns[0].cost_usd is None
    assert built([event("run_started", 1, kind="prompt")]).turns[0].cost_usd is None


def test_a_model_without_a_price_leaves_the_cost_unknown_whatever_the_rest_adds_up_to() -> None:
    """Not even the run's own sum counts: what nobody could price is not in it, and 0 would be a claim."""
    priced, unpriced = event("llm_call", 1, cost_usd=0.1), event("llm_call", 2, model="nobody-priced-this")
    ended = event("run_ended", 3, outcome="completed", cost_usd=0.1)

    assert built([priced, unpriced, ended]).turns[0].cost_usd is None
    assert built([priced, ended]).turns[0].cost_usd == Decimal("0.1")


def test_a_call_that_was_not_let_run_costs_nothing() -> None:
    """It has no cost of its own, and does not make the turn's unknown."""
    events = [one for one in suspended() if is_event(one) and one["event"] != "run_ended"]
    assert built(events).turns[0].cost_usd == Decimal("0.001")


def test_alerts_budgets_and_hooks_stand_in_their_place_in_time() -> None:
    """What belongs to no call stands among the calls; a hook that speaks of a call, below it."""
    more = [
        event("alert", 20, after=1.5, code="cost_spike", severity="warning", decision="note", evidence={"steps": 3}),
        event("budget", 21, after=4, code="budget_usd", decision="approved", approver="maria"),
        event("hook", 22, after=2.5, tool="search_knowledge", tool_use_id="use-1", decision="note", code="checked"),
        event("hook", 23, after=8, decision="deny", code="no_source", reason=slim(12)),
    ]
    (turn,) = built([*asked(), *more]).turns
    assert outline(turn.steps) == [
        "offline",
        "alert note",
        ["search_knowledge", "retrieval KB12345678", "hook note"],
        "budget approved",
        "offline",
        "hook deny",
    ]
    alert = next(one for one in every(built([*asked(), *more]), GuardStep) if one.event == "alert")
    assert (alert.code, alert.severity, alert.attributes) == ("cost_spike", "warning", {"evidence": {"steps": 3}})


def test_sessions_come_by_the_time_of_their_first_turns() -> None:
    """Each has its own; what belongs to none comes last, and nothing is lost."""
    other = [
        invocation("prompt", "run-7", "i7", start=-50, trace_id="d4" * 16, session_id="other"),
        span("chat x", "c7", "i7", start=-49, trace_id="d4" * 16, session_id=""),
        span("db query", "v1", trace_id="e5" * 16, session_id="", scope="vendor"),
    ]
    found = sessions_of(material(lines([*story(), *other])))
    assert [one.id for one in found] == ["other", SESSION_ID, ""]
    assert outline(found[0].turns[0].steps) == ["chat x"]
    assert outline(found[2].apart) == ["db query"]
    assert found[1] == built(story())


def test_a_span_that_names_no_session_belongs_where_it_hangs() -> None:
    """It is its parent's; where its parent says nothing, or is missing, it is of the only session of its trace."""
    shared = [
        span("ours", "a", trace_id="f1"),
        span("theirs", "b", trace_id="f1", session_id="other"),
        span("of ours", "a1", "a", trace_id="f1", session_id=""),
        span("of theirs", "b1", "b", trace_id="f1", session_id=""),
        span("deep in theirs", "b2", "b1", trace_id="f1", session_id=""),
        span("of nobody", "z", trace_id="f1", session_id=""),
        span("alone", "c", trace_id="f2"),
        span("beside", "d", "missing", trace_id="f2", session_id="", start=1),
    ]
    found = {one.id: outline(one.apart) for one in sessions_of(material(lines(shared)))}
    assert found == {
        SESSION_ID: [["ours", "of ours"], "alone", "beside"],
        "other": [["theirs", ["of theirs", "deep in theirs"]]],
        "": ["of nobody"],
    }


def test_a_session_that_left_nothing_to_show_is_none() -> None:
    """The server's span around another session's feedback says nothing."""
    outer = span("POST /invocations", "p1", session_id="callers", kind="SERVER")
    judged = invocation("feedback", "run-4", "i4", "p1", rastro__verdict="bad")
    found = sessions_of(material(lines([outer, judged])))
    assert [one.id for one in found] == [SESSION_ID]
    assert "parents_missing" not in codes(found[0])


def test_spans_of_another_session_are_not_shown() -> None:
    """A trace that two sessions share is each one's own part."""
    assert built([*story(), span("chat", "z1", session_id="other")]) == built(story())


def test_two_runs_of_one_trace_keep_their_spans_apart() -> None:
    """A caller that sends its own trace along may ask twice in it."""
    documents = [
        span("caller", "v1", scope="vendor"),
        invocation("prompt", "run-1", "i1", "v1", start=1),
        span("a", "s1", "i1", start=1.1),
        invocation("prompt", "run-2", "i2", "v1", start=2),
        span("b", "s2", "i2", start=2.1),
    ]
    found = built(documents)
    assert [outline(turn.steps) for turn in found.turns] == [["a"], ["b"]]
    assert outline(found.apart) == ["caller"]


def test_a_resumed_turns_lines_alone_are_a_turn() -> None:
    """The paused run may be gone from the trail: what is left is shown."""
    (turn,) = built(resumed()).turns
    assert (turn.kind, turn.resumes) == ("resume", "")
