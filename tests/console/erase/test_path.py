"""The whole path on this machine: a person erases what an agent was reading, and the state folder holds it no more."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from agent_image.guard.records import Records
from agent_image.stores.by_url import records_at
from console.laptop import store_url
from tests.agent_image.guard.erased import held_of
from tests.console.approvals.test_path import Answer, at, ledger
from tests.console.test_dev import RASTRO, SHELL, Running, running

QUESTION = "refund order 5501 by 150"
SECONDS = 30


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("erase") / "a state") as found:
        yield found


def erase(agent: Running, *arguments: str) -> Answer:
    return at(agent, "erase", *arguments)


def read_by(agent: Running, question: str) -> tuple[str, list[str]]:
    """Ask, and give the session and the fingerprints of what its answer cites; its span is there."""
    answer = json.loads(at(agent, "ask", question, "--json").stdout)
    found = [one["address"].rpartition("#")[2].partition(".")[0] for one in answer["citations"]]
    session: str = answer["session_id"]
    until = time.monotonic() + SECONDS
    spans = agent.state / "spans.jsonl"
    while not (spans.exists() and all(one in spans.read_text() for one in (session, *found))):
        assert time.monotonic() < until, "no span came"
        time.sleep(0.1)
    return session, found


def kept(agent: Running, session: str) -> str:
    with closing(records_at(store_url(agent.state), None)) as records:
        return _parts(records, session)


def _parts(records: Records, session: str) -> str:
    return held_of(records, *(f"session#{session}{part}" for part in ("#conversation", "#batch")))


def audit(agent: Running) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (agent.state / "audit.jsonl").read_text().splitlines()]


def test_a_passage_is_erased_from_archive_and_sessions_and_stays_erased(agent: Running) -> None:
    """Found through the trail, shown, erased, said in the audit; retrieved again, it is not archived again."""
    session, (fingerprint, *_) = read_by(agent, "How long may goods be returned?")
    words = (agent.state / "archive" / fingerprint).read_text().strip()
    line = max(words.splitlines(), key=len)
    assert line in kept(agent, session)

    shown = erase(agent, "--dry-run", fingerprint)
    assert shown.returncode == 0, shown.stderr
    assert line in kept(agent, session)
    assert f"{session}: will be erased, " in shown.stdout

    done = erase(agent, "--yes", "--json", "--reason", "asked by its author", fingerprint)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["done"], found["archive"]["state"], found["archive"]["erased"]) == (True, "known", True)
    assert [(one["session_id"], one["fate"]) for one in found["sessions"]] == [(session, "erased")]
    assert {"index", "audit", "disk"} <= {limit["code"] for limit in found["limits"]}
    assert f"[erased: {fingerprint}]" in kept(agent, session)
    assert line not in kept(agent, session)
    assert (agent.state / "archive" / fingerprint).read_bytes() == b""
    events = [one for one in audit(agent) if one["event"] == "erasure"]
    assert [(one["code"], one["reason"]["text"]) for one in events] == [
        ("attempt", "asked by its author"),
        ("done", "asked by its author"),
    ]
    assert at(agent, "audit", "verify").returncode == 0

    read_by(agent, "How long may goods be returned?")
    assert (agent.state / "archive" / fingerprint).read_bytes() == b""


def test_a_refund_that_waits_is_still_paid_once(agent: Running) -> None:
    """The session's passage is erased between the question and the approval."""
    session, (fingerprint, *_) = read_by(agent, "How long is the warranty?")
    asked = json.loads(at(agent, "ask", QUESTION, "--session", session, "--json").stdout)

    erased = erase(agent, "--yes", "--no-trail", "--session", session, fingerprint)
    approved = at(agent, "approvals", "approve", asked["checkpoint_id"], "--resume")

    assert erased.returncode == 0, erased.stderr
    assert approved.returncode == 0, approved.stderr
    assert ledger(agent, "5501") == [("150.00", asked["checkpoint_id"])]


def test_nobody_who_can_be_asked_is_bad_input(agent: Running) -> None:
    """A script says --yes; nothing is touched until then."""
    before = sorted(file.stat().st_size for file in (agent.state / "archive").iterdir())

    refused = erase(agent, "A" * 24)

    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert sorted(file.stat().st_size for file in (agent.state / "archive").iterdir()) == before


@pytest.mark.parametrize(("answer", "status", "said"), [("n", 1, "not confirmed"), ("y", 0, "erased")])
def test_a_person_is_asked_on_a_terminal(agent: Running, answer: str, status: int, said: str) -> None:
    """After what would be touched was shown."""
    fingerprint = min(file.name for file in (agent.state / "archive").iterdir() if file.stat().st_size)

    found, text = on_a_terminal(answer, "erase", "--state", str(agent.state), fingerprint)

    assert found == status, text
    assert text.index("to be erased") < text.index("for good")
    assert said in text.rpartition("for good")[2]
    assert ((agent.state / "archive" / fingerprint).stat().st_size == 0) is (answer == "y")


@pytest.mark.parametrize("named", ["short", "A" * 25, "no#address", "-" * 24 + "x", "--dryrun", "\x1b[2J"])
def test_what_names_no_passage_is_bad_input(tmp_path: Path, named: str) -> None:
    """Said before anything is opened, and shown harmlessly."""
    found = subprocess.run(
        [RASTRO, "erase", "--yes", "--state", tmp_path, named],
        capture_output=True,
        text=True,
        check=False,
        env=SHELL,
    )

    assert found.returncode == 2
    assert "names no passage" in found.stderr
    assert "\x1b" not in found.stderr


def on_a_terminal(typed: str, *arguments: str) -> tuple[int, str]:
    """Give a command on a terminal, type an answer when it asks, and give its status and all it showed."""
    ours, theirs = pty.openpty()
    shell = {**SHELL, "TERM": "dumb", "COLUMNS": "200"}
    with subprocess.Popen([RASTRO, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=shell) as process:
        os.close(theirs)
        text = b""
        with suppress(OSError):
            while piece := os.read(ours, 65_536):
                text += piece
                if b"[y/N]" in piece:
                    os.write(ours, f"{typed}\n".encode())
        status = process.wait(timeout=SECONDS)
    os.close(ours)
    return status, text.decode()


def test_a_trail_that_was_read_in_part_leaves_something_to_do(agent: Running) -> None:
    """A line that is cut off may have named a session more: no script takes that for done."""
    _, (fingerprint, *_) = read_by(agent, "How long is the warranty?")
    with (agent.state / "spans.jsonl").open("a") as spans:
        spans.write(f'{{"traceId":"6b0d","attributes":{{"gen_ai.retrieval.documents":"{fingerprint}\n')

    erased = erase(agent, "--yes", "--json", fingerprint)

    assert erased.returncode == 1, erased.stderr
    found = json.loads(erased.stdout)
    assert (found["done"], found["archive"]["erased"]) == (False, True)
