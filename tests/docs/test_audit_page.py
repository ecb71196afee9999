"""What the page about the audit says is what the code does."""

from __future__ import annotations

import re
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest

from agent_image.contract import EventName, Field, Outcome, Ruling
from agent_image.guard.audit import TEXT_LIMIT
from agent_image.guard.audit_file import FILE_LIMIT
from agent_image.guard.events import LISTED, TEXTS
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.signs import NOTES, Sign
from tests.agent_image.guard.chains import Ticking, chain, parsed
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "audit.md").read_text()
FIELDS = PAGE.partition("## What an event holds")[2].partition("\n**Texts**")[0]
RECIPES = dict(
    re.findall(r"\n\n([A-Z][^\n]*[^\n`])\n\n```sh\n(.*?)\n```", PAGE.partition("<!-- recipes")[2], re.DOTALL)
)
ONE, TWO = "session-1" + "0" * 32, "session-2" + "0" * 32

# The answers, from the audit that `story` writes.
ANSWERS = {
    "What did all of it cost": "0.2610003",
    "And each session": f'{{"session":"{ONE}","usd":0.2600003}}\n{{"session":"{TWO}","usd":0.001}}',
    "Which calls have no known price": '{"run":"run-2","seq":3,"model":"unknown"}',
    "Which tools were called most": "      2 search_knowledge\n      1 refund_order",
    "Which calls were not let through": (
        '{"run":"run-1","seq":6,"tool":"open_ticket","decision":"blocked"}\n'
        '{"run":"run-2","seq":4,"tool":"refund_order","decision":"rejected"}'
    ),
    "Which steps cost more": '{"run":"run-1","seq":5,"cost_usd":0.25}\n{"run":"run-1","seq":7,"cost_usd":0.01}',
    "With what was it called": (
        '{"ts":"2026-01-31T09:30:04.000Z","approver":"arn:aws:iam::111122223333:user/ana",'
        '"args":{"amount":150,"order_id":"5501"}}'
    ),
    "Which calls began and have no result": '{"run":"run-2","seq":5,"tool":"search_knowledge"}',
    "What did one run do": (
        "1\trun_started\t-\t-\n2\tllm_call\tpriced\ttool_use\n3\ttool_result\tsearch_knowledge\tallowed\n"
        "4\ttool_call\trefund_order\tapproved\n5\ttool_result\trefund_order\tapproved\n"
        "6\ttool_result\topen_ticket\tblocked\n7\tllm_call\tpriced\tend_turn\n8\trun_ended\tcompleted\t-"
    ),
}


def story(folder: Path) -> None:
    """Write an audit with one of everything that the recipes ask for."""
    outlet = MemoryOutlet()
    one = chain(outlet, session_id=ONE, run="run-1", clock=Ticking())
    one.append(EventName.RUN_STARTED, kind="prompt", reason="Refund order 5501, please.")
    one.append(EventName.LLM_CALL, model="priced", stop_reason="tool_use", cost_usd=Decimal("3E-7"))
    one.append(
        EventName.TOOL_RESULT, tool="search_knowledge", tool_use_id="t0", decision="allowed", cost_usd=0, is_error=False
    )
    one.append(
        EventName.TOOL_CALL,
        tool="refund_order",
        tool_use_id="t1",
        zone="red",
        decision="approved",
        approver="arn:aws:iam::111122223333:user/ana",
        args={"order_id": "5501", "amount": 150},
    )
    one.append(
        EventName.TOOL_RESULT, tool="refund_order", tool_use_id="t1", decision="approved", cost_usd=Decimal("0.25")
    )
    one.append(EventName.TOOL_RESULT, tool="open_ticket", tool_use_id="t2", decision="blocked", result="No.")
    one.append(EventName.LLM_CALL, model="priced", stop_reason="end_turn", cost_usd=Decimal("0.01"))
    one.append(EventName.RUN_ENDED, outcome="completed", cost_usd=Decimal("0.2600003"))
    two = chain(outlet, session_id=TWO, run="run-2", clock=Ticking())
    two.append(EventName.RUN_STARTED, kind="prompt")
    two.append(EventName.LLM_CALL, model="priced", cost_usd=Decimal("0.001"))
    two.append(EventName.LLM_CALL, model="unknown", cost_usd=None)
    two.append(EventName.TOOL_RESULT, tool="refund_order", tool_use_id="t3", decision="rejected", result="No.")
    two.append(EventName.TOOL_CALL, tool="search_knowledge", tool_use_id="t4", decision="allowed", args={})
    lines = list(outlet.lines)
    lines.insert(3, chain_line())
    (folder / "audit.jsonl").write_bytes(b"".join(lines))
    (folder / "audit.jsonl.10").write_bytes(b'{"run":"earlier","seq":2,"event":"run_ended"}\n{"run":"ear\n')
    (folder / "audit.jsonl.9").write_bytes(b'{"run":"earlier","seq":1,"event":"run_started"}\n')


def chain_line() -> bytes:
    """Give the intent of the green call."""
    outlet = MemoryOutlet()
    events = chain(outlet, session_id=ONE, run="run-0")
    events.append(EventName.TOOL_CALL, tool="search_knowledge", tool_use_id="t0", decision="allowed", args={"q": "x"})
    return outlet.lines[0]


def asked(question: str, folder: Path) -> str:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    (recipe,) = [recipe for asks, recipe in RECIPES.items() if asks.startswith(question)]
    done = subprocess.run(["bash", "-c", recipe], cwd=folder, capture_output=True, text=True, check=True, timeout=60)  # noqa: S607 - the page's own shell
    assert done.stderr == ""
    return done.stdout.rstrip("\n")


@pytest.mark.parametrize("question", ANSWERS)
def test_a_recipe_answers_its_question(question: str, tmp_path: Path) -> None:
    """The seed's own among them, under our field names."""
    story(tmp_path)

    assert asked(question, tmp_path) == ANSWERS[question]


def test_grep_finds_a_tool(tmp_path: Path) -> None:
    """The seed's documented command found nothing in what the seed wrote."""
    story(tmp_path)
    (recipe,) = [recipe for asks, recipe in RECIPES.items() if asks.startswith("Every line about one tool")]
    done = subprocess.run(["bash", "-c", recipe], cwd=tmp_path, capture_output=True, check=True, timeout=60)  # noqa: S607 - the page's own shell

    assert [record["event"] for record in parsed(done.stdout.splitlines())] == [
        "tool_call",
        "tool_result",
        "tool_result",
    ]


def test_closed_files_come_first_and_torn_lines_are_passed_over(tmp_path: Path) -> None:
    """Nine before ten."""
    story(tmp_path)
    lines = asked("All of it", tmp_path).splitlines()

    assert lines[:2] == [
        '{"run":"earlier","seq":1,"event":"run_started"}',
        '{"run":"earlier","seq":2,"event":"run_ended"}',
    ]
    assert len(lines) == 2 + 14


def test_every_recipe_is_tested() -> None:
    """A question without an answer is no recipe."""
    known = [*ANSWERS, "Every line about one tool", "All of it"]

    assert len(RECIPES) == PAGE.partition("<!-- recipes")[2].count("```sh") == len(known)
    assert all(any(asks.startswith(question) for asks in RECIPES) for question in known)


@pytest.mark.parametrize("question", RECIPES)
def test_a_recipe_names_fields_that_there_are(question: str) -> None:
    """Also where jq is not installed."""
    recipe = RECIPES[question].replace("audit.jsonl", "")
    named = set(re.findall(r"(?<![\w\"])\.([a-z_]+)", recipe)) | set(re.findall(r'has\("([a-z_]+)"\)', recipe))

    assert named - {"text"} <= set(Field)


@pytest.mark.parametrize("field", Field)
def test_every_field_is_described(field: Field) -> None:
    """In the table, and no other is."""
    assert f"`{field.value}`" in FIELDS


def test_no_field_is_described_that_is_not_there() -> None:
    """First column only."""
    columns = re.findall(r"^\| (`[^|]*) \|", FIELDS, re.MULTILINE)

    assert {name for column in columns for name in re.findall(r"`(\w+)`", column)} == set(Field)


@pytest.mark.parametrize("value", [*EventName, *Ruling, *Outcome])
def test_every_value_is_named(value: str) -> None:
    """What an event may be called, what may become of a call, how a run may end."""
    assert f"`{value}`" in FIELDS


@pytest.mark.parametrize("sign", Sign)
def test_every_sign_is_explained(sign: Sign) -> None:
    """And told whether it is a fault."""
    (row,) = re.findall(rf"^\| `{sign.value}` \| (.*) \|$", PAGE, re.MULTILINE)

    assert row.startswith("no fault:") == (sign in NOTES)


def test_the_limits_that_the_page_tells_are_the_code_s() -> None:
    """Characters of a text, codes of a list, bytes of a file."""
    assert f"cut at {TEXT_LIMIT} characters" in PAGE
    assert f"up to {LISTED}" in PAGE
    assert f"At {FILE_LIMIT // 1024**2} MiB" in PAGE
    assert all(f"`{field.value}`" in PAGE.partition("texts, see below")[0] for field in TEXTS)
