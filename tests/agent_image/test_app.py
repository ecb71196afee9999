"""Over HTTP, a right request gets its answer and a wrong one a clear refusal; never a stack trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from agent_image.admission import BODY_LIMIT
from agent_image.contract import SESSION_HEADER, USER_HEADER, Choice
from console.sse import parse
from tests.agent_image.grounds import LONG_ANSWER, SESSION, Stage
from tests.agent_image.guard.gate_grounds import Effects, paying
from tests.agent_image.scripted import Raises, Says


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Stage().app()) as client:
        yield client


def ask(client: TestClient, body: Any, **headers: str) -> Any:
    return client.post("/invocations", json=body, headers={SESSION_HEADER: SESSION} | headers)


def events(text: str) -> list[tuple[str, Any]]:
    return [(event.name, json.loads(event.data)) for event in parse([text.encode()])]


def test_ping_says_that_the_agent_is_there(client: TestClient) -> None:
    """AgentCore asks before it sends anything."""
    assert client.get("/ping").json()["status"] == "Healthy"


def test_a_prompt_is_answered_as_one_object(client: TestClient) -> None:
    """JSON is what a caller gets who asks for nothing else."""
    answer = ask(client, {"prompt": "How long?"})

    assert answer.status_code == 200
    assert answer.json()["status"] == "completed"
    assert answer.json()["answer"] == LONG_ANSWER.strip()
    assert answer.json()["session_id"] == SESSION
    assert answer.headers[SESSION_HEADER] == SESSION


def test_a_caller_who_accepts_events_gets_them_one_by_one(client: TestClient) -> None:
    """The text comes in pieces, then the citations, then the whole."""
    answer = ask(client, {"prompt": "How long?"}, accept="text/event-stream")

    assert answer.headers["content-type"].startswith("text/event-stream")
    names = [name for name, _ in events(answer.text)]
    assert names[-2:] == ["citations", "completed"]
    assert set(names[:-2]) == {"text"}
    assert len(names) > 10
    assert events(answer.text)[-1][1]["answer"] == LONG_ANSWER.strip()


def test_a_caller_without_a_session_gets_one(client: TestClient) -> None:
    """It stands in the header and in the answer, so that a second question can follow."""
    answer = client.post("/invocations", json={"prompt": "How long?"})

    assert answer.json()["session_id"] == answer.headers[SESSION_HEADER] == f"made-{1:032}"


def test_feedback_is_taken(client: TestClient) -> None:
    """It is answered by the session that it belongs to."""
    answer = ask(client, {"feedback": {"session_id": "j" * 40, "verdict": "good"}})

    assert answer.json()["status"] == "completed"
    assert answer.json()["session_id"] == "j" * 40


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"[" * 200_000, "invalid_json"),
        (b"[]", "invalid_body"),
        (b'{"colour":"red"}', "unknown_kind"),
        (b'{"prompt":""}', "invalid_prompt"),
    ],
)
def test_a_faulty_body_is_refused_with_what_is_allowed(client: TestClient, content: bytes, code: str) -> None:
    """The refusal has the form of an answer, streamed or not."""
    for accept in ("application/json", "text/event-stream"):
        answer = client.post("/invocations", content=content, headers={SESSION_HEADER: SESSION, "accept": accept})

        assert answer.status_code == 400
        assert answer.json()["status"] == "failed"
        assert answer.json()["error"]["code"] == code
        assert "Traceback" not in answer.text


def test_a_large_body_is_refused_before_it_is_read(client: TestClient) -> None:
    """Five megabytes are no question."""
    answer = ask(client, {"prompt": "x" * 5_000_000})

    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "body_too_large"


def test_a_large_body_that_hides_its_length_is_refused_all_the_same(client: TestClient) -> None:
    """A chunked body has no length to read first."""

    def chunks() -> Iterator[bytes]:
        for _ in range(BODY_LIMIT // 65_536 + 2):
            yield b"x" * 65_536

    answer = client.post("/invocations", content=chunks(), headers={SESSION_HEADER: SESSION})

    assert answer.status_code == 413


@pytest.mark.parametrize("session", ["short", "s" * 257, "has a space in it, though it is long enough"])
def test_a_session_id_that_aws_would_refuse_is_refused(client: TestClient, session: str) -> None:
    """What works on a laptop works in AWS."""
    answer = client.post("/invocations", json={"prompt": "?"}, headers={SESSION_HEADER: session})

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_session"


def test_a_run_that_fails_answers_200_and_says_so() -> None:
    """Clients repeat what answers 5xx by themselves; the agent's work must not be done twice unasked."""
    with TestClient(Stage([Raises(RuntimeError("secret"))]).app()) as client:
        answer = ask(client, {"prompt": "?"})
        streamed = ask(client, {"prompt": "?"}, accept="text/event-stream")

    assert answer.status_code == 200
    assert answer.json()["status"] == "failed"
    assert answer.json()["error"]["code"] == "internal"
    assert [name for name, _ in events(streamed.text)] == ["failed"]
    assert "secret" not in answer.text + streamed.text


def test_unknown_paths_and_methods_are_refused(client: TestClient) -> None:
    """There is nothing else here."""
    assert client.get("/secrets").status_code == 404
    assert client.get("/invocations").status_code == 405


def test_who_asks_stands_on_the_checkpoint() -> None:
    """The runtime's header says it; the body cannot."""
    effects = Effects()
    stage = Stage([paying()], tools=[effects.pay()])
    with TestClient(stage.app()) as caller:
        answer = ask(caller, {"prompt": "pay"}, **{USER_HEADER: "ana"}).json()

    case = stage.guard.store.case(answer["checkpoint_id"])
    assert case is not None
    assert case.checkpoint.requester == "ana"


def test_a_red_call_is_suspended_resumed_and_swept_over_http() -> None:
    """All kinds of invocations have their way in."""
    effects = Effects()
    stage = Stage([paying(), Says("Paid.")], tools=[effects.pay()])
    with TestClient(stage.app()) as caller:
        suspended = ask(caller, {"prompt": "pay"}).json()
        stage.decide(suspended["checkpoint_id"], Choice.APPROVE)
        answer = ask(caller, {"resume": suspended["checkpoint_id"]}).json()
        swept = ask(caller, {"sweep": True}).json()
        wrong = [ask(caller, body) for body in ({"resume": "x"}, {"resume": 5}, {"sweep": 1})]

    assert suspended["status"] == "suspended"
    assert answer["answer"] == "Paid."
    assert swept == {"status": "completed", "swept": {}, "session_id": SESSION, "trace_id": swept["trace_id"]}
    assert [one.status_code for one in wrong] == [400] * 3
    assert len(effects.done) == 1
