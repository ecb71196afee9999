"""The whole path on this machine: an agent asks, a person decides, the agent goes on, and it happened once."""

from __future__ import annotations

import json
import os
import pty
import pwd
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent_image.contract import Item
from agent_image.guard.records import NEW
from agent_image.stores.by_url import records_at
from console.cli import app
from console.laptop import store_url
from console.moments import now
from tests.console.test_dev import RASTRO, SHELL, Running, rastro, running

ME = pwd.getpwuid(os.getuid()).pw_name
AT_ONCE = 6


@dataclass(frozen=True)
class Answer:
    """Hold what a command said, and its status."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("path") / "a state") as found:
        yield found


def at(agent: Running, *arguments: str) -> Answer:
    """Give a command in this process: starting one takes longer than the command."""
    return command(*arguments, "--state", str(agent.state))


def command(*arguments: str) -> Answer:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)


def at_a_shell(agent: Running, *arguments: str) -> Answer:
    """Give a command as a person does."""
    found = rastro(*arguments, "--state", str(agent.state))
    return Answer(found.returncode, found.stdout, found.stderr)


def approvals(agent: Running, *arguments: str) -> Answer:
    return at(agent, "approvals", *arguments)


def refund(agent: Running, order: str, amount: str = "150") -> str:
    """Ask for a refund; give the checkpoint's id."""
    asked = at(agent, "ask", f"refund order {order} by {amount}", "--json")
    assert asked.returncode == 3, asked.stderr
    found: str = json.loads(asked.stdout)["checkpoint_id"]
    return found


def ledger(agent: Running, order: str) -> list[tuple[str, str]]:
    """Give the effects on an order: the amount, and the key it was booked under."""
    file = agent.state / "ledger.jsonl"
    entries = [json.loads(one) for one in file.read_text().splitlines()] if file.exists() else []
    return [(one["amount"], one["key"]) for one in entries if one.get("order_id") == order]


def shown(agent: Running, checkpoint: str) -> dict[str, Any]:
    answer = approvals(agent, "show", checkpoint, "--json")
    assert answer.returncode == 0, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def test_a_refund_that_is_approved_is_paid_once(agent: Running) -> None:
    """Asked, shown, approved and carried out in one command; a second approval is told whose the first was."""
    asked = at_a_shell(agent, "ask", "refund order 5501 by 150")
    checkpoint = next(line.split()[1] for line in asked.stdout.splitlines() if line.startswith("checkpoint "))

    assert asked.returncode == 3
    assert asked.stdout.startswith("refund_order: pending, a person has to decide\n")
    assert f"rastro approvals approve {checkpoint} --resume --state '{agent.state}'\n" in asked.stdout
    assert ledger(agent, "5501") == []

    approved = at_a_shell(agent, "approvals", "approve", checkpoint[:8], "--reason", "as agreed", "--resume")

    assert approved.returncode == 0, approved.stderr
    assert f"decision    approved by {ME} at " in approved.stdout
    assert "Refund 1: 150.00 BRL go back for order 5501." in approved.stdout
    assert "A person approved this call and adds: as agreed" in approved.stdout
    assert ledger(agent, "5501") == [("150.00", checkpoint)]

    again = at_a_shell(agent, "approvals", "approve", checkpoint, "--resume")
    resumed = at_a_shell(agent, "approvals", "resume", checkpoint)

    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr.startswith(f"{checkpoint} is done: {ME} approved it at ")
    assert resumed.returncode == 1
    assert "failed (already_resumed)" in resumed.stdout
    assert ledger(agent, "5501") == [("150.00", checkpoint)]


def test_a_rejection_s_reason_reaches_the_model(agent: Running) -> None:
    """Nothing is paid, and the model says why."""
    checkpoint = refund(agent, "5502")

    rejected = approvals(agent, "reject", checkpoint, "--reason", "this order was never paid", "--resume")

    assert rejected.returncode == 0, rejected.stderr
    assert rejected.stdout.startswith("refund_order: rejected\n")
    assert "A person rejected this call. Reason: this order was never paid" in rejected.stdout
    assert ledger(agent, "5502") == []


def test_edited_arguments_are_what_runs(agent: Running, tmp_path: Path) -> None:
    """The tool pays what the person wrote, and the model is told."""
    checkpoint = refund(agent, "5503")
    (file := tmp_path / "arguments.json").write_text('{"order_id": "5503", "amount": 12.5}')

    edited = approvals(agent, "edit", checkpoint, "--arguments", f"@{file}", "--reason", "half", "--resume", "--json")

    assert edited.returncode == 0, edited.stderr
    decided, answered = map(json.loads, edited.stdout.splitlines())
    assert decided["decision"]["arguments"] == {"order_id": "5503", "amount": 12.5}
    assert decided["arguments"] == {"order_id": "5503", "amount": 150}
    assert 'the call ran with {"amount":12.5,"order_id":"5503"}. half' in answered["answer"]
    assert ledger(agent, "5503") == [("12.50", checkpoint)]


def test_a_task_that_is_cancelled_goes_no_further(agent: Running) -> None:
    """Nothing is paid; the run ends as the person said."""
    checkpoint = refund(agent, "5504")

    cancelled = approvals(agent, "cancel", checkpoint, "--resume")

    assert cancelled.returncode == 1
    assert cancelled.stdout.startswith("refund_order: cancelled\n")
    assert "failed (cancelled)" in cancelled.stdout
    assert ledger(agent, "5504") == []


def test_what_waits_is_listed_and_shown(agent: Running) -> None:
    """As a table, as a card and as JSON; going on before anybody decided waits again."""
    checkpoint = refund(agent, "5505", "20.25")

    table, resumed = approvals(agent, "list"), approvals(agent, "resume", checkpoint)
    listed = json.loads(approvals(agent, "list", "--json").stdout)
    none = json.loads(approvals(agent, "list", "--json", "--limit", "1").stdout)

    assert table.returncode == 0
    assert f"\n{checkpoint[:12]}  refund_order  red   pending " in table.stdout
    assert " pending\n" in table.stdout.splitlines(keepends=True)[-1]
    assert resumed.returncode == 3
    (found,) = [one for one in listed["checkpoints"] if one["checkpoint_id"] == checkpoint]
    assert found["arguments"] == {"order_id": "5505", "amount": 20.25}
    assert (found["state"], found["level"], found["zone"], found["reasons"]) == ("pending", 3, "red", ["zone_red"])
    assert (found["decision"], found["resolution"], found["genuine"]) == (None, None, True)
    assert shown(agent, checkpoint[:20]) == found
    assert len(none["checkpoints"]) == 1
    assert none["more"] is (len(listed["checkpoints"]) > 1)


def test_what_may_wait_and_cannot_be_read_is_said(tmp_path: Path) -> None:
    """A list that is not whole never passes for one: it names what is missing, and ends with 1."""
    unread = "c" * 64
    with closing(records_at(store_url(tmp_path), None)) as records:
        records.put(f"{Item.CHECKPOINT}{unread}", {"broken": True}, expected=NEW, due=now())

    listed, as_json = (command("approvals", "list", "--state", str(tmp_path), *more) for more in ((), ("--json",)))

    assert (listed.returncode, as_json.returncode) == (1, 1)
    assert listed.stdout == f"1 checkpoint cannot be read, and may wait for a person: {unread}\n"
    assert json.loads(as_json.stdout) == {"checkpoints": [], "more": False, "unreadable": [unread]}


def test_of_several_who_approve_at_once_one_did_and_it_is_paid_once(agent: Running) -> None:
    """Each in a process of its own, each going on at once."""
    checkpoint = refund(agent, "5506")
    approve = ("approvals", "approve", checkpoint, "--resume")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda _: at_a_shell(agent, *approve), range(AT_ONCE)))

    assert sorted(answer.returncode for answer in answers) == [0, *[1] * (AT_ONCE - 1)]
    assert all(f"{ME} approved it at" in answer.stderr for answer in answers if answer.returncode)
    assert ledger(agent, "5506") == [("150.00", checkpoint)]


def changed(agent: Running, checkpoint: str, **changes: Any) -> None:
    """Change a checkpoint where it lies, as nobody may."""
    with closing(sqlite3.connect(agent.state / "guard.db")) as database, database:
        key = f"checkpoint#{checkpoint}"
        (text,) = database.execute("SELECT document FROM records WHERE key = ?", (key,)).fetchone()
        document = {**json.loads(text), **changes}
        database.execute(
            "UPDATE records SET document = ?, version = version + 1 WHERE key = ?", (json.dumps(document), key)
        )


def test_arguments_that_somebody_changed_cannot_be_approved(agent: Running) -> None:
    """The card warns, approving and editing are refused; it can be turned down."""
    checkpoint = refund(agent, "5507")
    changed(agent, checkpoint, arguments={"order_id": "5507", "amount": 999})

    card, approved = approvals(agent, "show", checkpoint), approvals(agent, "approve", checkpoint, "--resume")
    rejected = approvals(agent, "reject", checkpoint, "--reason", "tampered with")

    assert "WARNING: the arguments below are not those that this checkpoint's id was made from." in card.stdout
    assert shown(agent, checkpoint)["genuine"] is False
    assert approved.returncode == 1
    assert "are not those that its id was made from: it can only be rejected" in approved.stderr
    assert rejected.returncode == 0
    assert ledger(agent, "5507") == []


def test_a_doubt_is_resolved_by_a_person_and_told_to_the_model(agent: Running) -> None:
    """It is not run again: what the person found is the result."""
    checkpoint = refund(agent, "5508")
    assert approvals(agent, "approve", checkpoint).returncode == 0
    changed(agent, checkpoint, progress="in_doubt", owner="gone", fence=1)

    card = approvals(agent, "show", checkpoint)
    early = approvals(agent, "approve", checkpoint)
    resolved = approvals(agent, "resolve", checkpoint, "--no-effect", "--reason", "the bank saw nothing", "--resume")

    assert "WARNING: nobody knows whether this took effect." in card.stdout
    assert early.returncode == 1
    assert resolved.returncode == 0, resolved.stderr
    assert "did not take effect. the bank saw nothing" in resolved.stdout
    assert shown(agent, checkpoint)["resolution"]["approver"] == ME
    assert ledger(agent, "5508") == []


def test_what_is_over_is_swept(agent: Running) -> None:
    """Approving is refused before and after; the agent closes it, and says how many it closed."""
    checkpoint = refund(agent, "5509")
    over = "2026-01-01T00:00:00.000Z"
    changed(agent, checkpoint, expires_at=over, due_at=over)
    with closing(sqlite3.connect(agent.state / "guard.db")) as database, database:
        database.execute("UPDATE records SET due = ? WHERE key = ?", (over, f"checkpoint#{checkpoint}"))

    before = approvals(agent, "approve", checkpoint)
    swept = approvals(agent, "sweep")
    after = approvals(agent, "approve", checkpoint)

    assert (before.returncode, after.returncode) == (1, 1)
    assert before.stderr == after.stderr == f"{checkpoint} is expired since {over}: nobody decided in time\n"
    assert (swept.returncode, swept.stdout.splitlines()[0]) == (0, "1 expired")
    assert shown(agent, checkpoint)["state"] == "expired"
    assert json.loads(approvals(agent, "sweep", "--json").stdout)["swept"] == {}


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("show", "c0ffee"), 2, "is no checkpoint's id"),
        (("show", "c0ffee00"), 1, "no open checkpoint begins with c0ffee00"),
        (("approve", "0" * 64), 1, "there is no checkpoint 0000"),
        (("approve",), 2, "Missing argument 'ID'"),
        (("reject", "0" * 64), 2, "Missing option '--reason'"),
        (("reject", "0" * 64, "--reason", " "), 2, "--reason is empty"),
        (("resolve", "0" * 64, "--reason", "x"), 2, "Missing option '--took-effect'"),
        (("resolve", "0" * 64, "--took-effect", "--reason", ""), 2, "--reason is empty"),
        (("edit", "0" * 64), 2, "Missing option '--arguments'"),
        (("edit", "0" * 64, "--arguments", "{"), 2, "--arguments: Expecting property name"),
        (("edit", "0" * 64, "--arguments", "@/no/such/file"), 2, "cannot be read (No such file or directory)"),
        (("approve", "0" * 64, "--approver", "somebody"), 2, "No such option: --approver"),
        (("list", "--limit", "0"), 2, "Invalid value for '--limit'"),
        (("list", "--environment", "prod"), 2, "name two agents"),
    ],
)
def test_bad_input_is_told_by_the_status(agent: Running, arguments: tuple[str, ...], status: int, said: str) -> None:
    """2 for what was typed, 1 for what is not so; one message, no traceback, nothing on standard output."""
    answer = approvals(agent, *arguments)

    assert (answer.returncode, answer.stdout) == (status, "")
    assert said in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ('{"order_id": "5510"}', "$: 'amount' is a required property"),
        ('{"order_id": "5510", "amount": -1}', "$.amount: -1 is less than or equal to the minimum of 0"),
        ('{"order_id": "5510", "amount": "1"}', "$.amount: '1' is not of type 'number'"),
        (
            '{"order_id": "5510", "amount": 1, "to": "me"}',
            "$: Additional properties are not allowed ('to' was unexpected)",
        ),
    ],
)
def test_an_edit_that_the_tool_does_not_take_is_refused(agent: Running, arguments: str, fault: str) -> None:
    """By the tool's own schema, before anything is decided."""
    checkpoint = refund(agent, "5510")

    refused = approvals(agent, "edit", checkpoint, "--arguments", arguments)

    assert refused.returncode == 2
    assert refused.stderr == f"the tool does not take these arguments:\n{fault}\n"
    assert shown(agent, checkpoint)["decision"] is None


def test_the_audit_agrees_with_the_store(agent: Running) -> None:
    """After all that was done above it is whole, and it can be reported over."""
    checkpoint = refund(agent, "5511")
    approvals(agent, "approve", checkpoint, "--reason", "call ana@shop.example", "--resume")

    verified = at(agent, "audit", "verify", "--json")
    report, stats = at(agent, "audit", "report"), at(agent, "approvals", "stats", "--json")
    figures = json.loads(at(agent, "audit", "report", "--json").stdout)
    one = json.loads(at(agent, "audit", "report", "--run", shown(agent, checkpoint)["run"], "--json").stdout)
    nobody_s = at(agent, "audit", "report", "--run", "nobody's")

    assert verified.returncode == 0, verified.stdout
    assert json.loads(verified.stdout)["ok"] is True
    assert report.returncode == 0
    assert "refund_order" in report.stdout
    assert figures["approvals"].keys() == json.loads(stats.stdout).keys()
    assert figures["tools"]["refund_order"]["calls"] >= 1
    assert (one["outcome"], one["asked"], one["tool_calls"]) == ("suspended", 1, 0)
    assert (nobody_s.returncode, nobody_s.stderr) == (1, "the audit has no event of the run nobody's\n")


def copied(agent: Running, state: Path) -> Path:
    """Copy the store as it is at one moment."""
    state.mkdir()
    with (
        closing(sqlite3.connect(agent.state / "guard.db")) as source,
        closing(sqlite3.connect(state / "guard.db")) as target,
    ):
        source.backup(target)
    return state


def test_a_line_that_somebody_changed_is_found(agent: Running, tmp_path: Path) -> None:
    """Edited, or taken away: status 1, and a line for each sign."""
    checkpoint = refund(agent, "5512")
    assert approvals(agent, "reject", checkpoint, "--reason", "no").returncode == 0
    decision = shown(agent, checkpoint)["decision"]["event"].encode()
    whole = (agent.state / "audit.jsonl").read_bytes()
    state = copied(agent, tmp_path / "copy")

    for spoilt, sign in (
        (whole.replace(b'"refund_order"', b'"look_up"', 1), "edited"),
        (b"".join(line for line in whole.splitlines(keepends=True) if decision not in line), "cut"),
        (b"", None),
    ):
        (state / "audit.jsonl").write_bytes(spoilt)
        found = command("audit", "verify", "--state", str(state))
        assert found.returncode == 1
        if sign is None:
            assert "holds no line: there is nothing to verify" in found.stderr
        else:
            assert f"fault  {sign} " in found.stdout
            assert "the audit is NOT what was written" in found.stdout


def test_a_session_without_a_line_is_missed_where_it_is_named(agent: Running, tmp_path: Path) -> None:
    """Who takes away every line of a session leaves nothing that would name it."""
    checkpoint = refund(agent, "5513")
    assert approvals(agent, "approve", checkpoint, "--resume").returncode == 0
    session = shown(agent, checkpoint)["session_id"]
    state = copied(agent, tmp_path / "copy")
    lines = (agent.state / "audit.jsonl").read_text().splitlines(keepends=True)
    (state / "audit.jsonl").write_text("".join(line for line in lines if session not in line))

    silent = command("audit", "verify", "--state", str(state))
    named = command("audit", "verify", "--state", str(state), "--session", session)

    assert silent.returncode == 0, silent.stdout
    assert named.returncode == 1
    assert f"fault  cut             session {session}" in named.stdout


def test_a_session_that_nobody_knows_is_not_said_to_be_whole(agent: Running) -> None:
    """Its id was mistyped, or its record is gone with its lines: either way nothing was verified of it."""
    refund(agent, "5599")

    found = at(agent, "audit", "verify", "--session", "nope\x1b[2J")

    assert found.returncode == 1
    assert found.stdout == ""
    assert "neither the audit nor the store knows the session nope\\x1b[2J" in found.stderr


def test_the_audit_can_be_followed(agent: Running) -> None:
    """The last events, then those that come in; as JSON the very lines. A key ends it, as a success."""
    refund(agent, "5514")
    last = at(agent, "audit", "tail", "-n", "2", "--json")
    follow = [str(RASTRO), "audit", "tail", "-n", "1", "--follow", "--state", str(agent.state)]
    with subprocess.Popen(follow, stdout=subprocess.PIPE, text=True, env=SHELL) as process:
        assert process.stdout
        first = process.stdout.readline()
        waiting = refund(agent, "5515")
        session = shown(agent, waiting)["session_id"]
        following = iter(process.stdout.readline, "")
        came = next(line for line in following if f"checkpoint_id={waiting}" in line)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)

    lines = (agent.state / "audit.jsonl").read_text().splitlines()
    assert len(last.stdout.splitlines()) == 2
    assert set(last.stdout.splitlines()) <= set(lines)
    assert first.startswith("20")
    assert came.split()[1:3] == [session[:8], "gate"]
    assert process.returncode == 0
    assert "Traceback" not in rest


def test_people_s_words_are_redacted_in_the_audit(agent: Running) -> None:
    """What is kept for long names nobody's address; the store has it whole."""
    checkpoint = refund(agent, "5516")
    approvals(agent, "reject", checkpoint, "--reason", "ask ana.souza@shop.example first")

    audit = (agent.state / "audit.jsonl").read_text()

    assert "ana.souza@shop.example" not in audit
    assert "[EMAIL:" in audit
    assert shown(agent, checkpoint)["decision"]["reason"] == "ask ana.souza@shop.example first"


def test_events_do_not_flood_the_terminal(agent: Running) -> None:
    """They are in a file of the state folder that its owner alone reads, one JSON object a line."""
    refund(agent, "5517")
    events = agent.state / "events.jsonl"

    assert f"events     {events}\n" in agent.printed
    assert not any(line.startswith("{") for line in agent.printed)
    assert events.stat().st_mode & 0o777 == 0o600
    assert {json.loads(line)["event"] for line in events.read_text().splitlines()} >= {"run_started", "gate"}


def test_on_a_terminal_a_card_is_framed(agent: Running) -> None:
    """In colour, and no wider than the terminal; NO_COLOR is heeded."""
    checkpoint = refund(agent, "5518")

    coloured = on_a_terminal(agent, checkpoint, {"TERM": "xterm-256color", "COLUMNS": "100"})
    plain = on_a_terminal(agent, checkpoint, {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": "1"})

    assert "\x1b[36m╭─" in coloured
    assert "\x1b[1;31mred" in coloured
    assert "\x1b[1;31mred" not in plain
    bare = re.sub(r"\x1b\[[0-9;]*m", "", plain).splitlines()
    assert {len(line) for line in bare if line.startswith(("│", "╭", "╰"))} == {100}
    assert f"approve  rastro approvals approve {checkpoint} --resume --state '{agent.state}'" in bare


def on_a_terminal(agent: Running, checkpoint: str, variables: Mapping[str, str]) -> str:
    show = [str(RASTRO), "approvals", "show", checkpoint, "--state", str(agent.state)]
    ours, theirs = pty.openpty()
    with subprocess.Popen(show, stdout=theirs, env={**SHELL, **variables}):
        os.close(theirs)
        pieces = []
        try:
            while piece := os.read(ours, 65_536):
                pieces.append(piece)
        except OSError:
            # The end of a terminal whose other side is closed.
            pass
        finally:
            os.close(ours)
    return b"".join(pieces).decode()
