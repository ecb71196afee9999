"""`stacks image` builds, pushes and records the digest of what was pushed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.stacks.operating import DIGEST, REAL_ACCOUNT

FAKE_DOCKER = """
echo "$@" > "$LOG"
while [ $# -gt 0 ]; do
  if [ "$1" = --metadata-file ]; then echo "$METADATA" > "$2"; fi
  shift
done
"""


def image(
    project: Path, programs: Path, *, metadata: str, then: str = ""
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run `stacks image dev v1` in a project with a Dockerfile, with a docker that writes down what it is asked."""
    (project / "agent_image").mkdir()
    (project / "agent_image" / "Dockerfile").write_text("FROM scratch\n")
    log = project / "docker.log"
    program = programs / "docker"
    program.write_text(f"#!/bin/sh\nLOG={log}\nMETADATA='{metadata}'\n{FAKE_DOCKER}\n{then}\n")
    program.chmod(0o755)
    answer = subprocess.run(
        [sys.executable, "-m", "stacks", "image", "dev", "v1"],
        cwd=project,
        env={"PATH": str(programs), "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return answer, log


def test_the_digest_of_a_pushed_image_is_written_into_the_environment_file(settings: Path, programs: Path) -> None:
    """One line changes, every comment stays; the image is built for the platform that AgentCore runs."""
    before = (settings / "dev.toml").read_text()
    pushed = f"sha256:{'cd' * 32}"

    answer, log = image(settings.parent, programs, metadata=f'{{"containerimage.digest": "{pushed}"}}')

    assert answer.returncode == 0, answer.stderr
    assert (settings / "dev.toml").read_text() == before.replace(DIGEST, pushed)
    asked = log.read_text().split()
    assert {"--push", "--provenance=false"} <= set(asked)
    assert asked[asked.index("--platform") + 1] == "linux/arm64"
    assert asked[asked.index("--tag") + 1] == f"{REAL_ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/rastro-agent:v1"


@pytest.mark.parametrize(
    ("metadata", "then"), [("{}", ""), (f'{{"containerimage.digest": "sha256:{"cd" * 32}"}}', "exit 1")]
)
def test_a_failed_push_leaves_the_file_alone(settings: Path, programs: Path, metadata: str, then: str) -> None:
    """Whether docker fails, whatever it reports, or reports no digest."""
    before = (settings / "dev.toml").read_text()

    answer, _ = image(settings.parent, programs, metadata=metadata, then=then)

    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
    assert (settings / "dev.toml").read_text() == before


def test_an_image_needs_docker_a_dockerfile_and_an_account_of_one_s_own(tmp_path: Path, programs: Path) -> None:
    """Everything that is missing is said at once, before anything is built."""
    shutil.copytree(ROOT / "environments", tmp_path / "environments")
    answer = subprocess.run(
        [sys.executable, "-m", "stacks", "image", "dev", "v1"],
        cwd=tmp_path,
        env={"PATH": str(programs), "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 2
    docker, dockerfile, account = answer.stderr.splitlines()
    assert docker == "docker is not on PATH: install Docker with Buildx"
    assert dockerfile == "agent_image/Dockerfile: there is none, so no image to build"
    assert "account_id = 111122223333" in account
