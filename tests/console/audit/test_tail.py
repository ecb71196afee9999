"""The last lines are shown, and each that comes in, once: also when a file is closed, or objects appear."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from agent_image.errors import AuditError
from agent_image.guard.audit_file import FileOutlet, closed_files
from agent_image.guard.audit_lines import Line, line
from agent_image.guard.audit_s3 import AuditPlace, S3Outlet
from console.audit.lines import raw, shown
from console.audit.tail import FileTail, S3Tail, Tail
from tests.loopback.aws import moto
from tests.loopback.table import client_at, make_bucket

LIMIT = 300
BUCKETS = count()


def written(number: int) -> bytes:
    return json.dumps({"event": "gate", "ts": f"2026-01-31T12:00:{number:02}.000Z", "n": number}).encode() + b"\n"


def numbers(lines: list[Line] | Iterator[Line]) -> list[int]:
    return [(line.record or {})["n"] for line in lines]


def append(path: Path, *found: int, limit: int = 1 << 20) -> None:
    outlet = FileOutlet(path, sleep, limit=limit)
    for number in found:
        outlet.write([written(number)], folder=("s",), run="r", seq=1)


def test_the_last_lines_of_a_file_come_first(tmp_path: Path) -> None:
    """As many as were asked for, of the closed files too; then what comes in, once."""
    path = tmp_path / "audit.jsonl"
    append(path, *range(12), limit=LIMIT)
    with closing(FileTail(path)) as tail:
        assert numbers(tail.last(5)) == [7, 8, 9, 10, 11]
        assert numbers(tail.new()) == []
        append(path, 12, 13)
        assert numbers(tail.new()) == [12, 13]
        assert numbers(tail.new()) == []


def test_a_file_that_is_closed_meanwhile_is_read_to_its_end(tmp_path: Path) -> None:
    """Several times between two looks: no line is lost, none comes twice."""
    path = tmp_path / "audit.jsonl"
    append(path, 0, 1)
    with closing(FileTail(path)) as tail:
        seen = numbers(tail.last(10))
        for start in range(2, 40, 6):
            append(path, *range(start, start + 6), limit=LIMIT)
            seen += numbers(tail.new())

    assert seen == list(range(44))
    assert len(list(tmp_path.iterdir())) > 3


def test_what_was_written_right_before_the_closing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read to its end, a line comes in, the file is closed, and only then is the next one looked for."""
    path = tmp_path / "audit.jsonl"
    append(path, 0)
    pending = [2, 3]

    def closed_meanwhile(of: Path) -> Sequence[tuple[int, Path]]:
        while pending:
            append(of, pending.pop(0), limit=3 * len(written(0)))
        return closed_files(of)

    with closing(FileTail(path)) as tail:
        seen = numbers(tail.last(5))
        monkeypatch.setattr("console.audit.tail.closed_files", closed_meanwhile)
        append(path, 1)
        seen += numbers(tail.new())

    assert seen == [0, 1, 2, 3]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_line_that_is_not_whole_yet_waits(tmp_path: Path) -> None:
    """Half a line is no line."""
    path = tmp_path / "audit.jsonl"
    with closing(FileTail(path)) as tail:
        assert numbers(tail.last(3)) == []
        path.write_bytes(written(1) + written(2)[:9])
        assert numbers(tail.new()) == [1]
        with path.open("ab") as file:
            file.write(written(2)[9:])
        assert numbers(tail.new()) == [2]


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """A folder stands there."""
    (tmp_path / "audit.jsonl").mkdir()

    with pytest.raises(AuditError):
        FileTail(tmp_path / "audit.jsonl").last(1)


@pytest.fixture
def bucket() -> Iterator[tuple[AuditPlace, Any]]:
    with moto() as url:
        # moto keeps buckets for as long as its process lives.
        name = f"audit-tail-{next(BUCKETS)}"
        make_bucket(url, name)
        yield AuditPlace(name, "audit/"), client_at(url, "s3")


def test_the_last_lines_of_a_bucket_come_first(bucket: tuple[AuditPlace, Any]) -> None:
    """In the order of their moments, whatever their keys; then what comes in, once."""
    place, client = bucket
    outlet = S3Outlet(place, client, sleep)
    for number, session in enumerate(("z", "a", "m")):
        outlet.write([written(number * 2), written(number * 2 + 1)], folder=(session,), run="r", seq=1)
    client.put_object(Bucket=place.bucket, Key="audit/other.txt", Body=b"{}")
    tail: Tail = S3Tail(place, client)

    assert numbers(tail.last(3)) == [3, 4, 5]
    assert numbers(tail.new()) == []
    outlet.write([written(6)], folder=("decisions", "c"), run="r", seq=1)
    assert numbers(tail.new()) == [6]
    assert numbers(tail.new()) == []


def test_no_line_is_shown_where_none_is_asked_for(bucket: tuple[AuditPlace, Any]) -> None:
    """What is there is passed over, and only what comes in is shown."""
    place, client = bucket
    outlet = S3Outlet(place, client, sleep)
    outlet.write([written(0)], folder=("s",), run="r", seq=1)
    tail = S3Tail(place, client)

    assert tail.last(0) == []
    outlet.write([written(1)], folder=("s",), run="r", seq=2)
    assert numbers(tail.new()) == [1]


def test_a_bucket_that_cannot_be_read_is_said(bucket: tuple[AuditPlace, Any]) -> None:
    """By its code."""
    with pytest.raises(AuditError) as refused:
        S3Tail(AuditPlace("nowhere", "audit/"), bucket[1]).last(1)

    assert refused.value.code.startswith("audit_")


RECORD = {
    "event": "tool_result",
    "ts": "2026-01-31T12:00:00.000Z",
    "seq": 4,
    "attributes": {"session.id": "3e457c27-9549-46b2"},
    "tool": "refund_order",
    "cost_usd": 0,
    "is_error": False,
    "result": {"text": "done\n\x1b[2J", "chars": 900, "truncated": True},
    "hash": "h",
}


def line_of(data: bytes) -> Line:
    return line("audit.jsonl", 7, data)


def test_a_line_says_when_what_and_what_is_particular() -> None:
    """Texts are quoted and may be cut; what chains the lines is left out."""
    assert shown(line_of(json.dumps(RECORD).encode())) == (
        "2026-01-31T12:00:00.000Z  3e457c27  tool_result   tool=refund_order  cost_usd=0  is_error=false  "
        'result="done\\n\\u001b[2J"…(900)'
    )


def test_a_line_that_is_no_event_is_shown_as_it_is() -> None:
    """Escaped, with where it stands."""
    assert shown(line_of(b"\x1b[2Jtorn")) == "audit.jsonl:7 is no event: \\x1b[2Jtorn"
    assert shown(line_of(b'{"a":1}')) == 'audit.jsonl:7 is no event: {"a":1}'
    assert raw(line_of(b"\x1b[2J\xfftorn")) == "\\x1b[2J\ufffdtorn"


def test_a_raw_line_stays_the_json_that_it_is() -> None:
    """Whatever a text holds."""
    found = raw(line_of(json.dumps({**RECORD, "x": "\u202e\x9b"}, ensure_ascii=False).encode()))

    assert json.loads(found) == {**RECORD, "x": "\u202e\x9b"}
    assert not {"\u202e", "\x9b", "\x1b"} & set(found)
