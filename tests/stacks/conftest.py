"""Give tests a settings folder, programs and a Terraform of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.stacks.operating import DIGEST, HELD, REAL_ACCOUNT, RECORDING_TERRAFORM, put_terraform, state
from tests.synthesis import Synthesis


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Copy the shipped settings, with an account that is no documentation id and an image that was pushed."""
    folder = tmp_path / "environments"
    shutil.copytree(ROOT / "environments", folder)
    for path in folder.rglob("*.toml"):
        text = path.read_text().replace("111122223333", REAL_ACCOUNT).replace(f"sha256:{'0' * 64}", DIGEST)
        path.write_text(text)
    return folder


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Give a folder for PATH that holds no program but those that a test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture
def terraform_log(tmp_path: Path, programs: Path) -> Path:
    """Put a terraform on PATH that holds what a file says and writes down what it is asked."""
    log, held = tmp_path / "log", tmp_path / "held"
    held.write_text(state({address: {} for address in HELD}))
    script = f"LOG={log}\nHELD={held}\nPATH=/usr/bin:/bin\n{RECORDING_TERRAFORM}"
    put_terraform(programs, script)
    return log


@pytest.fixture
def out(shipped: Synthesis, tmp_path: Path) -> Path:
    """Copy what was synthesised from the shipped settings."""
    shutil.copytree(shipped.folder, tmp_path / "out")
    return tmp_path / "out"
