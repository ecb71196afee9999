"""Trails that nobody meant to write: out of order, cut, in circles, too deep, of other vendors, of any bytes at all."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.trace.building import session_of, sessions_of
from console.trace.forest import DEEPEST
from console.trace.reading import material
from console.trace.record import Material
from console.trace.session import ModelCall, OtherStep, Retrieval, Session, Tokens, ToolCall, walk
from tests.console.trace.built import built, codes, every, is_event, outline
from tests.console.trace.trails import SESSION_ID, chat, event, guarded, invocation, lines, retrieval, span, story, tool

PATHS = st.lists(st.integers(0, 50), min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("***") | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def seen(session: Session) -> int:
    """Walk through all of a session, as whoever shows it does."""
    steps = [step for turn in session.turns for step in walk(turn.steps)] + [*walk(session.apart)]
    return len(repr(session)) + len(steps)


def mutated(documents: list[dict[str, Any]], changes: list[tuple[int, list[int], Any]]) -> list[dict[str, Any]]:
    """Replace values in lines, however deep they lie."""
    twisted = copy.deepcopy(documents)
    for which, path, value in changes:
        here: Any = twisted[which % len(twisted)]
        for n, turn in enumerate(path):
            keys = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not keys:
                break
            key = keys[turn % len(keys)]
            if n == len(path) - 1 or not isinstance(here[key], dict | list):
                here[key] = value
                break
            here = here[key]
    return twisted


@given(st.lists(st.tuples(st.integers(0, 50), PATHS, VALUES), max_size=6), st.randoms(use_true_random=False))
def test_any_change_of_a_real_trail_is_shown_and_shown_alike(
    changes: list[tuple[int, list[int], Any]], order: random.Random
) -> None:
    """Whatever stands where it should not: nothing raises, and the order of lines does not matter."""
    documents = mutated(story(), changes)
    found = session_of(SESSION_ID, material(lines(documents)))
    order.shuffle(documents)
    assert session_of(SESSION_ID, material(lines(documents))) == found
    assert seen(found)
    assert all(map(seen, sessions_of(material(lines(documents)))))


@given(st.lists(st.dictionaries(st.sampled_from(sorted({key for one in story() for key in one})), VALUES), max_size=6))
def test_objects_with_known_names_and_any_values_are_shown(documents: list[dict[str, Any]]) -> None:
    """Names that mean something, with values that do not."""
    for one in documents:
        one.setdefault("traceId", "a1")
    assert seen(session_of("", material([json.dumps(one) for one in documents])))


@given(st.lists(st.integers(0, 400), max_size=8))
def test_lines_that_were_cut_anywhere_are_counted(cuts: list[int]) -> None:
    """Nothing of a cut line is guessed; the whole ones are shown."""
    whole = lines(story())
    cut = [line[: cuts[n]] if n < len(cuts) else line for n, line in enumerate(whole)]
    found = session_of(SESSION_ID, material(cut))
    assert len(found.unread) == len({line for line in cut[: len(cuts)] if line and line not in whole})
    assert ("unread_lines" in codes(found)) == bool(found.unread)


@given(st.randoms(use_true_random=False), st.integers(0, 40))
def test_a_trail_in_any_order_and_any_pieces_gives_the_same_session(order: random.Random, at: int) -> None:
    """Shuffled, doubled, read in two parts: the session is the same."""
    whole = lines(story())
    mixed = [*whole, *order.choices(whole, k=9)]
    order.shuffle(mixed)
    one, other = material(mixed[:at]), material(mixed[at:])
    together = Material(one.spans + other.spans, one.events + other.events, (), one.notes + other.notes)
    expected = session_of(SESSION_ID, material(whole))
    assert session_of(SESSION_ID, material(mixed)) == expected
    assert session_of(SESSION_ID, together) == expected


@given(st.randoms(use_true_random=False))
def test_lines_that_contradict_each_other_give_one_session_in_any_order(order: random.Random) -> None:
    """Which of two lines under one id is shown does not hang on which came first."""
    documents = [*story(), {**story()[4], "name": "other"}, {**story()[10], "ts": "2026-03-14T03:00:09Z"}]
    expected = built(documents)
    assert {"span_twice", "event_twice"} <= {*codes(expected)}
    order.shuffle(documents)
    assert built(documents) == expected


def test_a_span_whose_parent_is_missing_stays_in_its_turn() -> None:
    """The trace has one run: the span is its, at the top, and it is said."""
    found = built(one for one in story() if one.get("spanId") not in {"l1", "t1"})
    assert outline(found.turns[0].steps) == ["offline", "search_knowledge", "retrieval KB12345678", "offline"]
    assert codes(found) == ["parents_missing"]
    assert found.notes[0].text == "2 spans hang below 2 spans that are not in the trail"
    assert found.notes[0].partial


def test_a_caller_from_outside_is_no_missing_parent() -> None:
    """The server's span names its caller, whose span lies elsewhere."""
    outer = span("POST /invocations", "p1", "elsewhere", kind="SERVER")
    assert codes(built([outer, *story()[1:]])) == []


def test_spans_without_an_invocation_stand_apart() -> None:
    """It may not have arrived yet; of our own spans it is said."""
    found = built([chat("c1", "i1"), retrieval("r1", "i1", start=1)])
    assert found.turns == ()
    assert outline(found.apart) == ["offline", "retrieval KB12345678"]
    assert "no_invocation" in codes(found)


def test_a_run_without_an_end_may_still_be_running() -> None:
    """Nothing tells how it fared."""
    found = built([event("run_started", 1, kind="prompt"), event("llm_call", 2)])
    assert found.turns[0].outcome == ""
    assert found.turns[0].answer.why == "not in the trail"
    assert "no_end" in codes(found)


def test_gaps_between_events_are_named() -> None:
    """The session's chain numbers its events from 1: what is not there is missing."""
    found = built(event("alert", seq) for seq in (4, 5, 9, 11))
    assert [note.text for note in found.notes if note.code == "events_missing"] == [
        "events 1 to 3, 6 to 8, 10 are not in the trail"
    ]
    (one,) = (note for note in built([event("alert", 1), event("alert", 3)]).notes if note.code == "events_missing")
    assert (one.text, one.partial) == ("event 2 is not in the trail", True)
    many = built(event("alert", seq) for seq in range(2, 40, 2))
    assert any(note.text.endswith("9, and 14 gaps more are not in the trail") for note in many.notes)


def test_a_run_whose_first_or_last_event_is_gone_says_so() -> None:
    """No gap shows the end of a chain."""
    documents = story()
    assert codes(built(one for one in documents if one.get("seq") != 15)) == ["no_last_event"]
    assert codes(built(one for one in documents if one.get("seq") != 11)) == ["events_missing", "no_first_event"]


def test_who_was_turned_away_has_told_of_nothing() -> None:
    """A run that failed at the door has no events, and none are missing."""
    failed = invocation("resume", "run-1", "i1", status="ERROR", rastro__outcome="failed", error__type="busy")
    assert codes(built([failed])) == []


def test_what_was_stripped_and_what_was_recovered_is_said() -> None:
    """Attributes that did not leave, and a session that was taken up from a run that had not ended."""
    found = built([
        invocation("prompt", "run-1", "i1", rastro__stripped=2),
        chat("c1", "i1", rastro__stripped=1),
        event("run_started", 1, kind="prompt", reasons=["recovered"]),
        event("run_ended", 2, after=1, outcome="completed"),
    ])  # fmt: skip
    assert codes(found) == ["recovered", "stripped"]
    assert "3 attributes of 2 spans" in found.notes[1].text


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "a", "d": "c"}])
def test_parents_in_a_circle_are_shown_once_each(parents: dict[str, str]) -> None:
    """The earliest stands at the top; nothing is lost and nothing goes on for ever."""
    spans = [span(name, name, parent, start=ord(name), scope="vendor") for name, parent in parents.items()]
    found = built(spans)
    assert sorted(step.title for step in walk(found.apart)) == sorted(parents)
    assert found.apart[0].title == "a"
    assert len(found.apart) == 1
    assert "parent_circle" in codes(found)


def test_what_hangs_below_a_circle_stays_below_it() -> None:
    """However early it began: the circle is cut at the earliest of those that are in it."""
    spans = [span(name, name, parent, start=ord(name), scope="vendor") for name, parent in ("ac", "bc", "cb")]
    assert outline(built(spans).apart) == [["b", ["c", "a"]]]


def test_a_chain_of_ten_thousand_parents_is_shown_without_running_out_of_stack() -> None:
    """What lies too deep is shown higher, and every span is there."""
    spans = [span("s", f"{n}", f"{n - 1}" if n else "", start=n / 100, scope="vendor") for n in range(10_000)]
    spans.sort(key=lambda one: one["spanId"][::-1])
    found = built(spans)
    steps = [*walk(found.apart)]
    assert len(steps) == 10_000
    assert [step.span_id for step in steps] == [f"{n}" for n in range(10_000)]
    depth, here = 0, found.apart[0]
    while here.children:
        depth, here = depth + 1, here.children[0]
    assert depth == DEEPEST
    assert found == built(spans)
    assert "too_deep" in codes(found)


def test_openinference_spans_are_shown_as_far_as_they_go() -> None:
    """Documents in attributes of their own, ids that are no addresses, scores that are missing."""
    documents: dict[str, Any] = {
        "retrieval.documents.10.document.id": "third",
        "retrieval.documents.0.document.id": "first",
        "retrieval.documents.0.document.score": 0.5,
        "retrieval.documents.0.document.content": "words",
        "retrieval.documents.2.document.id": 17,
        "retrieval.documents.2.document.score": "high",
        "retrieval.documents.x.document.id": "none",
    }
    found = built([
        span("VectorStoreRetriever", "v1", scope="openinference", openinference__span__kind="RETRIEVER", **documents),
        span("ChatOpenAI", "v2", start=1, scope="openinference", openinference__span__kind="LLM",
             llm__model_name="gpt", llm__token_count__prompt=7, llm__token_count__completion=2),
        span("search", "v3", start=2, scope="openinference", openinference__span__kind="TOOL", tool__name="search"),
        span("RunnableSequence", "v4", start=3, scope="openinference", openinference__span__kind="CHAIN", note="kept"),
    ])  # fmt: skip
    (read,) = every(found, Retrieval)
    assert read.passages is not None
    assert [(one.number, one.id, one.address, one.uri, one.score, one.text) for one in read.passages] == [
        (None, "first", None, "", 0.5, "words"),
        (None, "17", None, "", None, None),
        (None, "third", None, "", None, None),
    ]  # fmt: skip
    assert (read.count, read.malformed) == (3, False)
    assert [(one.model, one.tokens) for one in every(found, ModelCall)] == [("gpt", Tokens(7, 2))]
    assert [one.tool for one in every(found, ToolCall)] == ["search"]
    (chain,) = every(found, OtherStep)
    assert (chain.operation, chain.scope, chain.attributes) == ("CHAIN", "openinference", {"note": "kept"})
    assert found.regimes == ()


@pytest.mark.parametrize(
    ("said", "ids", "malformed"),
    [
        ([{"id": "a"}, {"id": "b", "score": float("inf")}], ["a", "b"], False),
        ('[{"id":"a","score":NaN}]', ["a"], False),
        ('[{"id":"***#***.12"},5,null]', ["***#***.12"], True),
        ('[{"score":1},{"id":null}]', ["", ""], False),
        ("[]", [], False),
        ('[{"id":"a"', None, True),
        ('{"id":"a"}', None, True),
        ("[" * 100_000, None, True),
        (7, None, True),
        (None, None, False),
    ],
)
def test_a_list_of_documents_is_read_as_far_as_it_goes(said: object, ids: list[str] | None, malformed: bool) -> None:  # noqa: FBT001 - a column
    """It may be a list or a text; what of it is none is said."""
    found = built([retrieval("r1", "", (), gen_ai__retrieval__documents=said)])
    (read,) = every(found, Retrieval)
    assert (None if read.passages is None else [one.id for one in read.passages]) == ids
    assert read.malformed is malformed


def test_a_score_that_there_was_not_is_none() -> None:
    """The span writes 0 for it, and counts those: where the counts agree it can be told."""
    documents = '[{"id":"a","score":0},{"id":"b","score":0.5}]'
    for without, expected in ((1, [None, 0.5]), (2, [0.0, 0.5])):
        said: dict[str, Any] = {"gen_ai__retrieval__documents": documents, "rag__without_score": without}
        (read,) = every(built([retrieval("r1", "", (), **said)]), Retrieval)
        assert read.passages is not None
        assert [one.score for one in read.passages] == expected


def test_another_vendors_agent_is_a_step() -> None:
    """Its name may be all that tells two agents apart."""
    agent = span("invoke_agent planner", "v1", scope="vendor", gen_ai__operation__name="invoke_agent")
    assert outline(built([agent, chat("c1", "v1", start=1)]).apart) == [["invoke_agent planner", "offline"]]


def test_unknown_attributes_are_shown_as_plain_values() -> None:
    """Every writer of JSON takes them: numbers beyond measure are texts."""
    line = json.dumps(span("x", "x1", scope="vendor", big="HUGE", list=[1, {"deep": 0.5}])).replace('"HUGE"', "1e4000")
    found = session_of(SESSION_ID, material([line]))
    (step,) = found.apart
    assert step.attributes == {"big": "1E+4000", "list": [1, {"deep": 0.5}]}
    assert json.dumps(step.attributes, allow_nan=False)


def test_costs_that_are_no_amounts_are_unknown() -> None:
    """A cost beyond measure, or a word, adds nothing up."""
    for cost in ("1e999", '"much"', "true", "[1]", '"NaN"'):
        line = lines([event("run_ended", 1, cost_usd="COST")])[0].replace(b'"COST"', cost.encode())
        assert session_of(SESSION_ID, material([line])).turns[0].cost_usd is None


def test_a_call_that_cannot_be_named_is_still_shown() -> None:
    """Neither tool nor id nor ruling is known: it is a call."""
    nameless = span("", "t1", "i1", gen_ai__operation__name="execute_tool")
    found = built([invocation("prompt", "run-1", "i1"), nameless, guarded("", "", "a1", "i1", start=1)])
    assert outline(found.turns[0].steps) == ["tool", ["tool", "guard"]]


def test_an_invocation_that_stands_twice_under_one_run_is_a_step() -> None:
    """The first is the turn."""
    second = invocation("prompt", "run-1", "i2", "i1", start=1)
    (turn,) = built([invocation("prompt", "run-1", "i1"), second, tool("look", "u1", "t1", "i2", start=2)]).turns
    assert outline(turn.steps) == [["invocation prompt", "look"]]


def test_events_without_a_run_belong_to_the_only_run_of_their_trace() -> None:
    """Else they stand apart."""
    told = [{**event("alert", seq, trace_id=trace), "run": ""} for seq, trace in ((20, "a1" * 16), (21, "ff"))]
    found = built([*story(), *told])
    assert "alert" in outline(found.turns[0].steps)
    assert outline(found.apart) == ["alert"]


def test_an_event_that_nobody_knows_is_shown() -> None:
    """Its name is its title, and what it says stands beside."""
    (turn,) = built([event("moonrise", 1, phase="full")]).turns
    assert [(step.title, step.attributes) for step in turn.steps] == [("moonrise", {"phase": "full"})]
    assert is_event(event("moonrise", 1))
