"""A run answers, and leaves in its spans what its regime promises."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from opentelemetry.trace import StatusCode
from strands import tool
from strands.types.exceptions import ModelThrottledException

from agent_image.answer import Event
from agent_image.contract import Regime, Verdict, Zone
from agent_image.errors import KnowledgeBaseError
from agent_image.invocation import Feedback, Prompt
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.knowledge_base import Retrieval
from agent_image.telemetry.invocation_span import answer_fingerprint
from agent_image.tools.zoned import ZonedTool
from tests.agent_image.grounds import LONG_ANSWER, REFUNDS, RETURNS, SESSION, FoundPassages, Stage
from tests.agent_image.scripted import Calls, Raises, Says

QUESTION = Prompt("How long do I have to return something?")


async def gathered(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


def ask(stage: Stage, prompt: Prompt = QUESTION, session_id: str = SESSION) -> list[Event]:
    return asyncio.run(gathered(stage.prompt(session_id, prompt)))


def test_an_answer_comes_in_pieces_then_its_citations_then_whole() -> None:
    """The closing event alone says everything."""
    events = ask(Stage())

    assert [event.name for event in events[-2:]] == ["citations", "completed"]
    assert "".join(event.document["text"] for event in events[:-2]).strip() == LONG_ANSWER.strip()
    closing = events[-1].document
    assert closing["answer"] == LONG_ANSWER.strip()
    assert closing["citations"] == [
        {"n": 1, "address": f"{RETURNS.uri}#{RETURNS.fingerprint}"},
        {"n": 2, "address": f"{REFUNDS.uri}#{REFUNDS.fingerprint}"},
    ]
    assert closing["session_id"] == SESSION
    assert len(closing["trace_id"]) == 32


def test_the_spans_hold_addresses_and_marks_and_no_words() -> None:
    """In `address`, question, answer and passages leave no text."""
    stage = Stage()

    ask(stage)

    invocation, retrieval = stage.span("invocation"), stage.span("retrieval KB1")
    assert dict(invocation.attributes or {}) == {
        "rastro.run": "1",
        "rastro.kind": "prompt",
        "rastro.outcome": "completed",
        "rastro.cost_usd": pytest.approx(0.00021),
        "rag.cited": "1 2",
        "rag.answer": answer_fingerprint(LONG_ANSWER),
    }
    assert retrieval.attributes is not None
    assert retrieval.attributes["rag.first"] == 1
    documents = json.loads(str(retrieval.attributes["gen_ai.retrieval.documents"]))
    assert [document["id"] for document in documents] == [
        f"returns.md#{RETURNS.fingerprint}",
        f"refunds.md#{REFUNDS.fingerprint}",
    ]
    assert retrieval.context.trace_id == invocation.context.trace_id


def test_content_holds_question_and_answer_once_each() -> None:
    """They stand on the invocation span alone."""
    stage = Stage(regime=Regime.CONTENT)

    ask(stage)

    attributes = stage.span("invocation").attributes or {}
    assert attributes["rag.question"] == QUESTION.text
    assert attributes["rag.answer_text"] == LONG_ANSWER.strip()


def test_the_archive_keeps_passages_in_its_regime_alone() -> None:
    """In the others nobody asked for texts to be kept."""
    for regime in Regime:
        stage = Stage(regime=regime)
        ask(stage)

        assert stage.archive.kept == ([RETURNS, REFUNDS] if regime is Regime.ARCHIVE else [])


def test_what_the_archive_lost_stands_on_the_invocation() -> None:
    """It is said once."""
    stage = Stage(regime=Regime.ARCHIVE)
    stage.archive.lost = 3

    ask(stage)
    ask(stage, session_id="other")

    said = [(span.attributes or {}).get("rastro.archive_lost") for span in stage.spans if "invocation" in span.name]
    assert said == [3, None]


def test_a_mark_that_names_no_passage_is_said() -> None:
    """A model may make up a source."""
    stage = Stage([Says("Fifty days [4].")])

    closing = ask(stage)[-1].document

    assert closing["citations"] == []
    assert (stage.span("invocation").attributes or {})["rag.unsupported"] == "4"


def test_numbers_go_on_through_a_session() -> None:
    """Mark 3 of the second turn is the first passage of its own retrieval."""
    stage = Stage(
        [
            Calls("search_knowledge", '{"query": "a"}'),
            Says("First [1]."),
            Calls("search_knowledge", '{"query": "b"}', "call-2"),
            Says("Second [3], as before [1]."),
        ]
    )

    ask(stage)
    closing = ask(stage)[-1].document

    assert [citation["n"] for citation in closing["citations"]] == [3, 1]
    firsts = [(span.attributes or {})["rag.first"] for span in stage.spans if span.name.startswith("retrieval")]
    assert firsts == [1, 3]


def test_the_second_turn_knows_the_first() -> None:
    """The conversation is the session's."""
    stage = Stage([Says("Hello.")])

    ask(stage, Prompt("My name is Ana."))
    ask(stage, Prompt("Who am I?"))
    ask(stage, Prompt("Who am I?"), session_id="another")

    assert [len(messages) for messages in stage.model.seen] == [1, 3, 1]


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (ModelThrottledException("slow down, secret"), "model_throttled"),
        (
            ClientError({"Error": {"Code": "AccessDeniedException", "Message": "secret"}}, "Converse"),
            "model_access_denied",
        ),
        (ClientError({"Error": {"Code": "ValidationException", "Message": "secret"}}, "Converse"), "model_refused"),
        (EndpointConnectionError(endpoint_url="http://secret"), "model_unavailable"),
        (RuntimeError("secret"), "internal"),
    ],
)
def test_a_model_that_fails_ends_the_run_with_a_code(
    raised: Exception, code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither caller nor span nor notice repeats what was raised."""
    stage = Stage([Raises(raised)])

    closing = ask(stage)[-1]

    assert closing.name == "failed"
    assert closing.document["error"]["code"] == code
    span = stage.span("invocation")
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == code
    assert (span.attributes or {})["rastro.outcome"] == "failed"
    assert span.events == ()
    err = capfd.readouterr().err
    assert f'"fault":"{code}"' in err
    assert "secret" not in json.dumps(closing.document) + err


def test_a_failed_turn_leaves_no_half_of_itself_in_the_conversation() -> None:
    """The next question is answered as if the failed one had not been asked, but its numbers stay taken."""
    stage = Stage(
        [
            Calls("search_knowledge", '{"query": "a"}'),
            Raises(RuntimeError("x")),
            Calls("search_knowledge", '{"query": "b"}'),
            Says("Yes [3]."),
        ]
    )

    failed = ask(stage)[-1]
    closing = ask(stage)[-1].document

    assert failed.name == "failed"
    assert len(stage.model.seen[2]) == 1
    assert [citation["n"] for citation in closing["citations"]] == [3]


@pytest.mark.parametrize("code", ["throttled", "access_denied", "not_found", "unavailable"])
def test_a_knowledge_base_that_fails_is_said_to_the_model_and_on_the_span(code: str) -> None:
    """The model can tell the user, and the trail knows why."""
    stage = Stage(found=FoundPassages(KnowledgeBaseError(code, "The knowledge base did not answer.")))

    ask(stage)

    span = stage.span("retrieval")
    assert (span.attributes or {})["error.type"] == code
    assert span.status.description == code
    (result,) = stage.model.seen[1][-1]["content"]
    assert result["toolResult"]["status"] == "error"
    assert result["toolResult"]["content"] == [{"text": "The knowledge base did not answer."}]


def test_nothing_found_is_said_to_the_model_and_on_the_span() -> None:
    """An empty result is no failure."""
    stage = Stage(found=FoundPassages(Retrieval(())))

    ask(stage)

    assert (stage.span("retrieval").attributes or {})["rag.passages"] == 0
    (result,) = stage.model.seen[1][-1]["content"]
    assert "No passage" in result["toolResult"]["content"][0]["text"]


def test_one_invocation_at_a_time_works_in_a_session() -> None:
    """The second is told, and the first goes on."""

    async def two() -> tuple[list[Event], list[Event]]:
        stage = Stage()
        first = stage.prompt(SESSION, QUESTION)
        begun = [await anext(first)]
        second = await gathered(stage.prompt(SESSION, QUESTION))
        return begun + await gathered(first), second

    first, second = asyncio.run(two())

    assert first[-1].name == "completed"
    assert second[-1].document["error"]["code"] == "busy"


def test_a_session_is_free_again_after_a_caller_hung_up() -> None:
    """A run that nobody listens to ends, and its span says so."""

    async def hung_up() -> tuple[Stage, list[Event]]:
        stage = Stage()
        first = stage.prompt(SESSION, QUESTION)
        await anext(first)
        await first.aclose()  # type: ignore[attr-defined]
        return stage, await gathered(stage.prompt(SESSION, QUESTION))

    stage, second = asyncio.run(hung_up())

    assert second[-1].name == "completed"
    cancelled, _ = [span for span in stage.spans if span.name.startswith("invocation")]
    assert (cancelled.attributes or {})["error.type"] == "cancelled"
    assert (cancelled.attributes or {})["rastro.outcome"] == "failed"


def test_fifty_sessions_at_the_same_time_keep_their_own_words() -> None:
    """Each has its own conversation and numbers."""

    async def all_of_them() -> tuple[Stage, list[list[Event]]]:
        stage = Stage([Says("Hello.")])
        sessions = [f"{n:040}" for n in range(50)]
        return stage, await asyncio.gather(*(gathered(stage.prompt(session, Prompt(session))) for session in sessions))

    stage, answers = asyncio.run(all_of_them())

    assert [events[-1].document["session_id"] for events in answers] == [f"{n:040}" for n in range(50)]
    assert all(len(messages) == 1 for messages in stage.model.seen)


def test_a_tool_that_raises_does_not_end_the_run() -> None:
    """The model is told by the framework, and goes on."""

    @tool
    def explode() -> str:
        """Explode."""
        raise RuntimeError("secret")

    closing = ask(Stage([Calls("explode", "{}"), Says("It failed.")], tools=[ZonedTool(explode, Zone.GREEN)]))[-1]

    assert closing.document["answer"] == "It failed."


@pytest.mark.parametrize("regime", Regime)
def test_feedback_leaves_a_verdict_and_the_note_by_the_regime(regime: Regime) -> None:
    """Outside `content` a note is a length and a keyed digest."""
    stage = Stage(regime=regime)
    note = "Ele inventou o prazo."

    closing = asyncio.run(gathered(stage.feedback("caller", Feedback(SESSION, Verdict.BAD, note))))[-1]

    attributes = dict(stage.span("invocation feedback").attributes or {})
    assert closing.document["session_id"] == SESSION
    assert attributes["rastro.verdict"] == "bad"
    if regime is Regime.CONTENT:
        assert attributes["rastro.note"] == note
    else:
        assert attributes["rastro.note_bytes"] == len(note)
        assert attributes["rastro.note_digest"]
        assert note not in json.dumps(attributes)


def test_an_answer_is_found_by_its_words_whatever_its_marks_look_like() -> None:
    """A page may show marks as links, or leave them out; white space may change."""
    mark = answer_fingerprint(LONG_ANSWER)

    assert mark == answer_fingerprint(LONG_ANSWER.replace(" [1]", "").replace(" [2]", "").replace(". ", ".\n\n"))
    assert mark != answer_fingerprint(LONG_ANSWER.replace("30", "40"))
    assert mark != str(fingerprint(LONG_ANSWER))


def test_a_short_answer_leaves_no_fingerprint() -> None:
    """A yes or a no could be guessed."""
    assert answer_fingerprint("Yes [1].") is None
