"""The same stack code synthesises under both frameworks, to the same Terraform."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.synthesis import Json, Synthesis, read


def synthesised_under(framework: str, out: Path, **variables: str) -> Synthesis:
    environment = {**os.environ, "RASTRO_FRAMEWORK": framework, "CDKTF_OUTDIR": str(out), **variables}
    subprocess.run([sys.executable, ROOT / "main.py"], env=environment, check=True, cwd=ROOT)
    return read(out)


@pytest.fixture(scope="module")
def under_cdktn(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    return synthesised_under("cdktn", tmp_path_factory.mktemp("cdktn"))


def without_framework(document: Json) -> Json:
    """Drop what names the framework: its version and the spelling of the provider's source and version."""
    bare = copy.deepcopy(document)
    del bare["//"]["metadata"]["version"]
    provider = bare["terraform"]["required_providers"]["aws"]
    assert set(provider) == {"source", "version"}
    del bare["terraform"]["required_providers"]
    return bare


def test_both_frameworks_give_the_same_stacks(shipped: Synthesis, under_cdktn: Synthesis) -> None:
    """Only the framework's version and the provider's source metadata may differ."""
    assert set(under_cdktn.stacks) == set(shipped.stacks)
    for name, stack in shipped.stacks.items():
        assert without_framework(under_cdktn[name].document) == without_framework(stack.document), name


def test_the_other_framework_was_really_used(shipped: Synthesis, under_cdktn: Synthesis) -> None:
    """The comparison compares two frameworks, not one with itself."""
    versions = {synthesis["agent-dev"].document["//"]["metadata"]["version"] for synthesis in (shipped, under_cdktn)}

    assert versions == {"0.21.0", "0.24.0"}


def test_skipping_the_eager_package_changes_nothing(shipped: Synthesis, tmp_path: Path) -> None:
    """The bindings as shipped give the same bytes, only slower."""
    eager = synthesised_under("cdktf", tmp_path, RASTRO_EAGER_BINDINGS="1")

    assert {name: stack.document for name, stack in eager.stacks.items()} == {
        name: stack.document for name, stack in shipped.stacks.items()
    }


def test_an_unknown_framework_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    """A misspelt variable does not fall back in silence."""
    environment = {**os.environ, "RASTRO_FRAMEWORK": "cdktm", "CDKTF_OUTDIR": str(tmp_path / "out")}
    answer = subprocess.run(
        [sys.executable, ROOT / "main.py"], env=environment, capture_output=True, text=True, check=False
    )

    assert answer.returncode == 2
    assert "RASTRO_FRAMEWORK = 'cdktm'" in answer.stderr
    assert "allowed: cdktf, cdktn" in answer.stderr
    assert not (tmp_path / "out").exists()


def test_node_is_found_without_make(tmp_path: Path) -> None:
    """`main.py` started by hand finds the packaged Node.js, with none on PATH."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], "CDKTF_OUTDIR": str(tmp_path)}
    empty = tmp_path / "no-node"
    empty.mkdir()
    environment["PATH"] = str(empty)
    subprocess.run([sys.executable, ROOT / "main.py"], env=environment, check=True, cwd=tmp_path)

    assert (tmp_path / "manifest.json").is_file()
