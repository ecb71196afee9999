"""`make login` lets Docker into the repository of the environment's account, and no process hears the password."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.loopback.server import QuietHandler, serving
from tests.stacks.operating import stacks
from tests.stacks.planning import Project, laid

REGISTRY = "210987654321.dkr.ecr.us-east-1.amazonaws.com"
DOCKER = """#!/bin/sh
echo "$*" > "$LOG"
cat > "$LOG.input"
exit "${REFUSES:-0}"
"""


@dataclass
class Ecr:
    """Hold what a registry's account answers, and what it was asked.

    Attributes:
        refuse: whether every question is refused.
    """

    url: str = ""
    refuse: bool = False
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def ecr() -> Iterator[Ecr]:
    found = Ecr()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            self.body()
            found.asked.append(self.headers["X-Amz-Target"].rpartition(".")[2])
            token = base64.b64encode(b"AWS:a-password").decode()
            body = {"authorizationData": [{"authorizationToken": token}]}
            refusal = {"__type": "AccessDeniedException", "message": "not you"}
            self.answer(
                json.dumps(refusal if found.refuse else body).encode(),
                status=400 if found.refuse else 200,
                content_type="application/x-amz-json-1.1",
            )

    with serving(Handler) as found.url:
        yield found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = laid(tmp_path)
    docker = tmp_path / "bin" / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    return made


def variables(ecr: Ecr, project: Project) -> dict[str, str]:
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_MAX_ATTEMPTS": "1"}
    return {**keys, "AWS_ENDPOINT_URL_ECR": ecr.url, "LOG": str(project.folder / "log")}


def test_docker_gets_the_password_over_its_input(ecr: Ecr, project: Project) -> None:
    """Arguments are for every process of the machine to read."""
    path = f"{project.folder / 'bin'}:/usr/bin:/bin"

    answer = stacks("login", "dev", path=path, cwd=project.folder, **variables(ecr, project))

    assert answer.returncode == 0, answer.stderr
    assert ecr.asked == ["GetAuthorizationToken"]
    assert (project.folder / "log").read_text() == f"login --username AWS --password-stdin {REGISTRY}\n"
    assert (project.folder / "log.input").read_text() == "a-password"
    assert answer.stdout == f"{REGISTRY}: Docker may push\n"


@pytest.mark.parametrize(
    ("refuse", "docker", "said"),
    [
        (True, "0", "account 210987654321: ECR let nobody in: "),
        (False, "1", f"docker login failed at {REGISTRY}"),
    ],
    ids=["AWS refuses", "Docker refuses"],
)
def test_a_refusal_is_said_without_the_password(
    docker: str, said: str, *, refuse: bool, ecr: Ecr, project: Project
) -> None:
    """In one line, with status 2."""
    ecr.refuse = refuse
    path = f"{project.folder / 'bin'}:/usr/bin:/bin"

    answer = stacks("login", "dev", path=path, cwd=project.folder, REFUSES=docker, **variables(ecr, project))

    assert answer.returncode == 2
    assert answer.stderr.startswith(said)
    assert "a-password" not in answer.stdout + answer.stderr


def test_docker_must_be_there(ecr: Ecr, project: Project) -> None:
    """Nothing is asked of AWS without it."""
    (project.folder / "bin" / "docker").unlink()

    answer = stacks("login", "dev", path=project.folder / "bin", cwd=project.folder, **variables(ecr, project))

    assert answer.returncode == 2
    assert answer.stderr == "docker is not on PATH: install Docker with Buildx\n"
    assert ecr.asked == []
