"""What a page says can be done without an account is done, in a copy that is thrown away, with no credentials."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.docs.blocks import PAGES, Block, blocks_of, named

FOLLOWED: Final = {("sh", "offline"), ("sh", "server"), ("diff", "apply")}
OFFLINE = [page for page in PAGES if any(block.how == "offline" for block in blocks_of(page))]
_START_SECONDS: Final = 60
_PATIENCE_SECONDS: Final = 240
_READY: Final = "stop it"
_KEPT: Final = ("PATH", "LANG", "NODE_EXTRA_CA_CERTS")


@dataclass(frozen=True, slots=True)
class Ground:
    """Hold a copy of the project, and the home that all copies share: the framework unpacks itself there once."""

    copy: Path
    home: Path

    @property
    def variables(self) -> dict[str, str]:
        """Give what a command sees: a home of its own, the copy's code, and nothing of AWS."""
        found = {key: os.environ[key] for key in _KEPT if key in os.environ}
        return {
            **found,
            "PATH": f"{self.copy / '.venv' / 'bin'}:{found['PATH']}",
            "HOME": str(self.home),
            "PYTHONPATH": str(self.copy),
            "AWS_EC2_METADATA_DISABLED": "true",
        }


def copy_of_the_project(folder: Path) -> Path:
    """Copy what git knows or would add; the environments of Python and Node.js are shared, and never written to."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git stands on PATH
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    copy = folder / "rastro"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    for name in (".venv", "node_modules"):
        (copy / name).symlink_to(ROOT / name)
    (copy / ".make").mkdir()
    # Newer than the lock files: nothing is to be installed.
    for name in ("python", "node"):
        (copy / ".make" / name).touch()
    return copy


def run(block: Block, ground: Ground) -> subprocess.CompletedProcess[str]:
    """Run the commands of a block."""
    return subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", block.script],  # noqa: S607 - bash stands on PATH
        cwd=ground.copy,
        env=ground.variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE_SECONDS,
    )


@contextmanager
def serving(block: Block, ground: Ground) -> Iterator[None]:
    """Run the one command of a block until it says that it serves, and end it as Ctrl-C does."""
    (command,) = block.commands
    output = ground.copy.parent / "server.log"
    with output.open("w") as log:
        process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=ground.copy, env=ground.variables, stdout=log)  # noqa: S607
        try:
            until = time.monotonic() + _START_SECONDS
            while _READY not in output.read_text() and process.poll() is None and time.monotonic() < until:
                time.sleep(0.1)
            assert _READY in output.read_text(), output.read_text()
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(_START_SECONDS)


def follow(blocks: Sequence[Block], ground: Ground) -> None:
    """Do what a page says, block by block."""
    with ExitStack() as servers:
        for block in blocks:
            match block.how:
                case "server":
                    servers.enter_context(serving(block, ground))
                case "offline":
                    done = run(block, ground)
                    assert done.returncode == 0, f"{block.text}\n{done.stdout}\n{done.stderr}"
                case "file":
                    (ground.copy / block.file).write_text(block.text)
                case "apply":
                    subprocess.run(["git", "apply", "-"], cwd=ground.copy, input=block.text, text=True, check=True)  # noqa: S607


@pytest.mark.parametrize("page", OFFLINE, ids=named)
def test_what_a_page_does_offline_works(page: Path, tmp_path: Path, home: Path) -> None:
    """From its first block to its last, each on what those before it left."""
    follow(blocks_of(page), Ground(copy_of_the_project(tmp_path), home))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Ground:
    return Ground(copy_of_the_project(tmp_path_factory.mktemp("copy")), home)


def test_pages_are_followed() -> None:
    """A mark that nobody reads would hold nothing."""
    assert "docs/tutorial.md" in [named(page) for page in OFFLINE]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_other_mark_is_made(page: Path) -> None:
    """A slip of the hand would leave a block unrun."""
    marked = {(block.language, block.how) for block in blocks_of(page) if block.how not in {None, "file"}}

    assert marked <= FOLLOWED


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_are_written_on_pages_that_are_followed(page: Path) -> None:
    """Contents that nobody tries may be wrong."""
    assert page in OFFLINE or not any(block.how in {"file", "apply", "server"} for block in blocks_of(page))


@pytest.mark.parametrize(
    "text", ["false", "true\nfalse\ntrue\n", "true  # exit status 3", "false # exit status 3", "false | true"]
)
def test_a_command_that_ends_otherwise_is_found(ground: Ground, text: str) -> None:
    """Wherever it stands, and whatever the page says of it."""
    with pytest.raises(AssertionError):
        follow([Block("page", "sh", "offline", text)], ground)


def test_a_status_that_a_page_names_is_the_one(ground: Ground) -> None:
    """Three is waiting for a person."""
    follow([Block("page", "sh", "offline", "(exit 3)  # exit status 3, for it waits\ntrue\n")], ground)


def test_commands_see_the_copy_and_nothing_of_aws(ground: Ground) -> None:
    """Neither credentials nor the project itself."""
    where = "python3 -c 'import stacks, sys; sys.exit(not stacks.__file__.startswith(\"'\"$PWD\"'\"))'"
    done = run(Block("page", "sh", "offline", f"{where}\nenv"), ground)

    assert done.returncode == 0, done.stderr
    aws = [line for line in done.stdout.splitlines() if line.startswith("AWS_")]
    assert aws == ["AWS_EC2_METADATA_DISABLED=true"]
    assert f"HOME={ground.home}" in done.stdout
