"""`stacks image` builds, pushes and records the digest of what was pushed; `stacks pin` records the base's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.artifact.image import base_tag
from tests.conftest import ROOT
from tests.stacks.operating import DIGEST, REAL_ACCOUNT

PINNED = f"sha256:{'ef' * 32}"
MANIFEST = {
    "digest": PINNED,
    "manifests": [{"platform": {"os": "linux", "architecture": name}} for name in ("amd64", "arm64")],
}
DOCKERFILE = "# The base.\nARG PYTHON=python:3.13-slim-bookworm\nFROM ${PYTHON}\n"
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


def test_no_image_is_built_for_an_environment_that_runs_code(settings: Path, programs: Path) -> None:
    """Its file could not hold the digest."""
    path = settings / "dev.toml"
    path.write_text(path.read_text().replace(f'image = "{DIGEST}"', f'artifact = "code"\nbundle = "{"0" * 32}"'))

    answer, log = image(settings.parent, programs, metadata="{}")

    assert answer.returncode == 2
    assert answer.stderr.strip() == (
        'environments/dev.toml: agent.artifact = "code": the environment does not run this; write "image" first'
    )
    assert not log.exists()


def pin(project: Path, programs: Path, *, dockerfile: str, answers: str, status: int = 0) -> tuple[int, str, str, str]:
    """Run `stacks pin` beside a docker that answers; give its status, the Dockerfile, stderr and what was asked."""
    path, log, program = project / "agent_image" / "Dockerfile", project / "docker.log", programs / "docker"
    path.parent.mkdir(exist_ok=True)
    path.write_text(dockerfile)
    program.write_text(f"#!/bin/sh\necho \"$@\" > {log}\necho '{answers}'\necho refused >&2\nexit {status}\n")
    program.chmod(0o755)
    answer = subprocess.run(
        [sys.executable, "-m", "stacks", "pin"],
        cwd=project,
        env={"PATH": str(programs), "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in answer.stderr
    return answer.returncode, path.read_text(), answer.stderr, log.read_text() if log.exists() else ""


def test_the_base_is_pinned_to_what_its_tag_stands_for_today(tmp_path: Path, programs: Path) -> None:
    """The registry is asked and nothing is pulled; pinned once more, the newer digest takes the place of the old."""
    pinned = DOCKERFILE.replace("bookworm", f"bookworm@{PINNED}")
    answers = json.dumps(MANIFEST)

    status, written, _, asked = pin(tmp_path, programs, dockerfile=DOCKERFILE, answers=answers)

    assert (status, written) == (0, pinned)
    assert asked.strip() == "buildx imagetools inspect --format {{json .Manifest}} python:3.13-slim-bookworm"
    older = pinned.replace("ef" * 32, "01" * 32)
    assert pin(tmp_path, programs, dockerfile=older, answers=answers)[:2] == (0, pinned)


@pytest.mark.parametrize(
    ("answers", "status", "says"),
    [
        ("", 1, "no registry said what python:3.13-slim-bookworm stands for:\nrefused"),
        ("not JSON", 0, "is no manifest list"),
        (json.dumps({"digest": PINNED}), 0, "is no manifest list"),
        (json.dumps({**MANIFEST, "digest": None}), 0, "needed: a digest for linux/arm64"),
        (json.dumps({**MANIFEST, "manifests": MANIFEST["manifests"][:1]}), 0, "platforms linux/amd64; needed"),
    ],
)
def test_a_base_that_no_registry_vouches_for_is_not_pinned(
    tmp_path: Path, programs: Path, answers: str, status: int, says: str
) -> None:
    """No registry, no digest, or a base that AgentCore's platform lacks: the reason, and the file as it was."""
    found, written, stderr, _ = pin(tmp_path, programs, dockerfile=DOCKERFILE, answers=answers, status=status)

    assert (found, written) == (2, DOCKERFILE)
    assert says in stderr


def test_a_dockerfile_without_the_line_that_is_pinned_is_refused(tmp_path: Path, programs: Path) -> None:
    """Nothing is asked and nothing is written."""
    found, written, stderr, asked = pin(tmp_path, programs, dockerfile="FROM scratch\n", answers="")

    assert (found, written, asked) == (2, "FROM scratch\n", "")
    assert "no line ARG PYTHON=" in stderr


def test_the_shipped_dockerfile_has_the_line_that_is_pinned() -> None:
    """`make pin` finds its base."""
    assert base_tag((ROOT / "agent_image" / "Dockerfile").read_text()).startswith("python:")
