"""What is kept of texts is redacted, what is shown of them is masked, and the audit verifies all the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agent_image.contract import EventName, Field, Regime
from agent_image.guard.audit_lines import line
from agent_image.guard.signs import Sign, Verification
from agent_image.guard.verify import LONE_CHAINS, verify
from stacks.settings.load import load
from tests.canary import hooked, scenes
from tests.canary.conftest import Hauls
from tests.canary.stage import Haul, Run
from tests.stacks.settings.folder import SHIPPED
from tests.stacks.settings.shapes import SHAPES

KEPT = [Run(), Run(Regime.CONTENT)]
"""With slim lines that hold no text, and with those that do."""
TEXTS = {Field.ARGS.value, Field.RESULT.value, Field.REASON.value, Field.EVIDENCE.value}


def verified(haul: Haul) -> Verification:
    return verify(haul.kept.audit, haul.kept.heads, haul.kept.decided)


def slim_lines(haul: Haul) -> list[str]:
    """Give the slim lines among what was written to standard output."""
    return [text for text in haul.doors["stdout"].decode().splitlines() if text.startswith('{"event":')]


def masked(text: str) -> str:
    """Show a line as CloudWatch Logs does to who may not unmask, under the masks of every shipped environment.

    A keyword counts as a word of its own: as part of one, `cel` would be found in every `cancelled`.
    """
    for masking in (each.declared.observability.masking for each in load(SHIPPED).environments):
        for identifier in masking.identifiers:
            shape = SHAPES[identifier]
            words = replace(shape, keywords=tuple(f" {keyword} " for keyword in shape.keywords))
            for found in words.matches(text):
                text = text.replace(found, "*" * len(found))
        for regex in masking.patterns.values():
            text = re.sub(regex, lambda found: "*" * len(found[0]), text)
    return text


@pytest.mark.parametrize("run", KEPT, ids=str)
def test_the_audit_of_a_canary_verifies(run: Run, hauls: Hauls) -> None:
    """Every event of every session is there, in its chain up to the head in the table; so is what people decided."""
    found = verified(hauls(run))

    assert found.findings == ()
    assert found.anchored == found.lines == len(hauls(run).kept.audit)
    assert found.chains > len(scenes.SCENES)


def test_texts_were_redacted_before_they_were_sealed(hauls: Hauls) -> None:
    """The words stand there, a mark in the place of the address; put back, the line is known for changed."""
    haul = hauls(Run())
    marked = [
        one for one in haul.kept.audit if b"[EMAIL:" in one.raw and str(scenes.REJECTION.marker).encode() in one.raw
    ]

    assert marked
    secret = str(scenes.REJECTION.secret).encode()
    for one in marked:
        restored = re.sub(rb"\[EMAIL:[^\]]+\]", secret, one.raw)
        lines = [line(each.place, each.number, restored) if each is one else each for each in haul.kept.audit]
        found = verify(lines, haul.kept.heads, haul.kept.decided)
        assert [(finding.sign, finding.place) for finding in found.faults] == [(Sign.EDITED, one.place)]


@pytest.mark.parametrize("run", KEPT, ids=str)
def test_slim_lines_carry_the_hashes_of_the_audit(run: Run, hauls: Hauls) -> None:
    """Each event of the agent's has one, in the chain's order, with the hash of its line and of the one before."""
    haul = hauls(run)
    slim = [json.loads(text) for text in slim_lines(haul)]
    written = [one.record or {} for one in haul.kept.audit]
    agents = [one for one in written if not str(one[Field.CHAIN]).startswith(LONE_CHAINS)]

    assert sorted(map(_seal, slim)) == sorted(map(_seal, agents))
    for session in {_session(one) for one in slim}:
        chain = [one for one in slim if _session(one) == session]
        assert [one[Field.SEQ] for one in chain] == list(range(1, len(chain) + 1))
        assert ["", *(one[Field.HASH] for one in chain[:-1])] == [one[Field.PREV] for one in chain]
        assert haul.kept.heads[session].hash == chain[-1][Field.HASH]


@pytest.mark.parametrize("run", KEPT, ids=str)
def test_masks_leave_of_a_slim_line_what_joins_it_with_the_audit(run: Run, hauls: Hauls) -> None:
    """Whatever they hide of its texts: an investigator sees no address, and the same hashes, ids and numbers."""
    for text in slim_lines(hauls(run)):
        before, after = json.loads(text), json.loads(masked(text))

        assert _but_texts(after) == _but_texts(before)


def test_a_mask_hides_what_redaction_would_have_taken_out(hauls: Hauls) -> None:
    """The mask of this test is no blind one: a line with an address in its text is shown without it, still joined."""
    plain = next(text for text in slim_lines(hauls(Run(Regime.CONTENT))) if str(scenes.WAITED.marker) in text)
    address = str(scenes.WAITED.secret)
    text = re.sub(r"\[EMAIL:[^\]]+\]", address, plain)

    assert address in text
    assert address not in masked(text)
    assert _but_texts(json.loads(masked(text))) == _but_texts(json.loads(plain))


def test_the_canary_met_the_whole_guard(hauls: Hauls) -> None:
    """Every kind of event was written, every alert came to both channels, and approvers were shown what was asked."""
    haul = hauls(Run())
    told = {str(json.loads(text)[Field.EVENT]) for text in slim_lines(haul)}
    posted = [json.loads(body)["rastro"] for body in haul.doors["webhook"].splitlines() if body]

    # What people do is in the audit alone.
    assert told == {*EventName} - {EventName.DECISION, EventName.ERASURE}
    assert {one["alert"] for one in posted} >= {
        "approval_needed",
        "in_doubt",
        "tool_ran",
        "blocked_streak",
        "edited_retry",
        f"hook_{hooked.ALERT}",
    }
    assert all(one["id"].encode() in haul.doors["topic"] for one in posted)
    for words in (scenes.argument("edited"), scenes.EDITED, scenes.GUIDANCE, scenes.REJECTION, scenes.FINDING):
        assert str(words.secret).encode() in haul.kept.items


def test_the_canary_met_every_way_of_a_hook(hauls: Hauls) -> None:
    """Programs that refuse by words and by status, change, add and fail; a model; an answer that goes back."""
    lines = [json.loads(text) for text in slim_lines(hauls(Run()))]
    hooks = [
        one for one in lines if one[Field.EVENT] == EventName.HOOK and str(one.get(Field.HOOK)).startswith("deployment")
    ]

    assert {(one[Field.HOOK], one[Field.DECISION], one.get(Field.CODE)) for one in hooks} == {
        ("deployment/PreToolUse/1", "allowed", None),
        ("deployment/PreToolUse/1", "blocked", "hook_blocked"),
        ("deployment/PreToolUse/1", "edited", "hook_edited"),
        ("deployment/PreToolUse/2", "blocked", "hook_blocked"),
        ("deployment/PostToolUse/1", "allowed", None),
        ("deployment/PostToolUse/2", "allowed", "hook_exit"),
        ("deployment/Stop/1", "allowed", None),
        ("deployment/Stop/1", "blocked", "hook_blocked"),
    }
    assert {one[Field.HOOK] for one in lines if one[Field.EVENT] == EventName.LLM_CALL and Field.HOOK in one} == {
        "deployment/PreToolUse/2"
    }


def _seal(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(record[Field.HASH]), str(record[Field.PREV]), str(record[Field.EVENT_ID])


def _session(record: Mapping[str, Any]) -> str:
    return str(record[Field.ATTRIBUTES]["session.id"])


def _but_texts(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in TEXTS}
