"""`rastro hooks check` holds files to their form; `rastro hooks try` runs hooks once and says what they say."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from agent_image.guard.verdict import Say, Verdict
from agent_image.hooks.hook import Hook, HookEvent, HookLevel, HookType
from console.card import plain
from console.cli import app
from console.framed import Framed
from console.hooks.showing import cards, combined
from console.hooks.trying import Meter, Trial, Tried

BEFORE = {
    "agent_name": "shop",
    "current_turn": 2,
    "max_turns": 8,
    "tool_name": "pay",
    "tool_input": {"amount": 3},
    "tool_use_id": "t1",
}
STOP = {
    "agent_name": "shop",
    "current_turn": 2,
    "max_turns": 8,
    "final_output": "It is done.",
    "stop_hook_active": False,
    "stop_rejection_count": 0,
}
EDITS = """\
#!/usr/bin/env python3
import json, sys
given = json.load(sys.stdin)["tool_input"]
said = {"updatedInput": {"amount": given["amount"] + 1}, "additionalContext": "more"}
json.dump({"decision": "allow", "hookSpecificOutput": said}, sys.stdout)
"""


def command(line: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": line, **more}


def run(*words: str | Path, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["hooks", *map(str, words)], input=given)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, name: str = "hooks.yaml", **events: list[dict[str, Any]]) -> str:
    (folder / name).write_text(json.dumps({"hooks": events}))
    return name


def tried(file: str, event: str, context: object, *more: str) -> Result:
    return run("try", file, "--event", event, "--context", "-", *more, given=json.dumps(context))


def test_a_file_is_listed_as_a_table(folder: Path) -> None:
    """With the defaults filled in."""
    file = written(folder, PreToolUse=[command("true", matcher="pay")], Stop=[{"prompt": "Well?", "timeout": 5}])
    found = run("check", file, "--level", "deployment")

    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout == (
        "hooks.yaml\n"
        "hook                     type     matcher  timeout  failMode  maxRejections\n"
        "-----------------------  -------  -------  -------  --------  -------------\n"
        "deployment/PreToolUse/1  command  pay         30 s  block                 -\n"
        "deployment/Stop/1        prompt   -            5 s  allow                 3\n"
    )


def test_a_program_gets_the_same(folder: Path) -> None:
    """One object, with each file."""
    found = run("check", written(folder, Stop=[command("true")]), "--json")

    assert json.loads(found.stdout) == {
        "files": [
            {
                "file": "hooks.yaml",
                "hooks": [
                    {
                        "hook": "agent/Stop/1",
                        "event": "Stop",
                        "type": "command",
                        "matcher": None,
                        "timeout": 30,
                        "failMode": "allow",
                        "maxRejections": 25,
                        "model": None,
                    }
                ],
            }
        ]
    }


def test_every_fault_of_every_file_is_told_at_once(folder: Path) -> None:
    """Each with its file and its key path; nothing is listed."""
    first = written(folder, "a.yaml", PostToolUse=[command("true", matcher="*", timeout=0)])
    second = written(folder, "b.yaml", Stop=[command("true", matcher="x"), {"type": "other"}])
    found = run("check", first, second, "missing.yaml")

    assert (found.exit_code, found.stdout) == (2, "")
    lines = found.stderr.splitlines()
    assert any(line.startswith("a.yaml: hooks.PostToolUse[0].timeout is 0; allowed: ") for line in lines)
    assert any(line.startswith("b.yaml: hooks.Stop[0].matcher") for line in lines)
    assert any(line.startswith("b.yaml: hooks.Stop[1].type") for line in lines)
    assert any(line.startswith("missing.yaml: ") for line in lines)


def test_hooks_run_in_order_and_the_strictest_verdict_holds(folder: Path) -> None:
    """Each sees the input as the one before left it; one that does not match is not run."""
    file = written(
        folder,
        PreToolUse=[
            {"type": "command", "matcher": "*", "script": EDITS},
            {"type": "command", "matcher": "pa.", "script": EDITS},
            command("exit 2", matcher="other"),
            command("""echo '{"decision":"ask","reason":"Who pays?"}'""", matcher="*"),
        ],
    )
    found = tried(file, "PreToolUse", BEFORE, "--json")
    document = json.loads(found.stdout)

    assert found.exit_code == 0
    assert all(hook.pop("ms") >= 0 for hook in document["hooks"])
    assert [hook["hook"][-1] for hook in document["hooks"]] == ["1", "2", "4"]
    assert document["hooks"][2] == {
        "hook": "agent/PreToolUse/4",
        "type": "command",
        "verdict": "ask",
        "code": "hook_asked",
        "reason": "Who pays?",
        "detail": "Who pays?",
        "context": "",
        "updatedInput": None,
        "alert": "",
    }
    del document["hooks"]
    assert document == {
        "event": "PreToolUse",
        "verdict": "ask",
        "whole": True,
        "context": ["more", "more"],
        "updatedInput": {"amount": 5},
        "tokens": 0,
    }


def test_a_refusal_is_no_failure_of_the_command(folder: Path) -> None:
    """Status 0 whatever the verdict; what a hook writes cannot steer a terminal."""
    file = written(folder, Stop=[command("printf 'No.\\nAgain.' >&2; exit 2")])
    found = tried(file, "Stop", STOP)

    assert found.exit_code == 0
    assert re.sub(r"\d+ ms", "N ms", found.stdout) == (
        "agent/Stop/1: block\n\n"
        "type    command\n"
        "code    hook_blocked\n"
        "reason  No.\n"
        "        Again.\n"
        "took    N ms\n\n"
        "combined: block\n"
    )


@pytest.mark.parametrize(("mode", "verdict"), [("allow", "allow"), ("block", "block")])
def test_a_hook_that_fails_counts_as_its_file_says(folder: Path, mode: str, verdict: str) -> None:
    """With the fault's code, and what it wrote."""
    file = written(folder, Stop=[command("echo broken >&2; exit 3", failMode=mode)])
    (hook,) = json.loads(tried(file, "Stop", STOP, "--json").stdout)["hooks"]

    assert (hook["verdict"], hook["code"]) == (verdict, "hook_exit")
    assert "broken" in hook["detail"]
    assert "broken" not in hook["reason"]


def test_a_hook_reads_the_transcript_that_the_context_names(folder: Path) -> None:
    """A copy of it, which is gone afterwards; an empty one where there is none."""
    (folder / "talk.txt").write_text("hello")
    reads = (
        "import json,sys; c=json.load(sys.stdin); p=c['execution_summary']; print(p, open(p).read(), file=sys.stderr)"
    )
    file = written(folder, Stop=[command(f'python3 -c "{reads}"; exit 2')])

    for named, text in (({"execution_summary": str(folder / "talk.txt")}, "hello"), ({}, "")):
        (hook,) = json.loads(tried(file, "Stop", {**STOP, **named}, "--json").stdout)["hooks"]
        path, _, read = hook["reason"].partition(" ")
        assert read == text
        assert path != str(folder / "talk.txt")
        assert not Path(path).exists()


def test_where_no_hook_fires_that_is_said(folder: Path) -> None:
    """Nothing is held up."""
    file = written(folder, PreToolUse=[command("exit 2", matcher="other")])

    assert tried(file, "PreToolUse", BEFORE).stdout == ("no hook of the file fires: PreToolUse goes on as without it\n")


def test_the_offline_model_does_not_judge(folder: Path) -> None:
    """It says so, and what the others say is no whole verdict: status 1."""
    file = written(folder, Stop=[{"prompt": "Well?"}, command("exit 2")])
    found = tried(file, "Stop", STOP)

    assert found.exit_code == 1
    assert "agent/Stop/1: not_judged" in found.stdout
    assert "the offline model cannot judge" in found.stdout
    assert found.stdout.endswith("combined: block, of the hooks that were asked\n")


def test_all_that_is_wrong_with_a_context_is_told(folder: Path) -> None:
    """Fields that are missing, unknown, or of another type."""
    file = written(folder, Stop=[command("true")])
    given = {**STOP, "current_turn": True, "more": 1, "hook_event_name": "PreToolUse"}
    del given["final_output"]
    found = tried(file, "Stop", given)

    assert found.exit_code == 2
    assert found.stderr.splitlines() == [
        "--context: final_output is missing; allowed: a text",
        "--context: current_turn is a bool; allowed: a whole number",
        (
            "--context: more is unknown; allowed at Stop: agent_name, current_turn, max_turns, final_output, "
            "stop_hook_active, stop_rejection_count, hook_event_name, execution_summary"
        ),
        "--context: hook_event_name is PreToolUse; allowed: Stop, as --event says",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("[]", "it is a list; allowed: an object"),
        ("{", "Expecting property name enclosed in double quotes"),
        ('{"a": NaN}', "NaN is no number of JSON"),
        ("[" * 100_000, "it cannot be read"),
    ],
)
def test_what_is_no_object_is_no_context(folder: Path, given: str, said: str) -> None:
    """Nothing runs."""
    file = written(folder, Stop=[command("true")])
    found = run("try", file, "--event", "Stop", "--context", "-", given=given)

    assert found.exit_code == 2
    assert found.stderr.startswith(f"--context: {said}")


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    """The context, the hooks, or the model's reference."""
    file = written(folder, Stop=[{"prompt": "Well?"}])
    (folder / "c.json").write_text(json.dumps(STOP))

    missing = run("try", file, "--event", "Stop", "--context", "no.json")
    assert (missing.exit_code, missing.stderr) == (
        2,
        "--context: no.json cannot be read (No such file or directory)\n",
    )
    assert run("try", "no.yaml", "--event", "Stop", "--context", "c.json").exit_code == 2
    assert run("try", file, "--event", "Other", "--context", "c.json").exit_code == 2
    refused = run("try", file, "--event", "Stop", "--context", "c.json", "--model", "what://is")
    assert (refused.exit_code, "what://is" in refused.stderr) == (2, True)


def trial() -> Trial:
    hook = Hook(level=HookLevel.AGENT, event=HookEvent.PRE_TOOL_USE, number=1, type=HookType.COMMAND, matcher="*")
    verdict = Verdict(
        Say.DENY,
        hook.id,
        "hook_blocked",
        "No \x1b[31mred\x1b[0m.",
        context="Mind.",
        alert="page",
        detail="No \x1b[31mred\x1b[0m.",
    )
    return Trial((Tried(hook, verdict, 12),), Say.DENY, None, 1_200)


def test_a_terminal_gets_a_card() -> None:
    """Framed, in colour, and with nothing in it that could steer the terminal."""
    out = io.StringIO()
    (card,) = cards(trial())
    Framed(Console(file=out, width=60, force_terminal=False, color_system=None)).card(card)

    assert out.getvalue() == (
        "╭─ agent/PreToolUse/1: block ──────────────────────────────╮\n"
        "│                                                          │\n"
        "│  type     command                                        │\n"
        "│  code     hook_blocked                                   │\n"
        "│  reason   No \\x1b[31mred\\x1b[0m.                         │\n"
        "│  context  Mind.                                          │\n"
        "│  alert    hook_page                                      │\n"
        "│  took     12 ms                                          │\n"
        "│                                                          │\n"
        "╰──────────────────────────────────────────────────────────╯\n"
    )
    assert "\x1b" not in plain(card)
    assert combined(trial(), HookEvent.PRE_TOOL_USE) == "combined: block, 1,200 tokens"


def test_a_meter_counts_what_models_used() -> None:
    """In tokens; a call that failed used none that is known."""
    meter = Meter()
    meter.begin("h", "m", 1, 1).end({"inputTokens": 7, "outputTokens": 5}, "end_turn")
    meter.begin("h", "m", None, None).fail("x")

    assert meter.tokens == 12
