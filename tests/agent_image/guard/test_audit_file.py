"""Processes share one audit file: every line in it is whole, every chain is unbroken, whoever dies."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_image.contract import EventName, Field
from agent_image.errors import AuditError
from agent_image.guard.audit_file import ATTEMPTS, FileOutlet, closed_files
from agent_image.guard.audit_lines import read_file
from agent_image.guard.session import Head
from agent_image.guard.signs import Sign
from agent_image.guard.verify import verify
from tests.agent_image.guard.chains import SESSION, chain
from tests.conftest import ROOT

LARGE = 1 << 30


def never(_: float) -> None:
    """Wait for nobody: nobody holds the lock."""
    raise AssertionError


def put(outlet: FileOutlet, *lines: bytes) -> None:
    outlet.write(lines, folder=(SESSION,), run="run-1", seq=1)


def started(path: Path, session: str, count: int, limit: int, die_at: int = 0) -> subprocess.Popen[str]:
    arguments = [str(path), session, str(count), str(limit), str(die_at)]
    command = [sys.executable, "-m", "tests.agent_image.guard.appending", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def begun(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process


def ended(process: subprocess.Popen[str]) -> Head:
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    seq, _, sealed = said.partition(" ")
    return Head(int(seq), sealed)


def test_processes_write_one_file_side_by_side(tmp_path: Path) -> None:
    """Each its own chain, through many closings of the file: no line is lost, torn, doubled or out of order."""
    path = tmp_path / "audit.jsonl"
    sessions = [f"{SESSION}-{number}" for number in range(4)]
    processes = [started(path, session, 150, 40_000) for session in sessions]
    for process in processes:
        begun(process)
    heads = dict(zip(sessions, map(ended, processes), strict=True))

    result = verify(read_file(path), heads)

    assert result.findings == ()
    assert (result.lines, result.chains, result.anchored) == (600, 4, 600)
    assert len(closed_files(path)) >= 3


def test_a_line_torn_by_sigkill_heals(tmp_path: Path) -> None:
    """The next writer begins on a line of its own; the torn one is seen, and no fault: its run had not anchored it."""
    path = tmp_path / "audit.jsonl"
    killed = begun(started(path, SESSION, 10, LARGE, die_at=6))
    killed.communicate(timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert not path.read_bytes().endswith(b"\n")

    head = ended(begun(started(path, f"{SESSION}-2", 3, LARGE)))

    result = verify(read_file(path), {SESSION: Head(), f"{SESSION}-2": head})
    assert {(finding.sign, finding.count) for finding in result.findings} == {(Sign.TORN, 1), (Sign.UNANCHORED, 5)}
    assert result.ok
    assert result.anchored == 3


def test_earlier_runs_survive(tmp_path: Path) -> None:
    """A run appends; the seed's lesson about mode "w"."""
    path = tmp_path / "audit.jsonl"
    for run in ("run-1", "run-2"):
        chain(FileOutlet(path, never), run=run).append(EventName.RUN_STARTED, kind="prompt")

    assert [line.text(Field.RUN) for line in read_file(path)] == ["run-1", "run-2"]


def test_a_line_is_there_before_the_process_can_die(tmp_path: Path) -> None:
    """The seed kept all steps in memory until the end."""
    path = tmp_path / "audit.jsonl"
    chain(FileOutlet(path, never)).append(EventName.TOOL_CALL, tool="refund_order")

    assert path.read_bytes().count(b"\n") == 1


def test_the_file_is_its_owner_s_alone(tmp_path: Path) -> None:
    """So is the folder, where the audit makes it."""
    path = tmp_path / "state" / "audit.jsonl"
    put(FileOutlet(path, never), b"{}\n")

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


# --- durability -------------------------------------------------------------------------------------------------------


class Disk:
    """Fail as disks do, and remember what was made durable."""

    def __init__(self) -> None:
        self.full = False
        self.short = False
        self.broken = False
        self.synced: list[int] = []

    def append(self, file: int, data: bytes) -> int:
        if self.full:
            os.write(file, data[:1])
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(file, data[:-1] if self.short else data)

    def fsync(self, file: int) -> None:
        if self.broken:
            raise OSError(errno.EIO, "Input/output error")
        self.synced.append(os.fstat(file).st_ino)


def on(disk: Disk, path: Path, limit: int = LARGE) -> FileOutlet:
    return FileOutlet(path, never, limit=limit, append=disk.append, fsync=disk.fsync)


def test_what_is_asked_for_is_made_durable(tmp_path: Path) -> None:
    """And nothing else waits for the disk, but the folder of a new file."""
    path, disk = tmp_path / "audit.jsonl", Disk()
    outlet = on(disk, path)

    put(outlet, b"{}\n")
    put(outlet, b"{}\n")
    assert disk.synced == [tmp_path.stat().st_ino]
    outlet.sync()
    assert disk.synced[1:] == [path.stat().st_ino]


def test_before_the_first_line_nothing_has_to_be_durable(tmp_path: Path) -> None:
    """A run that is refused at once writes none."""
    disk = Disk()
    on(disk, tmp_path / "audit.jsonl").sync()

    assert disk.synced == []


@pytest.mark.parametrize("fault", ["full", "short"])
def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, fault: str) -> None:
    """And the same lines come again, once there is room."""
    path, disk = tmp_path / "audit.jsonl", Disk()
    outlet = on(disk, path)
    put(outlet, b'{"n":1}\n')
    setattr(disk, fault, True)

    with pytest.raises(AuditError) as refused:
        put(outlet, b'{"n":2}\n')
    assert refused.value.code == "audit_unwritable"
    assert path.read_bytes() == b'{"n":1}\n'
    setattr(disk, fault, False)
    put(outlet, b'{"n":2}\n')
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n'


def test_a_disk_that_lost_something_is_not_trusted_again(tmp_path: Path) -> None:
    """The kernel reports a lost page once, and forgets it: a second fsync would say that all is well."""
    disk = Disk()
    outlet = on(disk, tmp_path / "audit.jsonl")
    put(outlet, b"{}\n")
    disk.broken = True
    with pytest.raises(AuditError):
        outlet.sync()
    disk.broken = False

    for act in (outlet.sync, lambda: put(outlet, b"{}\n")):
        with pytest.raises(AuditError) as refused:
            act()
        assert refused.value.code == "audit_lost"


def test_a_place_that_is_no_file_is_an_audit_error(tmp_path: Path) -> None:
    """Not an error of the operating system, whose text names paths."""
    for path in (tmp_path, Path(os.devnull) / "audit.jsonl"):
        with pytest.raises(AuditError) as refused:
            put(FileOutlet(path, never), b"{}\n")
        assert str(tmp_path) not in refused.value.message


# --- the lock ---------------------------------------------------------------------------------------------------------


def test_a_lock_that_nobody_gives_back_is_waited_for_so_long(tmp_path: Path) -> None:
    """A stopped process may hold it."""
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b"")
    pauses: list[float] = []

    with path.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(AuditError) as refused:
            put(FileOutlet(path, pauses.append), b"{}\n")
    assert refused.value.code == "audit_busy"
    assert len(pauses) == ATTEMPTS
    assert path.read_bytes() == b""


def test_a_file_that_was_closed_while_we_waited_is_left_alone(tmp_path: Path) -> None:
    """The line goes where the next reader looks for it."""
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b"{}\n")
    with path.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        def close(_: float) -> None:
            path.rename(tmp_path / "audit.jsonl.1")
            fcntl.flock(held, fcntl.LOCK_UN)

        put(FileOutlet(path, close), b'{"n":2}\n')

    assert path.read_bytes() == b'{"n":2}\n'
    assert (tmp_path / "audit.jsonl.1").read_bytes() == b"{}\n"


# --- closing and reading ----------------------------------------------------------------------------------------------


def test_a_full_file_is_closed_under_the_next_number(tmp_path: Path) -> None:
    """Durable first; nothing that was closed is touched again. Ten comes after nine."""
    path, disk = tmp_path / "audit.jsonl", Disk()
    outlet = on(disk, path, limit=5)
    (tmp_path / "audit.jsonl.bak").write_bytes(b"another's")
    for number in range(12):
        put(outlet, b'{"n":%d}\n' % number)

    assert [number for number, _ in closed_files(path)] == list(range(1, 12))
    assert [line.record for line in read_file(path)] == [{"n": number} for number in range(12)]
    assert {closed.stat().st_ino for _, closed in closed_files(path)} <= set(disk.synced)


def test_a_torn_line_is_ended_before_its_file_is_closed(tmp_path: Path) -> None:
    """Whoever reads one file after the other joins no two lines."""
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b'{"n":0}\n{"n":')
    put(FileOutlet(path, never, limit=5), b'{"n":2}\n')

    assert (tmp_path / "audit.jsonl.1").read_bytes() == b'{"n":0}\n{"n":\n'
    assert path.read_bytes() == b'{"n":2}\n'


def test_an_audit_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    """Verification tells what that means."""
    assert list(read_file(tmp_path / "audit.jsonl")) == []
    assert list(read_file(tmp_path / "nowhere" / "audit.jsonl")) == []


def test_a_file_that_is_closed_while_it_is_read_is_read_once(tmp_path: Path) -> None:
    """It was opened before the others were listed."""
    path = tmp_path / "audit.jsonl"
    outlet = FileOutlet(path, never, limit=5)
    put(outlet, b'{"n":0}\n')
    put(outlet, b'{"n":1}\n')
    reading = read_file(path)
    first = next(reading)
    put(outlet, b'{"n":2}\n')

    assert [line.record for line in [first, *reading]] == [{"n": 0}, {"n": 1}]


def test_a_file_under_two_names_is_read_once(tmp_path: Path) -> None:
    """So it looks to who opened it right before it was closed, and listed the closed ones right after."""
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b'{"n":0}\n')
    (tmp_path / "audit.jsonl.1").hardlink_to(path)

    assert [line.record for line in read_file(path)] == [{"n": 0}]


def test_an_audit_that_cannot_be_read_is_an_audit_error(tmp_path: Path) -> None:
    """A folder in the file's place, for one."""
    with pytest.raises(AuditError):
        list(read_file(tmp_path))
