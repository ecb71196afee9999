"""An alert says codes, numbers and ids; its severity is a type, and no text of anybody's leaves with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.guard.alerts import CHECKPOINT_ID, Alert, document, sentence
from agent_image.guard.codec import decode, encode
from agent_image.guard.findings import Anomaly, Severity
from tests.agent_image.guard.alarms import SESSION, alert

CHECKPOINT = "c" * 64


def test_an_alert_is_a_record_for_machines() -> None:
    """Every field that a receiver may filter by."""
    assert document(alert(), "prod") == {
        "alert": "loop",
        "id": f"{1:032x}",
        "severity": "critical",
        "page": True,
        "environment": "prod",
        "session_id": SESSION,
        "run": "run-1",
        "step": 7,
        "at": "2026-03-02T12:00:00.000Z",
        "evidence": {"period": 2, "rounds": 3},
    }


def test_an_alert_is_a_sentence_for_people() -> None:
    """What, where, how bad."""
    assert sentence(alert(), "prod").splitlines() == [
        "[critical] loop in prod: period 2, rounds 3",
        f"session {SESSION}, run run-1, step 7, 2026-03-02T12:00:00.000Z",
    ]


def test_the_approvers_alert_says_which_command_shows_the_call() -> None:
    """The id and the command, never the arguments."""
    asked = alert(kind="checkpoint", severity=Severity.WARNING, evidence={CHECKPOINT_ID: CHECKPOINT, "tool": "refund"})

    assert f"rastro approvals show {CHECKPOINT} --environment prod" in sentence(asked, "prod").splitlines()


@pytest.mark.parametrize("text", ["João's order", "joao@example.com", "a\nb", "<!channel>", "x" * 129, ""])
def test_a_text_is_told_by_its_length(text: str) -> None:
    """Whatever a caller puts in the evidence by mistake."""
    shown = json.dumps(document(alert(evidence={"tool": text, text: 1}, kind=text), "prod"))

    assert f"{len(text)}_characters" in shown
    assert not text or text not in json.loads(shown)["evidence"].values()
    assert not text or text not in sentence(alert(evidence={"tool": text, text: 1}), "prod").splitlines()[0]


def test_a_session_id_mentions_nobody() -> None:
    """A caller chooses it: Slack would read `<!channel>` in it as a call to all."""
    forged = "<!channel>&" + "x" * 30
    text = sentence(alert(session_id=forged), "prod")

    assert "<" not in text
    assert "&lt;!channel&gt;&amp;xxx" in text


@given(st.text(), st.text())
def test_no_text_forges_a_line(kind: str, value: str) -> None:
    """Two lines, or three with a command."""
    assert len(sentence(alert(kind=kind, evidence={"tool": value}), "prod").splitlines()) == 2


@pytest.mark.parametrize(
    ("kind", "severity", "pages"),
    [
        (Anomaly.COST, Severity.WARNING, True),
        (Anomaly.COST_RATE, Severity.WARNING, True),
        (Anomaly.BLOCKED_STREAK, Severity.WARNING, True),
        (Anomaly.COST, Severity.INFO, False),
        (Anomaly.LOOP, Severity.WARNING, False),
        (Anomaly.LOOP, Severity.CRITICAL, True),
        ("no_cost_center", Severity.WARNING, False),
        ("cost_is_fine", Severity.WARNING, False),
    ],
)
def test_who_is_woken_is_a_matter_of_types(kind: str, severity: Severity, pages: bool) -> None:  # noqa: FBT001
    """A word in a text pages nobody."""
    assert alert(kind=kind, severity=severity).pages == pages


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "poll"},
        {"severity": Severity.WARNING},
        {"session_id": "another"},
        {"evidence": {CHECKPOINT_ID: CHECKPOINT}},
        {"evidence": {"tool": "refund"}},
        {"evidence": {"model": "m"}},
        {"evidence": {"limit": "budget_usd"}},
    ],
)
def test_alerts_about_other_things_are_not_equal(other: dict[str, Any]) -> None:
    """Kind, severity, session and subject."""
    assert alert(**other).key != alert().key


def test_equal_alerts_share_a_key() -> None:
    """Whenever, and with whatever numbers, they come."""
    assert alert().key == alert(2, run="run-2", step=9, evidence={"period": 3}).key


def test_an_alert_survives_the_store() -> None:
    """Its severity comes back as a type."""
    assert decode(Alert, json.loads(json.dumps(encode(alert())))) == alert()
