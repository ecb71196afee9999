"""`python main.py` and `cdktf synth` refuse bad settings before anything is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stacks.settings.folder import REPOSITORY, Folder

CLI = REPOSITORY / "node_modules" / ".bin" / "cdktf"
EARLIER = {"manifest.json": b'{"version": "earlier"}', "stacks/agent-dev/cdk.tf.json": b"{}\n"}


def _main(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "main.py", str(folder)]
    environment = {**os.environ, "CDKTF_OUTDIR": str(out)}
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)


def _synth(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    assert CLI.exists(), "the framework CLI is not installed: run `make setup`"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CHECKPOINT_DISABLE": "1",
        "CI": "1",
    }
    command = [str(CLI), "synth", "--app", f"python main.py {folder}", "--output", str(out)]
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def bad(folder: Folder) -> Folder:
    """Spoil three files, one of them beyond reading."""
    folder.replace("dev.toml", "retention_days = 7", "retention_days = 31")
    folder.replace("accounts/sandbox.toml", "indexing_percentage = 1", "indexing_percentage = 101")
    folder.write("prod.toml", "account = ")
    return folder


def test_bad_settings_end_with_status_2_and_every_fault_on_stderr(bad: Folder, out: Path) -> None:
    """The program says every fault on the error stream, ends with 2, and shows no traceback."""
    run = _main(bad.path, out)
    head, *lines = run.stderr.splitlines()
    assert run.returncode == 2
    assert head == "the settings have 3 faults, nothing was written:"
    assert [line.strip() for line in lines] == [str(fault) for fault in bad.faults()]
    assert run.stdout == ""


def test_bad_settings_write_nothing(bad: Folder, out: Path) -> None:
    """A refusal leaves no output folder behind."""
    assert _main(bad.path, out).returncode == 2
    assert not out.exists()


def test_bad_settings_leave_an_earlier_output_as_it_was(bad: Folder, out: Path) -> None:
    """A refusal leaves every byte of an earlier output alone."""
    for name, content in EARLIER.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)
    assert _main(bad.path, out).returncode == 2
    assert _files(out) == EARLIER


def test_a_folder_that_does_not_exist_ends_with_status_2(tmp_path: Path, out: Path) -> None:
    """A misspelt folder is named, and nothing is written."""
    run = _main(tmp_path / "environmnets", out)
    assert run.returncode == 2
    assert f"{tmp_path / 'environmnets'}: there is no such folder" in run.stderr
    assert not out.exists()


def test_the_shipped_settings_are_synthesised(folder: Folder, out: Path) -> None:
    """The shipped settings end with 0, say nothing on the error stream, and leave a stack for each file."""
    run = _main(folder.path, out)
    settings = folder.load()
    stacks = {f"account-{account.alias}" for account in settings.accounts}
    stacks |= {f"agent-{environment.name}" for environment in settings.environments}
    assert (run.returncode, run.stderr) == (0, "")
    assert {path.name for path in (out / "stacks").iterdir()} == stacks


def test_the_framework_cli_refuses_bad_settings_with_status_1(bad: Folder, out: Path) -> None:
    """`cdktf synth` ends with 1, passes every fault on, and writes nothing."""
    run = _synth(bad.path, out)
    assert run.returncode == 1, run.stderr
    assert all(str(fault) in run.stdout + run.stderr for fault in bad.faults())
    assert "Traceback" not in run.stdout + run.stderr
    assert not out.exists()
