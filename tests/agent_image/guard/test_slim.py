"""The slim line says what the audit says, without anybody's words, and never ends a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from agent_image.contract import EventName
from agent_image.guard.audit import AuditText
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.slim import TOLD_EVERY, SlimLine
from tests.agent_image.guard.chains import DIGEST, SESSION, chain, parsed
from tests.conftest import ROOT

WORDS = "Please refund João's order, card 4111 1111 1111 1111"


def both(**fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give an event as the audit has it, and as the slim line has it."""
    outlet, slim = MemoryOutlet(), list[bytes]()
    chain(outlet, slim=SlimLine(DIGEST, slim.append)).append(EventName.TOOL_RESULT, step=2, **fields)
    ((audit,), (line,)) = (parsed(outlet.lines), parsed(slim))
    return audit, line


def test_both_outlets_tell_the_same_event() -> None:
    """Same ids, same numbers, same hashes: one can be found from the other."""
    audit, slim = both(tool="refund_order", zone="red", is_error=False, latency_ms=12, cost_usd="0.0000003")

    assert slim == audit
    assert slim["attributes"] == {"session.id": SESSION}


def test_a_text_is_told_by_length_and_digest() -> None:
    """The same ones that the audit has beside the text."""
    audit, slim = both(args={"note": WORDS}, result=WORDS, reason=WORDS, evidence={"why": WORDS})

    for field in ("args", "result", "reason", "evidence"):
        assert slim[field] == {"bytes": audit[field]["bytes"], "digest": audit[field]["digest"]}
    assert {key: value for key, value in slim.items() if key not in {"args", "result", "reason", "evidence"}} == {
        key: value for key, value in audit.items() if key not in {"args", "result", "reason", "evidence"}
    }


def test_what_nobody_knows_is_left_out() -> None:
    """Each byte of a line is paid for every month; the audit says null, and which fields an event has."""
    unknown: dict[str, Any] = dict.fromkeys(("model", "tokens", "cost_usd", "latency_ms", "is_error", "result", "args"))
    audit, slim = both(tool="pay", **unknown)

    assert {field: audit[field] for field in unknown} == unknown
    assert slim == {field: value for field, value in audit.items() if field not in unknown}


def test_the_evidence_of_an_alert_leaves_as_the_alert_does() -> None:
    """Codes and numbers, which are nobody's words: a number that looks like somebody's is still a number."""
    evidence = {"tool": "pay", "nano_usd": 52998224725}
    audit, slim = both(code="cost", evidence=evidence)

    assert audit["evidence"] == slim["evidence"] == evidence


@pytest.mark.parametrize("field", ["tool", "code", "model", "approver", "checkpoint_id", "tool_use_id", "stop_reason"])
def test_words_in_the_place_of_a_code_do_not_leave_either(field: str) -> None:
    """A model may call a tool by any name."""
    _, slim = both(**{field: WORDS}, reasons=[WORDS])

    assert "refund" not in json.dumps(slim)
    assert slim[field] == slim["reasons"][0] == {"bytes": len(WORDS.encode()), "digest": DIGEST.of(WORDS)}


def test_where_the_regime_holds_content_the_texts_are_there() -> None:
    """As the audit keeps them: redacted, and cut."""
    outlet, slim = MemoryOutlet(), list[bytes]()
    text = AuditText(lambda value: value.replace("4111 1111 1111 1111", "[CARD]"), DIGEST)
    chain(outlet, slim=SlimLine(DIGEST, slim.append, whole=text)).append(EventName.TOOL_RESULT, result=WORDS)

    (line,) = parsed(slim)
    assert line["result"]["text"] == "Please refund João's order, card [CARD]"


def test_a_line_goes_straight_to_standard_output() -> None:
    """Whatever stands in the place of sys.stdout: it is closed here."""
    program = (
        "import sys; from tests.agent_image.guard.chains import DIGEST, chain\n"
        "from agent_image.guard.outlet import MemoryOutlet; from agent_image.guard.slim import SlimLine\n"
        "from agent_image.contract import EventName; sys.stdout = None\n"
        "chain(MemoryOutlet(), slim=SlimLine(DIGEST)).append(EventName.RUN_STARTED, kind='prompt')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=ROOT, check=True, timeout=60)

    (record,) = parsed(done.stdout.splitlines())
    assert (record["event"], record["kind"]) == ("run_started", "prompt")
    assert done.stderr == b""


def test_a_line_that_cannot_be_written_is_counted_and_ends_nothing() -> None:
    """The audit has it; an operator is told now and then."""
    outlet = MemoryOutlet()
    told: list[dict[str, Any]] = []

    def closed(_: bytes) -> None:
        raise BrokenPipeError

    slim = SlimLine(DIGEST, closed, tell=lambda code, **facts: told.append({"code": code, **facts}))
    events = chain(outlet, slim=slim)
    for _ in range(TOLD_EVERY + 1):
        events.append(EventName.LLM_CALL)

    assert len(outlet.lines) == slim.lost == TOLD_EVERY + 1
    assert told == [
        {"code": "slim_lines_lost", "count": 1, "reason": "BrokenPipeError"},
        {"code": "slim_lines_lost", "count": TOLD_EVERY + 1, "reason": "BrokenPipeError"},
    ]


def test_not_even_the_notice_of_a_loss_ends_a_run() -> None:
    """Standard error may be closed as well."""

    def closed(*_: object, **__: object) -> None:
        raise OSError

    slim = SlimLine(DIGEST, closed, tell=closed)
    chain(MemoryOutlet(), slim=slim).append(EventName.LLM_CALL)

    assert slim.lost == 1


def test_a_line_of_codes_fits_into_one_write_of_a_pipe() -> None:
    """Lines of several processes do not mix up to PIPE_BUF."""
    long = "x" * 10_000
    slim: list[bytes] = []
    fields: dict[str, Any] = dict.fromkeys(("tool", "code", "args", "result", "reason", "evidence"), long)
    chain(MemoryOutlet(), slim=SlimLine(DIGEST, slim.append)).append(EventName.TOOL_RESULT, **fields)

    assert len(slim[0]) < os.pathconf("/", "PC_PIPE_BUF")
