"""The pinned framework CLI synthesises and lists the same stacks as `main.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.synthesis import Synthesis, read

CDKTF = ROOT / "node_modules" / ".bin" / "cdktf"


def cdktf(*arguments: str, out: Path) -> subprocess.CompletedProcess[str]:
    assert CDKTF.exists(), "the framework CLI is not installed: run `make setup`"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CI": "1",
        "CHECKPOINT_DISABLE": "1",
        "DISABLE_VERSION_CHECK": "1",
    }
    return subprocess.run(
        [CDKTF, *arguments, "--output", out], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def synthesised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "out"
    answer = cdktf("synth", out=out)
    assert answer.returncode == 0, answer.stderr
    return out


def test_the_cli_writes_what_main_writes(synthesised: Path, shipped: Synthesis) -> None:
    """The same bytes for every stack."""
    assert {name: stack.document for name, stack in read(synthesised).stacks.items()} == {
        name: stack.document for name, stack in shipped.stacks.items()
    }


def test_the_cli_lists_every_stack(tmp_path: Path, shipped: Synthesis) -> None:
    """By the names that `cdktf diff` and `cdktf deploy` take."""
    answer = cdktf("list", out=tmp_path / "out")

    assert answer.returncode == 0, answer.stderr
    assert {word for word in answer.stdout.split() if word in shipped.stacks} == set(shipped.stacks)


def test_the_pinned_versions_are_the_ones_in_use() -> None:
    """The CLI and the library are of one version."""
    package = json.loads((ROOT / "package.json").read_text())
    lock = json.loads((ROOT / "package-lock.json").read_text())["packages"]["node_modules/cdktf-cli"]

    assert package["devDependencies"]["cdktf-cli"] == "0.21.0"
    assert all(version[0].isdigit() for version in package["devDependencies"].values())
    assert lock["version"] == "0.21.0"
    assert "cdktf==0.21.0 \\" in (ROOT / "requirements.lock").read_text()
