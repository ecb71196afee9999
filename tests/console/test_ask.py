"""`rastro ask` shows an answer while it is written, and says how it ended."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from agent_image.contract import SESSION_HEADER
from console.ask import agent_of, ask
from console.errors import BadInputError, ConsoleError
from console.screen import Screen
from tests.console.loopback import Scripted, document, event, serving

RASTRO = Path(sys.executable).with_name("rastro")
UNSEEN = Screen(lambda _: None)
SESSION = "3f6c1c1e-8a39-4a51-9f0e-0d4a4a4b1c11"
CHECKPOINT = "c0ffee" + "0" * 58
ADDRESS = "file:///kb/returns.md#AAAAAAAAAAAAAAAAAAAAAAAA.57"
COMPLETED = {
    "status": "completed",
    "answer": "“30 dias” [1]",
    "citations": [{"n": 1, "address": ADDRESS}],
    "session_id": SESSION,
    "trace_id": "0af7651916cd43dd8448eb211c80319c",
}
FAILED = {"status": "failed", "error": {"code": "throttled", "message": "Try again."}, "session_id": SESSION}
SUSPENDED = {
    "status": "suspended",
    "checkpoint_id": CHECKPOINT,
    "state": "pending",
    "tool": "refund_order",
    "arguments": {"order": 5501},
    "zone": "red",
    "reasons": ["zone_red"],
    "expires_at": "2026-11-30T12:00:00Z",
    "session_id": SESSION,
    "trace_id": "0af7651916cd43dd8448eb211c80319c",
}
ANSWER = [
    event("text", {"text": "“30 "}),
    event("text", {"text": "dias” [1]"}),
    event("citations", {"citations": COMPLETED["citations"]}),
    event("completed", COMPLETED),
]


def state_of(folder: Path, port: int) -> Path:
    (folder / "dev.json").write_text(json.dumps({"port": port}))
    return folder


def asking(folder: Path, scripted: Scripted, *, as_json: bool = False, question: str = "Prazo?") -> tuple[int, str]:
    written: list[str] = []
    with serving(lambda _: scripted) as (port, _):
        status = ask(question, SESSION, agent_of(state_of(folder, port), None), Screen(written.append), as_json=as_json)
    return status, "".join(written)


def test_an_answer_is_shown_with_its_citations_and_its_trail(tmp_path: Path) -> None:
    """Text, then the address of each passage, then where to find session and trace."""
    assert asking(tmp_path, Scripted(ANSWER)) == (
        0,
        f"“30 dias” [1]\n\n[1] {ADDRESS}\n\nsession_id  {SESSION}\ntrace_id    {COMPLETED['trace_id']}\n",
    )


def test_a_piece_is_written_before_the_next_one_is_sent(tmp_path: Path) -> None:
    """The server goes on only when the first piece has been written."""
    shown = Event()
    timely: list[bool] = []

    def pieces() -> Iterator[bytes]:
        yield ANSWER[0]
        timely.append(shown.wait(timeout=10))
        yield from ANSWER[1:]

    def write(text: str) -> None:
        if "30" in text:
            shown.set()

    with serving(lambda _: Scripted(pieces())) as (port, _):
        ask("Prazo?", SESSION, agent_of(state_of(tmp_path, port), None), Screen(write), as_json=False)

    assert timely == [True]


def test_the_invocation_is_the_declared_one(tmp_path: Path) -> None:
    """Body, session header and what is accepted are those of AgentCore's contract."""
    with serving(lambda _: Scripted(ANSWER)) as (port, asked):
        ask("Prazo?\ud800", SESSION, agent_of(state_of(tmp_path, port), None), UNSEEN, as_json=False)

    (request,) = asked
    assert (request.method, request.path) == ("POST", "/invocations")
    assert json.loads(request.body) == {"prompt": "Prazo?\ud800"}
    assert request.headers[SESSION_HEADER] == SESSION
    assert request.headers["Accept"] == "text/event-stream"


def test_a_new_session_has_an_id_that_agentcore_takes(tmp_path: Path) -> None:
    """Each question without a session begins another."""
    with serving(lambda _: Scripted(ANSWER)) as (port, asked):
        for _ in range(2):
            ask("Prazo?", None, agent_of(state_of(tmp_path, port), None), UNSEEN, as_json=False)

    ids = {request.headers[SESSION_HEADER] for request in asked}
    assert len(ids) == 2
    assert all(len(one) >= 36 for one in ids)


@pytest.mark.parametrize(
    ("scripted", "status", "said"),
    [
        (Scripted(ANSWER), 0, "30 dias"),
        (Scripted([event("suspended", SUSPENDED)]), 3, "refund_order: pending, a person has to decide\n"),
        (Scripted([event("text", {"text": "I "}), event("failed", FAILED)]), 1, "failed (throttled): Try again."),
        (document(COMPLETED), 0, "“30 dias” [1]\n\n[1]"),
        (document(FAILED, 409), 1, "failed (throttled)"),
        (document(FAILED, 400), 2, "failed (throttled)"),
        (document(FAILED, 413), 2, "failed (throttled)"),
    ],
)
def test_the_exit_status_tells_how_it_ended(tmp_path: Path, scripted: Scripted, status: int, said: str) -> None:
    """A script can tell an answer, a wait, a failure and a refusal apart."""
    found, text = asking(tmp_path, scripted)

    assert found == status
    assert said in text
    assert SESSION in text


@pytest.mark.parametrize("answer", [COMPLETED, SUSPENDED, FAILED])
def test_json_is_the_answer_object_alone(tmp_path: Path, answer: dict[str, object]) -> None:
    """Nothing stands before it or behind it."""
    _, text = asking(tmp_path, Scripted([*ANSWER[:2], event(str(answer["status"]), answer)]), as_json=True)

    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert json.loads(text) == answer


@pytest.mark.parametrize("as_json", [False, True])
def test_an_answer_cannot_steer_the_terminal(tmp_path: Path, as_json: bool) -> None:  # noqa: FBT001 - a column
    """Neither text, nor address, nor an error's words; in JSON the words stay the same."""
    evil = "\x1b]0;owned\x07\u202e\x9b2J"
    closing = {**COMPLETED, "answer": evil, "citations": [{"n": 1, "address": evil}], "trace_id": evil}
    _, text = asking(tmp_path, Scripted([event("text", {"text": evil}), event("completed", closing)]), as_json=as_json)
    _, failure = asking(tmp_path, Scripted([event("failed", {"error": {"code": evil, "message": evil}})]))

    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(text + failure)
    assert not as_json or json.loads(text) == closing


@pytest.mark.parametrize(
    ("scripted", "reason"),
    [
        (Scripted(ANSWER[:2]), "broke off, with HTTP status 200 and no closing event"),
        (Scripted(ANSWER[:2], whole=False), r"broke off \(IncompleteRead\)"),
        (Scripted([b"event: text\ndata: {oops\n\n"]), "the event 'text' holds no JSON object"),
        (Scripted([event("completed", [1])]), "the event 'completed' holds no JSON object"),
        (Scripted([b"<html>"], 404, {"Content-Type": "text/html"}), "HTTP status 404 and no answer of an agent"),
        (document({"message": "x"}, 502), "HTTP status 502 and no answer of an agent"),
        (document([]), "HTTP status 200 and no answer of an agent"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_what_is_no_answer_is_said(
    tmp_path: Path,
    scripted: Scripted,
    reason: str,
    as_json: bool,  # noqa: FBT001 - a column
) -> None:
    """A cut connection, another server on that port, a broken event: one sentence each."""
    with pytest.raises(ConsoleError, match=reason):
        asking(tmp_path, scripted, as_json=as_json)


@pytest.mark.parametrize(
    ("question", "session"),
    [("", SESSION), (" \n", SESSION), *(("Prazo?", bad) for bad in ("", "short", "x" * 257, "é" * 40, "a b" * 20))],
)
def test_what_no_agent_takes_is_refused_before_it_is_sent(question: str, session: str) -> None:
    """An empty question, and an id that no session can have."""

    def invoke(_body: bytes, _session: str) -> object:
        raise AssertionError

    with pytest.raises(BadInputError):
        ask(question, session, invoke, UNSEEN, as_json=False)  # type: ignore[arg-type]


def test_without_an_agent_the_command_that_starts_one_is_named(tmp_path: Path) -> None:
    """No state, or an agent that is gone."""
    with pytest.raises(ConsoleError, match=f"no agent runs on {tmp_path}; start one: rastro dev --state {tmp_path}"):
        agent_of(tmp_path, None)
    with socket.socket() as gone:
        gone.bind(("127.0.0.1", 0))
        port = gone.getsockname()[1]
    with pytest.raises(ConsoleError, match=rf"nothing listens on 127\.0\.0\.1:{port}; start the agent: rastro dev"):
        ask("Prazo?", None, agent_of(state_of(tmp_path, port), None), UNSEEN, as_json=False)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"port": "x"}', '{"port": 0}', '{"port": 70000}', "\x80"])
def test_a_damaged_state_folder_is_said(tmp_path: Path, text: str) -> None:
    """The file is named, and what it should hold."""
    (tmp_path / "dev.json").write_bytes(text.encode("latin-1"))

    with pytest.raises(BadInputError, match=r"dev\.json is not what rastro dev writes"):
        agent_of(tmp_path, None)


def test_one_agent_is_asked_at_a_time(tmp_path: Path) -> None:
    """A folder and an environment name two."""
    with pytest.raises(BadInputError, match="allowed: one of them"):
        agent_of(tmp_path, "prod")


def test_the_command_tells_scripts_what_happened(tmp_path: Path) -> None:
    """Statuses and streams of the real command, in a pipe that knows few letters."""
    with serving(lambda _: Scripted(ANSWER)) as (port, _):
        answered = rastro("ask", "Prazo?", "--state", str(state_of(tmp_path, port)))
    missing = rastro("ask", "Prazo?", "--state", str(tmp_path / "none"))
    empty = rastro("ask", " ", "--state", str(tmp_path))

    assert (answered.returncode, missing.returncode, empty.returncode) == (0, 1, 2)
    assert answered.stdout.startswith("\\u201c30 dias\\u201d [1]\n")
    assert (missing.stdout, missing.stderr.count("\n")) == ("", 1)
    assert empty.stderr == "the question is empty\n"


def rastro(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [RASTRO, *arguments],
        capture_output=True,
        encoding="latin-1",
        check=False,
        env={"PYTHONIOENCODING": "latin-1"},
    )
