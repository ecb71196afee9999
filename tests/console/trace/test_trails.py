"""A trail gives the same for the same lines, whether it lies in a folder or in CloudWatch Logs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_image.retrieval.fingerprint import fingerprint
from console.trace.folder_trail import FolderTrail
from console.trace.record import Material
from console.trace.trail import Needle, Trail
from tests.console.trace import trails
from tests.console.trace.cloud import standing

Documents = list[dict[str, Any]]
Opened = Callable[[Documents], Trail]
OTHER = "another-session-of-somebody-else-0000"
ANSWER = fingerprint("an answer of which a person has a copy")


def in_folder(folder: Path, documents: Documents) -> Trail:
    for name, has_trace in (("spans.jsonl", True), ("events.jsonl", False)):
        held = [one for one in documents if ("traceId" in one) is has_trace]
        (folder / name).write_bytes(b"".join(line + b"\n" for line in trails.lines(held)))
    return FolderTrail(folder)


@contextmanager
def opener(kind: str) -> Iterator[Opened]:
    if kind == "folder":
        with TemporaryDirectory() as folder:
            yield lambda documents: in_folder(Path(folder), documents)
        return
    with standing() as cloud:

        def stored(documents: Documents) -> Trail:
            cloud.store(documents)
            return cloud.trail()

        yield stored


@pytest.fixture(params=["folder", "insights"])
def opened(request: pytest.FixtureRequest) -> Iterator[Opened]:
    with opener(request.param) as found:
        yield found


def other_session(session_id: str = OTHER) -> Documents:
    return [
        trails.invocation("prompt", "run-9", "i9", trace_id="d4" * 16, session_id=session_id, start=100),
        trails.retrieval("r9", "i9", ["warranty.md"], trace_id="d4" * 16, session_id=session_id, start=101),
        trails.event("run_started", 1, after=100, run="run-9", trace_id="d4" * 16, session_id=session_id),
    ]


def ids(material: Material) -> set[str]:
    return {span.span_id for span in material.spans} | {
        f"{one.chain}-{one.seq}-{one.session_id[:4]}" for one in material.events
    }


def span_ids(material: Material) -> list[str]:
    return sorted(span.span_id for span in material.spans)


def problems(material: Material) -> list[str]:
    return [note.code for note in material.notes if note.partial] + [one.reason for one in material.unread]


def test_a_session_is_all_that_it_left_and_nothing_of_another(opened: Opened) -> None:
    """Three turns, a resume among them, over spans and events."""
    found = opened([*other_session(), *trails.story()]).session(trails.SESSION_ID)

    assert (len(found.spans), len(found.events)) == (22, 15)
    assert {one.session_id for one in found.events} == {trails.SESSION_ID}
    assert "i9" not in span_ids(found)
    assert problems(found) == []


def test_a_session_that_nobody_had_is_empty(opened: Opened) -> None:
    """Nothing was found, and nothing is missing."""
    found = opened(trails.story()).session("nobody-had-this-session-00000000000000")

    assert ids(found) == set()
    assert problems(found) == []


def test_a_trace_leads_to_its_whole_session(opened: Opened) -> None:
    """The resume's trace shows the question too."""
    trail = opened([*other_session(), *trails.story()])

    assert ids(trail.trace("c3" * 16)) == ids(trail.session(trails.SESSION_ID))


def test_a_trace_that_nobody_left_is_empty(opened: Opened) -> None:
    """Nothing was found."""
    assert ids(opened(trails.story()).trace("ee" * 16)) == set()


def test_a_span_that_lost_its_session_comes_with_its_trace(opened: Opened) -> None:
    """A thread without baggage leaves spans that name no session; those of other traces stay away."""
    lost = [
        trails.span("lost", "x1", "l1", start=3, session_id=""),
        trails.span("elsewhere", "x2", start=3, session_id="", trace_id="ee" * 16),
    ]
    trail = opened([*trails.story(), *lost])

    assert "x1" in span_ids(trail.session(trails.SESSION_ID))
    assert "x1" in span_ids(trail.trace("a1" * 16))
    assert "x2" not in span_ids(trail.session(trails.SESSION_ID))
    assert span_ids(trail.trace("ee" * 16)) == ["x2"]


def test_the_last_session_is_the_one_that_began_a_run_last(opened: Opened) -> None:
    """The story's resume began after the other session's only run."""
    found = opened([*trails.story(), *other_session()]).last()

    assert {one.session_id for one in found.events} == {trails.SESSION_ID}
    assert len(found.spans) == 22


def test_a_run_that_has_not_ended_is_the_last_as_well(opened: Opened) -> None:
    """Its span comes when it ends; until then its event tells of it."""
    begun = trails.event("run_started", 1, after=700, session_id=OTHER)

    assert {one.session_id for one in opened([*trails.story(), begun]).last().events} == {OTHER}


def test_without_runs_there_is_no_last_session(opened: Opened) -> None:
    """An empty trail has no last session."""
    assert ids(opened([]).last()) == set()


def test_an_answer_leads_to_its_invocation(opened: Opened) -> None:
    """By its whole fingerprint, the length included."""
    said = trails.invocation("prompt", "run-8", "i8", rag__answer=str(ANSWER), start=200)
    longer = trails.invocation("prompt", "run-7", "i7", rag__answer=f"{ANSWER.text}.1", start=201)
    trail = opened([*trails.story(), said, longer])

    assert span_ids(trail.answered(ANSWER)) == ["i8"]
    assert span_ids(trail.answered(fingerprint("another answer"))) == []


def test_a_fingerprint_leads_to_every_retrieval_that_read_it(opened: Opened) -> None:
    """Of all sessions, and in either form."""
    trail = opened([*trails.story(), *other_session()])
    warranty = fingerprint(trails.TEXTS["warranty.md"])

    assert span_ids(trail.reading(Needle(fingerprint=warranty.text))) == ["r1", "r9"]
    assert span_ids(trail.reading(Needle(fingerprint=str(warranty)))) == ["r1", "r9"]
    assert span_ids(trail.reading(Needle(fingerprint=fingerprint("never read").text))) == []


def test_a_source_is_matched_by_its_whole_uri(opened: Opened) -> None:
    """A longer name, another folder and a part of a name are other sources."""
    trail = opened([*trails.story(), *other_session()])

    def reading(uri: str) -> list[str]:
        return span_ids(trail.reading(Needle(uri=uri)))

    assert reading("s3://handbook/shop/warranty.md") == ["r1", "r9"]
    assert reading("s3://handbook/shop/returns.md") == ["r1"]
    assert reading("s3://handbook/shop/warranty") == []
    assert reading("s3://other/shop/warranty.md") == []
    assert reading("warranty.md") == []


def test_a_source_with_a_strange_name_is_found(opened: Opened) -> None:
    """Quotes, backslashes, percent signs and accents are escaped twice over in a span, and stay what they are."""
    name = 'políticas "2026" 100% \\ de\'volução#1.md'
    address = f"{name}#{fingerprint('words')}"
    read = trails.retrieval(
        "r8", "i1", gen_ai__retrieval__documents=json.dumps([{"id": address, "score": 1}], ensure_ascii=False)
    )

    assert span_ids(opened([read]).reading(Needle(uri=f"{trails.BASE}{name}"))) == ["r8"]


@pytest.mark.parametrize("asked", ["a b ç.md", "a%20b%20ç.md", "a%20b%20%C3%A7.md"])
@pytest.mark.parametrize("held", ["a b ç.md", "a%20b%20%C3%A7.md"])
def test_a_source_is_found_however_its_uri_is_escaped(opened: Opened, held: str, asked: str) -> None:
    """Who looks for a leaked document may write its name as a shell or as a browser does."""
    documents = json.dumps([{"id": f"{held}#{fingerprint('words')}", "score": 1}], ensure_ascii=False)
    read = trails.retrieval("r8", "i1", gen_ai__retrieval__documents=documents)

    assert span_ids(opened([read]).reading(Needle(uri=f"{trails.BASE}{asked}"))) == ["r8"]


def test_recent_runs_are_told_by_few_lines(opened: Opened) -> None:
    """Invocations, and how they began, waited and ended; not model calls and retrievals."""
    found = opened([*trails.story(), *other_session()]).recent(trails.BEGAN - timedelta(minutes=1))

    assert span_ids(found) == ["i1", "i2", "i3", "i9"]
    names = {one.name for one in found.events}
    assert names == {"run_started", "run_ended", "gate", "tool_call", "tool_result"}


def test_a_call_that_a_hook_held_back_is_told_once(opened: Opened) -> None:
    """It never came to the gate: its result alone says so, and the hook's own word of it is no second call."""
    hook = trails.event("hook", 9, after=800, tool="refund_order", decision="blocked", hook="agent/PreToolUse/1")
    held = trails.event("tool_result", 10, after=801, tool="refund_order", decision="blocked", code="hook_blocked")
    found = opened([hook, held]).recent(trails.BEGAN - timedelta(minutes=1))

    assert [(one.name, one.fields["decision"]) for one in found.events] == [("tool_result", "blocked")]


@pytest.mark.parametrize(("seconds", "spans", "seq"), [(50, ["i2", "i3"], 7), (61, ["i3"], 9)])
def test_recent_runs_begin_where_they_are_asked_for(opened: Opened, seconds: int, spans: list[str], seq: int) -> None:
    """The first turn was before; the second one began before and ended after."""
    found = opened(trails.story()).recent(trails.BEGAN + timedelta(seconds=seconds))

    assert span_ids(found) == spans
    assert min(one.seq or 0 for one in found.events) == seq


VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=33, max_size=60)


@pytest.mark.parametrize(
    "session_id", ['" or traceId = "a1" | limit 1 # \\" \' ` /x/'.replace(" ", "~"), "\\" * 40, '"' * 40, "/" * 40]
)
def test_any_id_that_a_caller_may_choose_finds_its_session_alone(opened: Opened, session_id: str) -> None:
    """Callers choose ids: none of them asks for anything else."""
    found = opened([*trails.story(), *other_session(session_id)]).session(session_id)

    assert {one.session_id for one in found.events} == {session_id}
    assert span_ids(found) == ["i9", "r9"]


@given(session_id=VISIBLE)
@settings(max_examples=50, deadline=None)
def test_any_id_finds_its_session_in_a_folder(session_id: str) -> None:
    """Whatever JSON escapes of it."""
    with opener("folder") as opened:
        found = opened([*trails.story(), *other_session(session_id)]).session(session_id)

        assert span_ids(found) == ["i9", "r9"]
