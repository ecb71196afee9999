"""A traced session as JSON: every fact, exact, in one flat list of steps, whatever the spans hold."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

from console.screen import Screen
from console.trace.document import document
from console.trace.session import OtherStep, PassageRead, Session
from console.trace.trail import Scan
from tests.console.trace.sessions import ASKED, BASE, FACTS, RETRIEVAL, SESSION, WORDS, evil_session, finding


def told(session: Session, *, looked: bool = True) -> dict[str, Any]:
    """Write a session as the command does, and read it as a program does."""
    written: list[str] = []
    scan = Scan(2, 14_000_000, Decimal("0.00007"))
    Screen(written.append).document(document(session, finding if looked else None, (), scan))
    found: dict[str, Any] = json.loads("".join(written))
    return found


def steps(session: Session, *, looked: bool = True) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = told(session, looked=looked)["session"]["turns"][0]["steps"]
    return found


def test_a_passage_has_its_three_facts() -> None:
    """In the shape that programs rely on."""
    passage = steps(SESSION)[2]["passages"][1]
    fingerprint = PASSAGES[1].address.fingerprint if PASSAGES[1].address else None

    assert fingerprint is not None
    assert passage == {
        "number": 2,
        "position": 2,
        "cited": False,
        "id": PASSAGES[1].id,
        "fingerprint": fingerprint.text,
        "length": fingerprint.length,
        "uri": f"{BASE}warranty.md",
        "score": 2.8543,
        "text": {"state": "archive", "words": WORDS["warranty.md"], "why": ""},
        "source": {
            "state": "changed",
            "why": "",
            "media_type": "",
            "extracted": False,
            "version": "v7",
            "version_time": "2026-03-01T00:00:00Z",
            "before": "",
            "after": "",
        },
        "index": {"state": "reindexed", "then": "1e832be6", "now": "77ab00cd", "why": ""},
    }


def test_steps_stand_in_one_list_each_with_its_depth() -> None:
    """A program filters them; it walks no tree."""
    assert [(step["step"], step["depth"]) for step in steps(SESSION)] == [
        ("model", 0),
        ("tool", 0),
        ("retrieval", 1),
        ("model", 0),
    ]


def test_amounts_are_exact_and_the_unknown_is_null() -> None:
    """Amounts are text, as in every report of the kit."""
    turns = told(SESSION)["session"]["turns"]

    assert [turn["cost_usd"] for turn in turns] == ["0.00345", "0.001", None, None]
    assert turns[0]["duration_ms"] == "1240"
    assert turns[0]["started"] == "2026-03-14T03:00:00.000Z"
    assert turns[3]["tokens"] == {"input": None, "output": None, "cache_read": None, "cache_write": None}
    assert told(SESSION)["scan"] == {"queries": 2, "bytes": 14_000_000, "cost_usd": "0.00007"}


def test_what_cannot_be_known_is_null_and_what_is_not_there_is_empty() -> None:
    """Passages that a regime does not hold are no empty list."""
    unknown, none = (replace(RETRIEVAL, passages=passages) for passages in (None, ()))
    found = steps(replace(SESSION, turns=(replace(ASKED, steps=(unknown, none)),)))

    assert [step["passages"] for step in found] == [None, []]


def test_nobody_looked_is_no_verdict() -> None:
    """Not asked for is said; words that the trail holds stay."""
    held = replace(RETRIEVAL, passages=(replace(PASSAGES[0], text="words"), *PASSAGES[1:]))
    found = steps(replace(SESSION, turns=(replace(ASKED, steps=(held,)),)), looked=False)[0]["passages"]

    assert found[0]["text"] == {"state": "trail", "words": "words", "why": ""}
    assert found[1]["text"] == {"state": "not_recovered", "words": None, "why": "not_asked"}
    assert {passage["source"]["state"] for passage in found} == {"not_read"}


def test_what_json_cannot_say_is_still_json() -> None:
    """Numbers that are none, nested attributes, hostile text: it reads back as what it was."""
    odd = {
        "nan": float("nan"),
        "exact": Decimal("0.10"),
        "list": [1, {"a": None}],
        "object": object(),
        "lone": "\ud800",
    }
    passage = replace(PASSAGES[0], score=float("inf"))
    session = replace(
        SESSION,
        turns=(replace(ASKED, steps=(OtherStep(title="x", attributes=odd), replace(RETRIEVAL, passages=(passage,)))),),
    )
    other, retrieval = steps(session)

    assert other["attributes"]["nan"] == "nan"
    assert other["attributes"]["exact"] == "0.1"
    assert other["attributes"]["list"] == [1, {"a": None}]
    assert other["attributes"]["lone"] == "\ud800"
    assert retrieval["passages"][0]["score"] is None
    assert told(evil_session())["session"]["id"] == evil_session().id


def test_a_line_of_json_steers_no_terminal() -> None:
    """Escaped, and the same JSON."""
    written: list[str] = []
    Screen(written.append).document(document(evil_session(), None, (), Scan()))

    assert "\x1b" not in "".join(written)
    assert "\u202e" not in "".join(written)
    assert "".join(written).count("\n") == 1


def test_depth_is_a_number_and_no_nesting() -> None:
    """10,000 spans, each within the one before, are no trouble for a parser."""
    step = OtherStep(title="leaf")
    for number in range(10_000):
        step = OtherStep(title=f"span {number}", children=(step,))
    found = steps(replace(SESSION, turns=(replace(ASKED, steps=(step,)),)))

    assert [found[-1]["title"], found[-1]["depth"]] == ["leaf", 10_000]


def test_every_fact_of_a_session_is_there() -> None:
    """Resumes, rulings, feedback, notes, what could not be read."""
    session = told(SESSION)["session"]

    assert [turn["resumed_by"] for turn in session["turns"]][1] == [session["turns"][2]["run"]]
    assert session["turns"][2]["steps"][0]["approver"] == "ana"
    assert session["turns"][3]["verdict"] == "bad"
    assert session["notes"] == [
        {"code": "unread_lines", "text": "1 line of the trail could not be read", "partial": True}
    ]
    assert session["unread"] == [{"reason": "truncated", "beginning": '{"traceId":"6b0d4'}]
    assert session["apart"][0]["attributes"] == {"db.system": "pg"}
    assert len(FACTS) == 4


PASSAGES: tuple[PassageRead, ...] = RETRIEVAL.passages or ()
