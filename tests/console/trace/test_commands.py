"""The command leads from what a person has in hand to the words: over a real state folder, in this process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent_image.contract import SCOPE, Regime
from agent_image.retrieval.fingerprint import fingerprint, normalised
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.telemetry.invocation_span import answer_fingerprint
from console.cli import app
from console.laptop import archive_folder
from console.screen import Screen
from console.trace.asking import Asked, Shape
from console.trace.commands import Tracer
from console.trace.plain import PlainWriter
from tests.conftest import ROOT
from tests.console.trace import trails
from tests.console.trace.cloud import Cloud

ANSWER = "You can return unused items within 30 days of delivery [1]. " * 5
OTHER = "another-session-of-somebody-else-0000"
GOLDENS = Path(__file__).parent / "goldens"


@dataclass(frozen=True)
class Answered:
    """Hold what a command said, and its status."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


@dataclass(frozen=True)
class Desk:
    """Hold a state folder and the documents that its agent was reading."""

    state: Path
    knowledge: Path

    def trace(self, *arguments: str, stdin: str = "") -> Answered:
        return command("trace", *arguments, "--state", str(self.state), stdin=stdin)

    def neutral(self, text: str) -> str:
        """Give a text without this run's folders."""
        return text.replace(str(self.knowledge), "/knowledge").replace(str(self.state), "/state")


def command(*arguments: str, stdin: str = "") -> Answered:
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answered(result.exit_code, result.stdout, result.stderr)


def written(desk: Desk, documents: list[dict[str, Any]]) -> None:
    """Write a trail whose passages lie in the desk's documents."""
    base = desk.knowledge.as_uri() + "/"
    for name, has_trace in (("spans.jsonl", True), ("events.jsonl", False)):
        held = [one for one in documents if ("traceId" in one) is has_trace]
        text = b"".join(line + b"\n" for line in trails.lines(held)).decode()
        (desk.state / name).write_text(text.replace(trails.BASE, base))


def other_session() -> list[dict[str, Any]]:
    """Give a later session, which read the warranty and gave the same answer."""
    where: dict[str, Any] = {"trace_id": "d4" * 16, "session_id": OTHER}
    said: dict[str, Any] = {"rag__answer": answer_fingerprint(ANSWER), "rastro__cost_usd": 0.5}
    return [
        trails.invocation("prompt", "run-9", "i9", start=100, **said, **where),
        trails.retrieval("r9", "i9", ["warranty.md"], start=100.1, **where),
        trails.event("run_started", 1, after=100, run="run-9", span_id="i9", kind="prompt", **where),
        trails.event("run_ended", 2, after=100.5, run="run-9", span_id="i9", outcome="completed", **where),
    ]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    found = Desk(tmp_path / "state", tmp_path / "knowledge")
    found.state.mkdir()
    found.knowledge.mkdir()
    for name, text in trails.TEXTS.items():
        (found.knowledge / name).write_text(f"# Before\n\n{text}\n\nAfter.\n")
    archive = FolderPassageStore(archive_folder(found.state))
    archive.put(fingerprint(trails.TEXTS["warranty.md"]).text, normalised(trails.TEXTS["warranty.md"]))
    written(found, trails.story())
    return found


def test_the_story_is_told_whole(desk: Desk) -> None:
    """One document stands, one was edited, one is gone; the archive has the words of the edited one."""
    (desk.knowledge / "warranty.md").write_text("# Warranty\n\nThere is none.\n")
    (desk.knowledge / "shipping.md").unlink()

    found = desk.trace("--session", trails.SESSION_ID)

    assert found.err == ""
    assert desk.neutral(found.out) == (GOLDENS / "story.txt").read_text()
    assert found.status == 0


def test_the_last_session_is_usual_on_this_machine(desk: Desk) -> None:
    """And whoever sees it is told so, beside it."""
    found = desk.trace()

    assert (found.status, found.err) == (0, "nothing was named: this is the session that ran last (--last)\n")
    assert found.out == desk.trace("--last").out == desk.trace("--trace", "b2" * 16).out


def test_an_environment_wants_to_be_told_what_to_trace() -> None:
    """A query costs: nothing is searched that nobody named."""
    found = command("trace", "--environment", "prod")

    assert found.status == 2
    assert "allowed: one of --session ID, --trace ID, --last, --answer FILE, --chunk ID" in found.err


def test_every_fault_of_a_command_is_told_at_once(desk: Desk) -> None:
    """Not one after the other."""
    found = desk.trace("--session", "\x1b[2J", "--trace", "7", "--chunk", "no uri", "--html", str(desk.state))

    assert found.status == 2
    assert found.out == ""
    assert found.err.splitlines()[0] == "--session, --trace, --chunk name 3 things; allowed: one of them"
    assert "--session is '\\x1b[2J'" in found.err
    assert all(f"--{option} is '" in found.err for option in ("trace", "chunk", "html"))


@pytest.mark.parametrize("since", ["soon", "2", "3001-01-01", "99999999d", "\x1b7d"])
def test_a_time_that_is_none_is_refused(desk: Desk, since: str) -> None:
    """With what is allowed."""
    found = desk.trace("--since", since)

    assert found.status == 2
    assert "allowed: a length of time such as" in found.err


def test_what_is_not_there_is_not_found(desk: Desk) -> None:
    """Exit status 1, with a reason that may be the true one."""
    found = desk.trace("--session", "of nobody")

    assert (found.status, found.out) == (1, "")
    assert "holds nothing of the session of nobody" in found.err
    assert desk.trace("--trace", "0" * 32).status == 1
    assert desk.trace("--chunk", "s3://elsewhere/a.md").status == 1


def test_an_answer_leads_to_its_session(desk: Desk) -> None:
    """Pasted without its marks, and re-wrapped; the newest is shown, and the others are named."""
    mine = [{**one} for one in trails.story()]
    mine[1]["attributes"] = {**mine[1]["attributes"], "rag.answer": answer_fingerprint(ANSWER)}
    written(desk, [*mine, *other_session()])
    pasted = ANSWER.replace(" [1]", "").replace(". ", ".\n")
    file = desk.state / "answer.txt"
    file.write_text(pasted.replace("\n", "\r\n"), encoding="utf-8-sig")

    shown = desk.trace("--answer", "-", stdin=pasted)

    assert shown.status == 0
    assert shown.out.startswith(f"session  {OTHER}\n")
    assert f"other sessions  that the question leads to as well\n  {trails.SESSION_ID}" in shown.out
    found = desk.trace("--answer", str(file), "--json").document
    assert (found["session"]["id"], [one["session_id"] for one in found["others"]]) == (OTHER, [trails.SESSION_ID])


def test_an_answer_that_left_no_fingerprint_is_refused(desk: Desk) -> None:
    """It is too short to be told from a guess; and marks do not make it longer."""
    for text in ("Yes.", "Yes [1]. " * 30):
        found = desk.trace("--answer", "-", stdin=text)
        assert found.status == 2
        assert "fewer than 200 bytes" in found.err


def test_an_answer_that_cannot_be_read_is_refused(desk: Desk) -> None:
    """No file, a folder, and what is no text."""
    (desk.state / "image").write_bytes(b"\xff\xd8")
    for name in ("nowhere", "", "image"):
        assert desk.trace("--answer", str(desk.state / name)).status == 2


def test_a_passage_leads_to_every_session_that_read_it(desk: Desk) -> None:
    """By its fingerprint, its address or its source; with what came of it, the last reader first."""
    written(desk, [*trails.story(), *other_session()])
    mark = fingerprint(trails.TEXTS["warranty.md"])
    uri = f"{desk.knowledge.as_uri()}/warranty.md"

    found = desk.trace("--chunk", mark.text, "--json")

    assert found.document["sessions"] == [
        {
            "session_id": OTHER,
            "first": "2026-03-14T03:01:40.100Z",
            "last": "2026-03-14T03:01:40.100Z",
            "retrievals": 1,
            "cited": False,
            "outcomes": ["completed"],
        },
        {
            "session_id": trails.SESSION_ID,
            "first": "2026-03-14T03:00:02.100Z",
            "last": "2026-03-14T03:00:02.100Z",
            "retrievals": 1,
            "cited": False,
            "outcomes": ["completed"],
        },
    ]
    for named in (str(mark), f"warranty.md#{mark}", uri):
        assert desk.trace("--chunk", named, "--json").document["sessions"] == found.document["sessions"]
    table = desk.trace("--chunk", uri).out
    assert "2 sessions, 2 retrievals; cited in 0\n" in table
    assert f"rastro trace --session {OTHER} --state " in table


def test_a_cited_passage_is_called_so(desk: Desk) -> None:
    """The answer's own numbers tell."""
    mark = fingerprint(trails.TEXTS["returns.md"]).text

    assert desk.trace("--chunk", mark, "--json").document["sessions"][0]["cited"] is True


def test_strict_fails_where_words_or_sources_are_lost(desk: Desk) -> None:
    """0 while every passage stands; 4 after one was edited; shown the same."""
    assert desk.trace("--strict").status == 0
    (desk.knowledge / "warranty.md").write_text("The archive has the words, and the document has others.")
    assert desk.trace("--strict").status == 4
    (desk.knowledge / "warranty.md").write_text(trails.TEXTS["warranty.md"])
    assert desk.trace("--strict").status == 0
    (desk.knowledge / "returns.md").write_text("Something else.")

    found = desk.trace("--strict")

    assert found.status == 4
    assert "text: not recovered" in found.out
    assert desk.trace().status == 0


def test_strict_fails_where_nobody_can_know(desk: Desk) -> None:
    """Metadata holds no addresses."""
    written(desk, [one if one["name"] != "retrieval KB12345678" else _counts(one) for one in _spans()])

    found = desk.trace("--strict")

    assert found.status == 4
    assert "regime metadata: which passages these were cannot be known" in found.out


def test_what_is_partial_says_so_and_has_a_status(desk: Desk) -> None:
    """A line that was cut off: the rest is shown."""
    spans = desk.state / "spans.jsonl"
    broken = '{"traceId":"a1","attributes":{"session.id":"' + trails.SESSION_ID
    spans.write_text(f"{broken}\n{spans.read_text()}")

    found = desk.trace()

    assert found.status == 3
    assert "notes\n  unread_lines  partial  1 line" in found.out
    assert found.out.startswith("session  64c1ebda")
    assert desk.trace("--json").document["session"]["notes"][0]["partial"] is True


def test_a_line_that_was_cut_off_may_have_named_a_reader_more(desk: Desk) -> None:
    """Who looks for a leaked passage, or for sessions, must know that not all was read."""
    spans = desk.state / "spans.jsonl"
    mark = fingerprint(trails.TEXTS["returns.md"]).text
    spans.write_text(f'{spans.read_text()}{{"traceId":"a1","attributes":{{"rastro.run":"r","d":"{mark}\n')

    readers, sessions = desk.trace("--chunk", mark), command("sessions", "--since", "9999d", "--state", str(desk.state))

    assert (readers.status, sessions.status) == (3, 3)
    assert "1 line of the trail could not be read" in readers.out
    assert "1 line of the trail could not be read" in sessions.out


def test_without_looking_up_the_trail_alone_is_shown(desk: Desk) -> None:
    """No source is opened, and the JSON says that nobody asked."""
    (desk.knowledge / "returns.md").unlink()

    found = desk.trace("--no-resolve", "--json").document
    passages = [one for turn in found["session"]["turns"] for step in turn["steps"] for one in step.get("passages", ())]

    assert {(one["text"]["why"], one["source"]["state"], one["index"]["state"]) for one in passages} == {
        ("not_asked", "not_read", "unknown")
    }
    assert "source:" not in desk.trace("--no-resolve").out
    assert desk.trace("--no-resolve", "--strict").status == 2


def test_the_words_are_printed_with_their_surroundings(desk: Desk) -> None:
    """Behind marks, so that no document can pass for the report."""
    found = desk.trace("--text").out

    assert f"  : # Before\n  | {trails.TEXTS['returns.md']}\n  : After.\n" in found


def test_a_page_is_written_whole_in_place_of_the_tree(desk: Desk) -> None:
    """For its owner's eyes; what lay there is replaced; JSON may come beside it."""
    page = desk.state / "trace.html"
    page.write_text("old")

    found = desk.trace("--html", str(page))

    assert (found.status, found.out) == (0, f"wrote {page}\n")
    assert trails.TEXTS["returns.md"] in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600
    assert desk.trace("--html", str(page), "--json").document["session"]["id"] == trails.SESSION_ID
    assert [one.name for one in desk.state.iterdir() if one.name.startswith(".")] == []


def test_a_page_that_cannot_be_written_is_refused(desk: Desk) -> None:
    """A folder that is not there; nothing else is left behind."""
    found = desk.trace("--html", str(desk.state / "nowhere" / "trace.html"))

    assert found.status == 2
    assert "cannot be written" in found.err


def test_a_page_is_of_a_session_and_not_of_a_list(desk: Desk) -> None:
    """Each option that a list has no use for is named."""
    found = desk.trace("--chunk", "s3://a/b", "--text", "--strict", "--html", "x.html")

    assert found.status == 2
    assert len(found.err.splitlines()) == 3


def test_tracing_a_folder_waits_for_nothing_that_it_does_not_need() -> None:
    """No AWS, no drawing, no page, no documents: a list of sessions starts at once."""
    code = (
        "import sys, console.trace.opening, console.sessions.commands\n"
        "heavy = {'boto3', 'botocore', 'strands', 'opentelemetry', 'sqlalchemy', 'httpx', 'rich', 'jinja2', 'pypdf'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert loaded.stdout == "[]\n"


def test_a_trail_in_aws_says_what_it_read(cloud: Cloud) -> None:
    """The same tree, and what the queries scanned and cost."""
    cloud.store(trails.story())
    written_out: list[str] = []
    tracer = Tracer(
        trail=cloud.trail(),
        look=lambda _session, _around: lambda _retrieval, _passage: None,
        screen=Screen(written_out.append),
        writer=PlainWriter(written_out.append),
        place="the trail of prod",
        option=" --environment prod",
    )

    status = tracer.trace(Asked(session_id=trails.SESSION_ID), Shape())
    text = "".join(written_out)

    assert status == 0
    assert "turn 3  resume  completed" in text
    assert re.search(r"^read  [0-9.,]+ (?:bytes|KB) in \d+ quer", text, re.MULTILINE)
    assert f"rastro trace --session {trails.SESSION_ID} --environment prod --text\n" in text


def test_spans_of_no_session_are_shown_all_the_same(desk: Desk) -> None:
    """Another vendor's agent, without a session's id: no command pretends that there is one."""
    chat = trails.chat("c1", "x", trace_id="f6" * 16, session_id="")
    written(desk, [chat, trails.invocation("prompt", "r", "i", trace_id="f6" * 16, session_id="")])

    found = desk.trace("--trace", "f6" * 16)

    assert found.out.startswith("session  without an id\n")
    assert "model  offline  100 in, 10 out" in found.out
    assert "--session" not in found.out


def _spans() -> list[dict[str, Any]]:
    return [one for one in trails.asked() if "traceId" in one]


def _counts(span: dict[str, Any]) -> dict[str, Any]:
    counted = trails.retrieval("r1", "t1", start=2.1, regime=Regime.METADATA)
    assert span["scope"]["name"] == SCOPE
    return counted
