"""The image's own contents suffice: right requests get answers, wrong ones clear errors, and nothing is lost."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_image.contract import CAPTURE_VARIABLE, CONTAINER_VARIABLE, SESSION_HEADER
from agent_image.retrieval.fingerprint import fingerprint
from tests.e2e.image import SESSION, Agent, Image, events, local, spans
from tests.loopback.aws import moto
from tests.loopback.table import REGION, VARIABLES, make_table

QUESTION = "Within how many days can unused items be returned?"


@dataclass(frozen=True)
class Stage:
    agent: Agent
    folder: Path


@pytest.fixture(scope="module")
def stage(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("state")
    with image.running(local(image, folder)) as agent:
        yield Stage(agent, folder)


def test_it_answers_as_json(stage: Stage) -> None:
    """The answer cites a passage, and the passage's words are in the document that its address names."""
    answer = stage.agent.post({"prompt": QUESTION})

    document = answer.json()
    assert answer.status_code == 200
    assert document["status"] == "completed"
    assert "30 days" in document["answer"]
    (citation,) = document["citations"]
    assert citation["address"].rpartition("#")[0].endswith("/returns.md")
    assert answer.headers[SESSION_HEADER] == document["session_id"] == SESSION


def test_it_answers_as_events(stage: Stage) -> None:
    """The text comes in pieces; the closing event is the whole."""
    answer = stage.agent.post({"prompt": QUESTION}, Accept="text/event-stream")

    found = events(answer.text)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [name for name, _ in found[-2:]] == ["citations", "completed"]
    assert "".join(document["text"] for name, document in found if name == "text").strip() == found[-1][1]["answer"]


def test_a_caller_without_a_session_gets_one(stage: Stage) -> None:
    """It can go on with it."""
    first = stage.agent.post({"prompt": QUESTION}, session=None)
    session = first.headers[SESSION_HEADER]
    second = stage.agent.post({"prompt": "And gift cards?"}, session=session)

    assert len(session) >= 33
    assert first.json()["session_id"] == second.json()["session_id"] == session


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "invalid_json"),
        (b"", 400, "invalid_json"),
        (b'{"prompt": 7}', 400, "invalid_prompt"),
        (b'{"joke": true}', 400, "unknown_kind"),
        (b'{"resume": "x", "prompt": "y"}', 400, "unknown_kind"),
        (b'{"feedback": {"verdict": "meh"}}', 400, "invalid_feedback"),
        (json.dumps({"prompt": "x" * 5_000_000}).encode(), 413, "body_too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_wrong_request_gets_a_clear_error(stage: Stage, body: bytes, status: int, code: str) -> None:
    """Never a stack trace, never an empty answer."""
    answer = stage.agent.post(body)

    assert answer.status_code == status
    assert answer.json()["status"] == "failed"
    assert answer.json()["error"]["code"] == code
    assert answer.json()["error"]["message"]
    assert "Traceback" not in answer.text


def test_a_broken_connection_does_not_hurt_the_next(stage: Stage) -> None:
    """Half a request is no request."""
    with socket.create_connection(("127.0.0.1", stage.agent.port)) as half:
        half.sendall(b"POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")

    assert stage.agent.post({"prompt": QUESTION}).status_code == 200


def test_every_span_has_its_session_and_nothing_of_the_words(image: Image, tmp_path: Path) -> None:
    """Spans that wait at SIGTERM all leave: the server's own, which ends last, is among them."""
    with image.running(local(image, tmp_path)) as agent:
        agent.post({"prompt": QUESTION})
        status = agent.end()

    found = spans(tmp_path / "spans.jsonl")
    names = sorted(span["name"].partition(" ")[0] for span in found)
    assert status in {0, -15}
    assert names == sorted(
        ["POST", "invocation", "invoke_agent", "retrieval", "execute_tool", *["execute_event_loop_cycle", "chat"] * 2]
    )
    assert {span["attributes"]["session.id"] for span in found} == {SESSION}
    assert len({span["traceId"] for span in found}) == 1
    assert "30 days" not in (tmp_path / "spans.jsonl").read_text()


def test_a_streamed_answer_leaves_as_many_spans_as_a_whole_one(image: Image, tmp_path: Path) -> None:
    """A span for each event would multiply the price of the trail."""
    with image.running(local(image, tmp_path)) as agent:
        agent.post({"prompt": QUESTION}, Accept="text/event-stream")
        agent.end()

    assert len(spans(tmp_path / "spans.jsonl")) == 9


def test_fifty_sessions_at_once_keep_their_own_ids(image: Image, tmp_path: Path) -> None:
    """Half of them stream; every span belongs to the session whose trace it is in."""
    sessions = [f"session-{n:032}" for n in range(50)]

    def ask(number: int) -> str:
        accept = "text/event-stream" if number % 2 else "application/json"
        text = agent.post({"prompt": QUESTION}, session=sessions[number], Accept=accept).text
        document = events(text)[-1][1] if number % 2 else json.loads(text)
        assert document["session_id"] == sessions[number]
        return str(document["trace_id"])

    with image.running(local(image, tmp_path)) as agent, ThreadPoolExecutor(50) as pool:
        traces = dict(zip(pool.map(ask, range(50)), sessions, strict=True))
        agent.end()

    found = spans(tmp_path / "spans.jsonl")
    assert len(traces) == 50
    assert len(found) == 50 * 9
    assert all(span["attributes"]["session.id"] == traces[span["traceId"]] for span in found)


def test_the_archive_holds_each_passage_when_the_agent_has_ended(image: Image, tmp_path: Path) -> None:
    """What waits at SIGTERM is kept, under its fingerprint."""
    with image.running(local(image, tmp_path), {CAPTURE_VARIABLE: "archive"}) as agent:
        agent.post({"prompt": QUESTION})
        agent.end()

    kept = {file.name: file.read_text() for file in (tmp_path / "archive").iterdir()}
    assert len(kept) == 5
    assert all(fingerprint(text).text == name for name, text in kept.items())


def test_answers_go_on_without_the_archive_and_the_loss_is_counted(image: Image, tmp_path: Path) -> None:
    """The second invocation says what the first one lost; without its table, the guard would let nothing go on."""
    with socket.socket() as nobody, moto() as aws:
        nobody.bind(("127.0.0.1", 0))
        make_table(aws, "table")
        places = {
            "AWS_ENDPOINT_URL_DYNAMODB": aws,
            "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{nobody.getsockname()[1]}",
        }
        settings = local(image, tmp_path, archive="s3://bucket/passages/", store="dynamodb://table", region=REGION)
        with image.running(settings, {CAPTURE_VARIABLE: "archive", **VARIABLES, **places}) as agent:
            first = agent.post({"prompt": QUESTION})
            agent.end()

    lost = [json.loads(line) for line in agent.printed["stderr"].splitlines() if "archive_lost" in line]
    assert first.json()["status"] == "completed"
    assert sum(line["count"] for line in lost) == 5


def test_only_a_container_listens_beyond_loopback(image: Image, tmp_path: Path) -> None:
    """AgentCore reaches a container from outside; nobody but its owner reaches a laptop's agent."""
    for container, address in (("1", "0.0.0.0"), ("", "127.0.0.1")):  # noqa: S104 - what is expected
        with image.running(local(image, tmp_path), {CONTAINER_VARIABLE: container}) as agent:
            sockets = psutil.Process(agent.process.pid).net_connections("tcp")
            listening = {one.laddr.ip for one in sockets if one.status == "LISTEN"}

        assert listening == {address}


def test_feedback_stands_in_the_trail_of_its_session(image: Image, tmp_path: Path) -> None:
    """Whoever sends it, the span belongs to the session that is judged; the note stays out."""
    judged = "the-session-that-is-judged-0123456789"
    with image.running(local(image, tmp_path)) as agent:
        body = {"feedback": {"session_id": judged, "verdict": "bad", "note": "It made up the deadline."}}
        answer = agent.post(body)
        agent.end()

    (span,) = [one for one in spans(tmp_path / "spans.jsonl") if one["name"] == "invocation feedback"]
    assert answer.json()["session_id"] == judged
    assert span["attributes"]["session.id"] == judged
    assert span["attributes"]["rastro.verdict"] == "bad"
    assert span["attributes"]["rastro.note_bytes"] == 24
    assert "deadline" not in (tmp_path / "spans.jsonl").read_text()


@pytest.mark.parametrize(
    ("settings", "variables", "said"),
    [
        ({"models": []}, {}, "models is []"),
        ({}, {"RAG_CAPTURE": "everything"}, "allowed: metadata, address, archive, content"),
        ({"models": ["nonsense://x"]}, {}, "nonsense"),
        ({"knowledge_base": "ftp://x"}, {}, "knowledge_base is 'ftp://x'"),
        ({}, {"PORT": "many"}, "PORT is 'many'"),
    ],
)
def test_faulty_settings_end_the_process_with_status_2(
    image: Image, tmp_path: Path, settings: dict[str, Any], variables: dict[str, str], said: str
) -> None:
    """Standard error says which, and what is allowed; nothing is served."""
    with (
        pytest.raises(AssertionError, match="did not start") as failed,
        image.running(local(image, tmp_path, **settings), variables),
    ):
        pass

    assert said in str(failed.value)
    assert "Traceback" not in str(failed.value)
