"""The state folder's trail is read line by line, and what cannot be read is said."""

from __future__ import annotations

import json
import tracemalloc
from datetime import timedelta
from pathlib import Path

import pytest

from agent_image.retrieval.fingerprint import fingerprint
from console.errors import ConsoleError
from console.trace.folder_trail import FolderTrail
from console.trace.line_search import BROKEN_LIMIT, LINE_LIMIT
from console.trace.trail import Needle, Scan
from tests.console.trace import trails
from tests.console.trace.test_trails import in_folder, other_session, span_ids

WARRANTY = Needle(fingerprint=fingerprint(trails.TEXTS["warranty.md"]).text)


def test_a_folder_on_which_no_agent_worked_says_how_to_start_one(tmp_path: Path) -> None:
    """Whichever question was asked."""
    with pytest.raises(ConsoleError, match=r"no agent has worked on .*; start one: rastro dev --state"):
        FolderTrail(tmp_path).session(trails.SESSION_ID)
    with pytest.raises(ConsoleError, match="no agent has worked"):
        FolderTrail(tmp_path / "nowhere").last()


def test_a_missing_file_is_said_and_the_other_is_read(tmp_path: Path) -> None:
    """Events without spans are a part of the trail."""
    trail = in_folder(tmp_path, trails.story())
    (tmp_path / "spans.jsonl").unlink()

    found = trail.session(trails.SESSION_ID)

    assert (len(found.spans), len(found.events)) == (0, 15)
    assert [(note.code, note.partial) for note in found.notes] == [("no_file", True)]
    assert str(tmp_path / "spans.jsonl") in found.notes[0].text


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """A folder in its place, as a stand-in for whatever the system refuses."""
    trail = in_folder(tmp_path, trails.story())
    (tmp_path / "events.jsonl").unlink()
    (tmp_path / "events.jsonl").mkdir()

    found = trail.session(trails.SESSION_ID)

    assert len(found.spans) == 22
    assert [note.code for note in found.notes if note.partial] == ["unreadable_file"]


def test_a_last_line_that_is_half_written_is_shown_as_such(tmp_path: Path) -> None:
    """An agent is writing; what is whole is read."""
    trail = in_folder(tmp_path, trails.story())
    with (tmp_path / "spans.jsonl").open("ab") as file:
        file.write(trails.lines(other_session())[0][:80])

    found = trail.session(trails.SESSION_ID)

    assert len(found.spans) == 22
    assert [one.reason for one in found.unread] == ["truncated"]


def test_a_line_without_its_end_of_line_is_read(tmp_path: Path) -> None:
    """It is whole: only the end of the line is not written yet."""
    trail = in_folder(tmp_path, trails.story())
    file = tmp_path / "events.jsonl"
    file.write_bytes(file.read_bytes().rstrip(b"\n"))

    assert len(trail.session(trails.SESSION_ID).events) == 15


def test_many_broken_lines_are_not_all_shown(tmp_path: Path) -> None:
    """A file full of rubbish fills neither memory nor screen."""
    trail = in_folder(tmp_path, trails.story())
    with (tmp_path / "spans.jsonl").open("ab") as file:
        file.writelines(b'{"broken": %d\n' % number for number in range(BROKEN_LIMIT + 50))

    found = trail.session(trails.SESSION_ID)

    assert len(found.spans) == 22
    assert len(found.unread) == BROKEN_LIMIT
    assert [note.code for note in found.notes if note.partial] == ["broken_lines"]


def test_a_line_of_no_reasonable_length_is_passed_over(tmp_path: Path) -> None:
    """What stands behind it is read."""
    trail = in_folder(tmp_path, trails.story())
    file = tmp_path / "spans.jsonl"
    file.write_bytes(b"{" + b"x" * (2 * LINE_LIMIT) + b"}\n" + file.read_bytes())

    found = trail.session(trails.SESSION_ID)

    assert len(found.spans) == 22
    assert [note.code for note in found.notes] == ["line_too_long"]


def test_rubbish_is_no_reason_to_stop(tmp_path: Path) -> None:
    """Numbers, lists, bytes that are no text, and objects without what one looks for."""
    trail = in_folder(tmp_path, trails.story())
    session = trails.SESSION_ID.encode()
    rubbish = [b"7", b"[1]", b"\xff\xfe" + session, b'"%s"' % session, b'{"attributes": "%s"}' % session, b"[" * 9000]
    for name in ("spans.jsonl", "events.jsonl"):
        with (tmp_path / name).open("ab") as file:
            file.writelines(line + b"\n" for line in rubbish)

    assert len(trail.session(trails.SESSION_ID).spans) == 22
    assert len(trail.last().spans) == 22
    assert span_ids(trail.reading(WARRANTY)) == ["r1"]


def test_only_what_is_asked_for_is_kept(tmp_path: Path) -> None:
    """Five megabytes of other sessions pass through a fraction of them."""
    with (tmp_path / "spans.jsonl").open("wb") as file:
        filler = "x" * 10_000
        for number in range(500):
            other = trails.span("other", f"o{number}", session_id=f"other-{number:030}", filler=filler)
            file.write(trails.lines([other])[0] + b"\n")
        file.write(trails.lines([trails.invocation("prompt", "run-1", "i1")])[0] + b"\n")
    (tmp_path / "events.jsonl").touch()
    tracemalloc.start()
    try:
        found = FolderTrail(tmp_path).session(trails.SESSION_ID)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert span_ids(found) == ["i1"]
    assert peak < 1_000_000


def test_lines_beyond_the_limit_are_left_out_and_that_is_said(tmp_path: Path) -> None:
    """Nobody mistakes a part for the whole."""
    in_folder(tmp_path, trails.story())

    found = FolderTrail(tmp_path, kept_limit=5).session(trails.SESSION_ID)

    assert len(found.spans) == 5
    assert [note.code for note in found.notes if note.partial] == ["too_many_lines"]


def test_since_bounds_a_search_over_all_sessions_and_no_session(tmp_path: Path) -> None:
    """A session is never cut in two."""
    in_folder(tmp_path, [*trails.story(), *other_session()])
    trail = FolderTrail(tmp_path, since=trails.BEGAN + timedelta(seconds=50))

    assert span_ids(trail.reading(WARRANTY)) == ["r9"]
    assert len(trail.session(trails.SESSION_ID).spans) == 22


def test_a_list_of_passages_that_was_cut_off_still_names_those_before_the_cut(tmp_path: Path) -> None:
    """A size guard may have cut it."""
    whole = trails.retrieval("r8", "i1")
    documents = whole["attributes"]["gen_ai.retrieval.documents"]
    whole["attributes"]["gen_ai.retrieval.documents"] = documents[:-5]
    trail = in_folder(tmp_path, [whole])

    assert span_ids(trail.reading(WARRANTY)) == ["r8"]


def test_another_vendor_s_ids_are_no_addresses(tmp_path: Path) -> None:
    """A fingerprint within another text is no address."""
    listed = json.dumps([{"id": f"doc-{WARRANTY.fingerprint}"}, {"id": 7}, "text", {"content": WARRANTY.fingerprint}])
    trail = in_folder(tmp_path, [trails.retrieval("r8", "i1", gen_ai__retrieval__documents=listed)])

    assert span_ids(trail.reading(WARRANTY)) == []


def test_reading_a_folder_is_not_billed(tmp_path: Path) -> None:
    """Nothing is unknown about it either."""
    trail = in_folder(tmp_path, trails.story())
    trail.session(trails.SESSION_ID)

    assert trail.scan == Scan()
