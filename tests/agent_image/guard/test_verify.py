"""What was done to an audit is found out, and what a crash did is told from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_image.contract import EventName
from agent_image.guard.audit import RECOVERED, AuditText, audit_line, decision_chain, lone_event
from agent_image.guard.events import fields_of
from agent_image.guard.outlet import MemoryOutlet
from agent_image.guard.session import Head
from agent_image.guard.signs import NOTES, Finding, Sign, Verification
from agent_image.guard.sweep import SWEEP_CHAIN
from agent_image.guard.verify import verify
from tests.agent_image.guard.chains import DIGEST, SESSION, Ticking, chain, event, numbered

TEXT = AuditText(lambda value: value, DIGEST)
OTHER = SESSION[:-1] + "x"


class Story:
    """Write a session's audit, run after run, and keep the head as the store does."""

    def __init__(self) -> None:
        self.outlet = MemoryOutlet()
        self.head = Head()
        self.clock = Ticking()

    def run(
        self,
        run: str,
        steps: int = 2,
        *,
        anchored: bool = True,
        ends: bool = True,
        until: int = 0,
        recovers: bool = False,
    ) -> Story:
        """Write a run; one that is not anchored died before its head was kept, from step `until` on."""
        events = chain(self.outlet, run=run, head=self.head, clock=self.clock)
        events.append(EventName.RUN_STARTED, kind="prompt", reasons=[RECOVERED] if recovers else None)
        for step in range(steps):
            events.append(EventName.LLM_CALL, step=step)
            if step + 1 == until:
                self.head = events.head
        if ends:
            events.append(EventName.RUN_ENDED, outcome="completed")
        if anchored:
            self.head = events.head
        return self

    @property
    def lines(self) -> list[bytes]:
        return list(self.outlet.lines)


def verified(lines: Sequence[bytes], head: Head | None) -> Verification:
    return verify(numbered(lines), {} if head is None else {SESSION: head})


def signs(result: Verification) -> list[tuple[Sign, int, int]]:
    return [(finding.sign, finding.seq, finding.count) for finding in result.findings]


def changed(line: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    record = json.loads(line)
    change(record)
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def test_an_audit_that_nobody_touched_has_no_signs() -> None:
    """Over several runs, all of it anchored."""
    story = Story().run("a").run("b")

    result = verified(story.lines, story.head)
    assert (result.lines, result.chains, result.anchored, result.findings, result.ok) == (8, 1, 8, (), True)


def test_a_changed_line_is_found_where_it_is() -> None:
    """With the session, the number in the chain, the run, the file and the line."""
    story = Story().run("a")
    lines = story.lines
    lines[2] = lines[2].replace(b'"step":1', b'"step":9')

    (finding,) = verified(lines, story.head).findings
    assert finding == Finding(
        sign=Sign.EDITED,
        session_id=SESSION,
        chain="session",
        run="a",
        seq=3,
        place="audit.jsonl",
        number=3,
    )


@pytest.mark.parametrize("suffix", [b',"approver":"eve"}\n', b" }\n", b"} \n"])
def test_a_line_ends_with_its_hash(suffix: bytes) -> None:
    """What stands behind it is no part of what was hashed, and a reader would take the last of two members."""
    story = Story().run("a")
    lines = story.lines
    lines[1] = lines[1].removesuffix(b"}\n") + suffix

    assert signs(verified(lines, story.head)) == [(Sign.EDITED, 2, 1)]


def test_a_changed_line_with_a_new_hash_is_found_by_the_next_one() -> None:
    """And does not pass for the remains of a crash: its run goes on in the chain."""
    story = Story().run("a", steps=4)
    lines = story.lines
    record = json.loads(lines[2])
    forged = audit_line(event(EventName.LLM_CALL, run="a", seq=3, event_id="e"), record["prev"], TEXT)
    lines[2] = forged.line

    assert signs(verified(lines, story.head)) == [(Sign.FORGED, 3, 1), (Sign.MISSING, 3, 1)]


def test_the_whole_rest_written_anew_is_found_by_the_anchor() -> None:
    """A chain alone cannot see that."""
    story = Story().run("a", steps=3)
    outlet = MemoryOutlet()
    other = chain(outlet, run="a")
    for _ in range(5):
        other.append(EventName.LLM_CALL, model="another")

    result = verified(list(outlet.lines), story.head)
    assert Sign.CUT in {finding.sign for finding in result.faults}
    assert result.anchored == 0


def test_a_line_that_was_taken_out_is_missed() -> None:
    """So are three in a row, as one gap."""
    story = Story().run("a", steps=6)
    lines = story.lines

    assert signs(verified(lines[:3] + lines[4:], story.head)) == [(Sign.MISSING, 4, 1)]
    assert signs(verified(lines[:2] + lines[5:], story.head)) == [(Sign.MISSING, 3, 3)]
    assert signs(verified(lines[2:], story.head)) == [(Sign.MISSING, 1, 2)]


def test_a_tail_that_was_cut_off_is_missed() -> None:
    """The store's head names what is not there."""
    story = Story().run("a").run("b")

    assert signs(verified(story.lines[:-3], story.head)) == [(Sign.CUT, 6, 3)]
    assert signs(verified([], story.head)) == [(Sign.CUT, 1, 8)]


def test_a_line_in_another_place_is_found() -> None:
    """Only the one that was moved."""
    story = Story().run("a", steps=6)
    lines = story.lines

    assert signs(verified([*lines[:1], *lines[2:], lines[1]], story.head)) == [(Sign.REORDERED, 2, 1)]
    assert signs(verified([lines[6], *lines[:6], lines[7]], story.head)) == [(Sign.REORDERED, 7, 1)]


def test_a_line_that_stands_twice_is_found() -> None:
    """The seed's second save wrote every step again."""
    story = Story().run("a")

    assert signs(verified([*story.lines, story.lines[1]], story.head)) == [(Sign.REPEATED, 2, 1)]


def test_a_line_of_another_session_fits_nowhere() -> None:
    """Its number and the hash before it are another chain's."""
    story, other = Story().run("a"), MemoryOutlet()
    chain(other, session_id=OTHER, run="z").append(EventName.RUN_STARTED)
    moved = changed(other.lines[0], lambda record: record["attributes"].update({"session.id": SESSION}))

    result = verified([*story.lines, moved], story.head)
    assert {finding.sign for finding in result.faults} >= {Sign.EDITED}


@pytest.mark.parametrize(
    "change",
    [
        {"chain": "another"},
        {"attributes": {}},
        {"seq": 0},
        {"seq": True},
        {"seq": "1"},
        {"hash": None},
        {"chain": None},
    ],
    ids=str,
)
def test_a_line_that_belongs_nowhere_is_forged(change: Mapping[str, Any]) -> None:
    """It is JSON, but no event's."""
    story = Story().run("a")
    alien = changed(story.lines[0], lambda record: record.update(change))

    assert not verified([*story.lines, alien], story.head).ok


@pytest.mark.parametrize("common", [{"seq": 0}, {"session_id": ""}, {"chain": "another"}], ids=str)
def test_a_sealed_line_of_no_chain_is_forged(common: dict[str, Any]) -> None:
    """Its hash is its own, but it has no place."""
    alien = audit_line(event(**common), "", TEXT).line

    assert [sign for sign, _, _ in signs(verified([alien], None))] == [Sign.FORGED]


def test_a_line_counts_on_from_the_one_before() -> None:
    """A number that leaves some out is not the next one, neither on the chain nor beside it."""
    story = Story().run("a")
    beside = audit_line(event(run="b", seq=9), story.head.hash, TEXT)

    assert signs(verified([*story.lines, beside.line], story.head)) == [(Sign.FORGED, 9, 1)]
    assert (Sign.FORGED, 9, 1) in signs(verified([*story.lines, beside.line], Head(9, beside.hash)))
    assert signs(verified(story.lines, Head(99, story.head.hash))) == [(Sign.CUT, 5, 95)]


@pytest.mark.parametrize("alien", [b"[]\n", b'{"a":1}\n', b"null\n", b"1\n"])
def test_json_that_is_no_event_is_no_line_of_the_audit(alien: bytes) -> None:
    """An object that claims nothing was written by nobody; anything else is noise."""
    story = Story().run("a")

    assert verified([*story.lines, alien], story.head).findings


# --- what a crash leaves ----------------------------------------------------------------------------------------------


def test_a_run_that_died_leaves_a_tail_which_the_next_one_forks_from() -> None:
    """It is told, and no fault."""
    story = Story().run("a").run("lost", ends=False, anchored=False).run("b")

    result = verified(story.lines, story.head)
    assert signs(result) == [(Sign.UNANCHORED, 5, 3)]
    assert result.findings[0].run == "lost"
    assert (result.ok, result.anchored) == (True, 8)


def test_a_run_that_died_after_an_anchor_leaves_the_rest() -> None:
    """Its first events were anchored with a gated call."""
    story = Story().run("lost", steps=4, until=2, ends=False, anchored=False).run("b")

    assert signs(verified(story.lines, story.head)) == [(Sign.UNANCHORED, 4, 2)]


def test_two_runs_that_died_one_after_the_other_leave_two_tails() -> None:
    """Both begin where the store's head was."""
    story = Story().run("a").run("x", ends=False, anchored=False).run("y", ends=False, anchored=False).run("b")

    assert signs(verified(story.lines, story.head)) == [(Sign.UNANCHORED, 5, 3), (Sign.UNANCHORED, 5, 3)]


def test_a_run_at_work_is_ahead_of_its_anchor() -> None:
    """Also the first run of a session."""
    story = Story().run("a", ends=False, anchored=False)

    assert signs(verified(story.lines, story.head)) == [(Sign.UNANCHORED, 1, 3)]


def test_a_run_that_ended_is_ahead_of_its_anchor_for_a_moment() -> None:
    """Between its last event and the store's head."""
    story = Story().run("a").run("b", anchored=False)

    assert signs(verified(story.lines, story.head)) == [(Sign.UNANCHORED, 5, 4)]


def test_an_end_that_was_never_anchored_is_a_fault() -> None:
    """Who sets the store's head back, to have a run forgotten, leaves this behind; also at the very beginning."""
    story = Story().run("a").run("b", anchored=False).run("c")
    first = Story().run("a", anchored=False).run("b")

    assert signs(verified(story.lines, story.head)) == [(Sign.END_UNANCHORED, 5, 4)]
    assert signs(verified(first.lines, first.head)) == [(Sign.END_UNANCHORED, 1, 4)]
    assert not verified(story.lines, story.head).ok


def test_a_run_that_died_between_its_end_and_the_anchor_was_found_by_the_next_one() -> None:
    """It says so in its first event; another one that says so excuses nothing."""
    story = Story().run("a").run("b", anchored=False).run("c", recovers=True)
    other = Story().run("a").run("b", anchored=False).run("c").run("d", recovers=True)

    assert signs(verified(story.lines, story.head)) == [(Sign.UNANCHORED, 5, 4)]
    assert signs(verified(other.lines, other.head)) == [(Sign.END_UNANCHORED, 5, 4)]


def test_nothing_excuses_a_gap_before_the_anchor() -> None:
    """A run that had died before the one that is anchored explains no missing line of that one."""
    story = Story().run("a").run("lost", ends=False, anchored=False).run("b", steps=4)
    lines = story.lines
    del lines[9]

    assert (Sign.MISSING, 7, 1) in signs(verified(lines, story.head))


def test_a_gap_is_not_bridged_by_another_run_s_lines() -> None:
    """A run that was stopped, and woke up when another had the session, wrote last."""
    story = Story().run("a")
    before = story.head
    story.run("b", steps=4)
    late = chain(story.outlet, run="late", head=before, clock=story.clock)
    for _ in range(2):
        late.append(EventName.LLM_CALL)
    lines = story.lines
    del lines[6]

    assert signs(verified(lines, story.head)) == [(Sign.UNANCHORED, 5, 2), (Sign.MISSING, 7, 1)]


def test_a_run_leaves_one_tail() -> None:
    """A second one was written by somebody else."""
    story = Story().run("a").run("lost", ends=False, anchored=False)
    second = chain(story.outlet, run="lost", head=story.head, clock=story.clock)
    second.append(EventName.TOOL_RESULT, tool="x")

    result = verified(story.lines, story.head)
    assert signs(result) == [(Sign.FORGED, 5, 1), (Sign.UNANCHORED, 5, 3)]


def test_a_tail_hangs_on_the_chain_and_on_no_other_tail() -> None:
    """No run begins where a dead one was going to end."""
    story = Story().run("a").run("lost", ends=False, anchored=False)
    (last,) = [json.loads(line) for line in story.lines[-1:]]
    chain(story.outlet, run="b", head=Head(last["seq"], last["hash"]), clock=story.clock).append(EventName.ERROR)

    assert (Sign.FORGED, 8, 1) in signs(verified(story.lines, story.head))


def test_a_tail_of_a_run_that_went_on_is_forged() -> None:
    """What the chain says of that run later was not written by a dead one."""
    story = Story().run("a", steps=4)
    second = json.loads(story.lines[1])
    chain(story.outlet, run="a", head=Head(2, second["hash"])).append(EventName.TOOL_RESULT, tool="x")

    assert signs(verified(story.lines, story.head)) == [(Sign.FORGED, 3, 1)]


def test_nothing_follows_an_end() -> None:
    """A tail that goes on behind one is nobody's."""
    story = Story().run("a")
    events = chain(story.outlet, run="b", head=story.head, clock=story.clock)
    events.append(EventName.RUN_ENDED, outcome="completed")
    events.append(EventName.TOOL_RESULT, tool="x")

    assert [sign for sign, _, _ in signs(verified(story.lines, story.head))] == [Sign.FORGED, Sign.FORGED]


def test_a_torn_line_is_told() -> None:
    """It may be all that a process had time for; a line that was anchored would be missed as well."""
    story = Story().run("a")
    torn = story.lines[-1][:40] + b"\n"

    assert signs(verified([*story.lines, torn], story.head)) == [(Sign.TORN, 0, 1)]
    assert not verified([*story.lines[:-1], torn], story.head).ok


def test_without_an_anchor_the_chain_is_followed_from_its_last_line() -> None:
    """The store forgets sessions: that is told, and gaps are found all the same."""
    story = Story().run("a").run("lost", ends=False, anchored=False).run("b")

    assert [sign for sign, _, _ in signs(verified(story.lines, None))] == [Sign.NO_ANCHOR, Sign.UNANCHORED]
    longer = Story().run("a").run("lost", steps=9, ends=False, anchored=False).run("b")
    assert signs(verified(longer.lines, None)) == [(Sign.NO_ANCHOR, 0, 18), (Sign.UNANCHORED, 5, 10)]
    gap = verified(story.lines[:2] + story.lines[3:], None)
    assert (Sign.MISSING, 3, 1) in signs(gap)
    assert gap.anchored == 0


# --- what people said -------------------------------------------------------------------------------------------------


def said(checkpoint: str, event_id: str, **fields: Any) -> Any:
    return lone_event(
        event(EventName.DECISION, chain=decision_chain(checkpoint), event_id=event_id, fields=fields_of(fields)), TEXT
    )


def test_a_decision_is_anchored_by_its_record() -> None:
    """One that came too late is told, and no fault."""
    won, lost = said("c1", "e1", decision="approve"), said("c1", "e2", decision="reject")

    result = verify(numbered([won.line, lost.line]), {}, {"c1": {won.hash}})
    assert [(finding.sign, finding.chain) for finding in result.findings] == [(Sign.UNANCHORED, "decision/c1")]
    assert (result.ok, result.anchored, result.chains) == (True, 1, 1)


def test_a_decision_without_its_event_is_a_fault() -> None:
    """Somebody decided past the audit, or took the line out."""
    won = said("c1", "e1", decision="approve")

    assert signs(verify(numbered([]), {}, {"c1": {won.hash}})) == [(Sign.CUT, 1, 1)]
    edited = won.line.replace(b"approve", b"rejects")
    assert not verify(numbered([edited]), {}, {"c1": {won.hash}}).ok


def test_a_decision_whose_record_is_forgotten_has_no_anchor() -> None:
    """Its line is still checked."""
    won = said("c1", "e1", decision="approve")

    assert signs(verify(numbered([won.line]), {})) == [(Sign.NO_ANCHOR, 1, 1)]
    assert not verify(numbered([won.line.replace(b"approve", b"rejects")]), {}).ok


def test_a_decision_stands_alone() -> None:
    """A second link is no decision."""
    first = said("c1", "e1", decision="approve")
    second = audit_line(event(EventName.DECISION, chain="decision/c1", event_id="e2", seq=2), first.hash, TEXT)

    assert (Sign.FORGED, 2, 1) in signs(verify(numbered([first.line, second.line]), {}, {"c1": {first.hash}}))


def test_what_a_sweep_found_stands_alone_and_nothing_anchors_it() -> None:
    """The checkpoint's own record says the same; the line is checked, and told."""
    swept = lone_event(event(EventName.GATE, chain=f"{SWEEP_CHAIN}c1"), TEXT)

    assert signs(verify(numbered([swept.line]), {})) == [(Sign.NO_ANCHOR, 1, 1)]
    assert not verify(numbered([swept.line.replace(b'"step":3', b'"step":4')]), {}).ok


def test_a_session_may_be_called_like_a_decision() -> None:
    """Its id is a caller's choice, and its chain another kind of chain."""
    outlet = MemoryOutlet()
    events = chain(outlet, session_id="decision/c1")
    events.append(EventName.RUN_STARTED)
    won = said("c1", "e1", decision="approve")

    result = verify(numbered([*outlet.lines, won.line]), {"decision/c1": events.head}, {"c1": {won.hash}})
    assert result.findings == ()


# --- in general -------------------------------------------------------------------------------------------------------

RUNS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["ended", "died", "died after an anchor"])), max_size=5)


def written(runs: Sequence[tuple[int, str]]) -> Story:
    story = Story()
    for number, (steps, fate) in enumerate(runs):
        ended = fate == "ended"
        until = steps if fate == "died after an anchor" else 0
        story.run(f"run-{number}", steps, anchored=ended, ends=ended, until=until)
    return story


@settings(deadline=None)
@given(RUNS)
def test_no_history_of_runs_and_crashes_is_a_fault(runs: list[tuple[int, str]]) -> None:
    """Whatever happened, what was written is what is found."""
    story = written(runs)
    result = verified(story.lines, story.head)

    assert result.ok
    assert {finding.sign for finding in result.findings} <= NOTES
    told = sum(finding.count for finding in result.findings)
    assert result.anchored + told == len(story.lines)


@settings(deadline=None)
@given(RUNS, st.data())
def test_no_anchored_line_changes_or_goes_unnoticed(runs: list[tuple[int, str]], data: st.DataObject) -> None:
    """One byte, one line, one place: whichever line it is."""
    story = written([*runs, (2, "ended")])
    lines = story.lines
    anchored = [index for index, line in enumerate(lines) if b'"run":"run-%d"' % len(runs) in line]
    index = data.draw(st.sampled_from(anchored))
    match data.draw(st.sampled_from(["change", "remove", "repeat", "swap"])):
        case "change":
            place = data.draw(st.integers(0, len(lines[index]) - 2))
            lines[index] = lines[index][:place] + bytes([lines[index][place] ^ 1]) + lines[index][place + 1 :]
        case "remove":
            del lines[index]
        case "repeat":
            lines.append(lines[index])
        case _:
            other = data.draw(st.sampled_from([one for one in anchored if one != index]))
            lines[index], lines[other] = lines[other], lines[index]

    assert not verified(lines, story.head).ok
