"""Figures are laid out in tables; what nobody knows is unknown, and signs are one line each."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from agent_image.guard.codec import encode
from agent_image.guard.metrics import report, run_summary
from agent_image.guard.signs import Finding, Sign, Verification
from console.audit import verifying
from console.audit.reporting import UNKNOWN, approval_tables, percent, summary_table, tables
from console.table import Table

NOW = datetime(2026, 1, 31, 13, tzinfo=UTC)
SESSION = {"session.id": "s" * 36}


def event(name: str, number: int, **fields: object) -> dict[str, object]:
    return {
        "event": name,
        "ts": f"2026-01-31T12:00:{number:02}.000Z",
        "event_id": str(number),
        "run": "r1",
        "attributes": SESSION,
        **fields,
    }


EVENTS = [
    event("run_started", 1),
    event(
        "llm_call",
        2,
        cost_usd=Decimal("0.000123456789"),
        latency_ms=40,
        is_error=False,
        tokens={"input": 9, "output": 1},
    ),
    event("gate", 3, tool="refund_order", decision="asked", checkpoint_id="c1"),
    event("run_ended", 4, outcome="suspended"),
    event("gate", 5, tool="refund_order", decision="asked", checkpoint_id="c2"),
    event("decision", 13, checkpoint_id="c1", decision="reject", approver="ana", code="attempt", waited_ms=10_000),
    event("tool_result", 14, tool="look", decision="allowed", cost_usd=0, latency_ms=7, is_error=True),
    event("alert", 15, code="loop"),
]


def cell(found: list[Table], row: str, column: int = 1) -> str:
    (value,) = [cells[column] for table in found for cells in table.rows if cells[0] == row]
    return value


def test_a_report_says_what_the_events_say() -> None:
    """Money to the last digit, shares in per cent, times in words, and what waits by name."""
    found = list(tables(report(EVENTS, NOW)))

    assert cell(found, "cost, USD") == "0.000123456789"
    assert cell(found, "  ended suspended") == "1"
    assert cell(found, "completion rate") == UNKNOWN
    assert cell(found, "rejection rate") == "100.0 %"
    assert cell(found, "expiry rate") == "0.0 %"
    assert cell(found, "time to a decision, p50") == "10 s"
    assert cell(found, "model latency, ms", 3) == "40"
    assert cell(found, "USD per task", 2) == "0.000123456789"
    assert cell(found, "look", 3) == "100.0 %"
    assert cell(found, "loop") == "1"
    assert cell(found, "c2", 2) == "59 min 55 s"
    assert cell(found, "oldest that waits") == "59 min 55 s"


def test_what_nobody_knows_is_unknown() -> None:
    """Of nothing there is no share, no mean and no price; none of them is 0."""
    found = list(tables(report([event("run_started", 1), event("llm_call", 2, cost_usd=None)], NOW)))

    assert cell(found, "cost, USD") == UNKNOWN
    assert cell(found, "calls without a price") == "1"
    assert {cell(found, f"{what} rate") for what in ("approval", "edit", "rejection", "cancel", "expiry")} == {UNKNOWN}
    assert cell(found, "time to a decision, mean") == UNKNOWN
    assert cell(found, "tool latency, ms", 2) == UNKNOWN
    assert cell(found, "oldest that waits") == "none"


def test_the_figures_of_approvals_stand_alone_too() -> None:
    """`rastro approvals stats` shows the same as the report."""
    found = report(EVENTS, NOW)

    assert list(approval_tables(found.approvals)) == list(tables(found))[-2:]


def test_a_run_is_summed_up() -> None:
    """What it called, what was held back, what it cost; a run that has not ended has no outcome."""
    found = summary_table(run_summary(EVENTS, "r1"))
    begun = summary_table(run_summary(EVENTS[:1], "r1"))

    assert found.header == ("run r1", "")
    assert cell([found], "outcome") == "suspended"
    assert cell([found], "model calls") == "1"
    assert cell([found], "checkpoints") == "2"
    assert cell([found], "failed calls") == "1"
    assert cell([found], "cost, USD") == "0.000123456789"
    assert cell([found], "tokens, input") == "9"
    assert cell([begun], "outcome") == UNKNOWN
    assert cell([begun], "events") == "1"


def test_as_json_every_figure_is_exact() -> None:
    """Amounts and shares are texts, what is unknown is null."""
    document = json.loads(json.dumps(encode(report(EVENTS, NOW))))

    assert document["cost_usd"] == "0.000123456789"
    assert document["completion_rate"] is None
    assert document["approvals"]["waiting"] == [{"checkpoint_id": "c2", "tool": "refund_order", "age_seconds": 3595}]


@pytest.mark.parametrize(
    ("share", "said"),
    [(None, UNKNOWN), (Decimal(0), "0.0 %"), (Decimal(1) / 3, "33.3 %"), (Decimal("0.9995"), "100.0 %")],
)
def test_a_share_is_told_to_a_tenth(share: Decimal | None, said: str) -> None:
    """Halves up."""
    assert percent(share) == said


FAULT = Finding(sign=Sign.EDITED, session_id="s1", chain="session", run="r1", seq=3, place="audit.jsonl", number=7)
GAP = Finding(sign=Sign.MISSING, session_id="s1", chain="session", seq=4, count=3)
NOTE = Finding(sign=Sign.NO_ANCHOR, session_id="\x1b[2J\nfault", chain="session", count=2)


def test_each_sign_is_one_line() -> None:
    """How grave, what, where; nothing in it steers."""
    assert verifying.line(FAULT) == ("fault  edited          audit.jsonl:7  session s1  chain session  event 3  run r1")
    assert verifying.line(GAP) == "fault  missing         session s1  chain session  events 4-6"
    assert verifying.line(NOTE) == "note   no_anchor       session \\x1b[2J\\nfault  chain session"


def test_the_end_sums_up() -> None:
    """Faults and notes apart: only a fault says that the audit is not what was written."""
    bad = Verification(1200, 2, 1190, (FAULT, GAP, NOTE))
    good = Verification(1, 1, 1, (NOTE,))

    assert verifying.summary(bad) == (
        "the audit is NOT what was written: 1,200 lines in 2 chains, 1,190 anchored; 2 faults, 1 note"
    )
    assert verifying.summary(good) == "the audit is whole: 1 line in 1 chain, 1 anchored; 0 faults, 1 note"
    assert verifying.document(bad)["ok"] is False
    assert verifying.document(bad)["findings"][0] == {
        "gravity": "fault",
        "sign": "edited",
        "session_id": "s1",
        "chain": "session",
        "run": "r1",
        "seq": 3,
        "count": 1,
        "place": "audit.jsonl",
        "line": 7,
    }
