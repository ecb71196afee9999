"""What `make` runs, in which order, and where it stops: the Makefile itself, with stubs for the programs it calls."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

STUB = """#!/bin/bash
echo "{name} $*" >> "{log}"
echo "$CDKTF_SKIP_PROVIDER_LOCK $CHECKPOINT_DISABLE" > "{log}.switches"
case "$*" in
  *"$REFUSE"*) exit 2 ;;
  "-m stacks of "*) echo "account-sandbox agent-$4" ;;
esac
"""
CHECK_TERRAFORM = "python -m stacks check-terraform"


@dataclass(frozen=True, slots=True)
class Project:
    """Hold a folder with the real Makefile, where everything is set up and every program writes down what it is asked.

    Attributes:
        folder: where `make` runs.
    """

    folder: Path

    def make(self, *arguments: str, refuse: str = "nothing", terminal: bool = False) -> tuple[int, list[str]]:
        """Run `make`, with programs that refuse one request; give its status and what was asked of them."""
        log = self.folder / "log"
        log.write_text("")
        leader, terminal_end = os.openpty()
        try:
            answer = subprocess.run(
                ["make", *arguments],  # noqa: S607
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], "REFUSE": refuse},
                stdin=terminal_end if terminal else subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        finally:
            os.close(leader)
            os.close(terminal_end)
        return answer.returncode, log.read_text().splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.lock", "requirements-checkov.lock", "pyproject.toml", "package-lock.json"):
        (tmp_path / name).touch()
    (tmp_path / ".make").mkdir()
    for name in ("python", "node"):
        (tmp_path / ".make" / name).touch()
    for program in (".venv/bin/python", ".venv/bin/rastro", "node_modules/.bin/cdktf"):
        path = tmp_path / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUB.format(name=path.name, log=tmp_path / "log"))
        path.chmod(0o755)
    return Project(tmp_path)


ASKED: dict[tuple[str, ...], list[str]] = {
    ("deploy", "ENV=dev"): [
        "python -m stacks check-environment dev",
        "python -m stacks of dev",
        "cdktf deploy account-sandbox agent-dev --auto-approve",
    ],
    ("deploy-account", "ACCOUNT=sandbox"): [
        "python -m stacks check-account sandbox",
        "cdktf deploy account-sandbox --auto-approve",
    ],
    ("bootstrap", "ACCOUNT=sandbox"): [
        "python -m stacks check-bootstrap sandbox",
        "cdktf synth",
        "python -m stacks adopt-state-bucket sandbox",
        "cdktf deploy bootstrap-sandbox --auto-approve",
    ],
    ("promote", "FROM=dev", "TO=prod"): ["python -m stacks promote dev prod"],
    ("move-state", "ACCOUNT=sandbox"): ["python -m stacks move-state sandbox"],
    ("destroy", "ENV=dev"): [
        CHECK_TERRAFORM,
        "cdktf synth",
        "python -m stacks prepare-destroy dev --yes",
        "cdktf destroy agent-dev --auto-approve",
    ],
    ("release", "ENV=dev"): [CHECK_TERRAFORM, "cdktf synth", "python -m stacks release dev --yes"],
    ("adopt", "ENV=dev"): [CHECK_TERRAFORM, "cdktf synth", "python -m stacks adopt dev"],
    ("output", "ENV=dev"): [CHECK_TERRAFORM, "cdktf synth", "python -m stacks outputs dev"],
    ("bundle", "ENV=dev"): ["python -m stacks bundle dev"],
    ("plan", "ENV=dev"): [CHECK_TERRAFORM, "cdktf synth", "python -m stacks plan dev --report build/plan-dev.md"],
    ("apply", "ENV=dev"): ["python -m stacks apply dev"],
    ("drift", "ENV=dev"): [CHECK_TERRAFORM, "cdktf synth", "python -m stacks drift dev --report build/drift-dev.md"],
    ("carry", "FROM=dev", "TO=staging prod"): ["python -m stacks carry dev staging prod"],
    ("cost-diff", "BASE=main", "MAX_MONTHLY=", "MAX_INCREASE="): ["rastro cost diff --git main --format markdown"],
    ("cost-diff", "BASE=HEAD^1", "MAX_MONTHLY=500", "MAX_INCREASE=10"): [
        "rastro cost diff --git HEAD^1 --format markdown --max-monthly 500 --max-increase 10"
    ],
    ("needs", "ENV=dev"): ["python -m stacks needs dev"],
    ("diff", "ENV=dev"): [
        CHECK_TERRAFORM,
        "python -m stacks of dev",
        "cdktf diff account-sandbox",
        "cdktf diff agent-dev",
    ],
}


@pytest.mark.parametrize(("arguments", "asked"), ASKED.items(), ids=lambda value: value[0])
def test_a_target_asks_in_this_order(arguments: tuple[str, ...], asked: list[str], project: Project) -> None:
    """Checks first, then a fresh synthesis, then the trail is let go, and only the environment's stack is destroyed."""
    assert project.make(*arguments, "APPROVE=1") == (0, asked)


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        pytest.param(arguments, number, id=f"{arguments[0]}: {request}")
        for arguments, asked in ASKED.items()
        for number, request in enumerate(asked)
    ],
)
def test_a_refusal_stops_the_target(arguments: tuple[str, ...], number: int, project: Project) -> None:
    """Nothing is deployed after a failed check, and nothing destroyed where the trail was not let go."""
    asked = ASKED[arguments][: number + 1]

    status, log = project.make(*arguments, "APPROVE=1", refuse=asked[-1].partition(" ")[2])

    assert status == 2
    assert log == asked


@pytest.mark.parametrize(
    "arguments", [("deploy", "ENV=dev"), ("deploy-account", "ACCOUNT=sandbox")], ids=lambda a: a[0]
)
def test_a_deployment_is_approved_by_a_person_or_in_writing(arguments: tuple[str, ...], project: Project) -> None:
    """On a terminal the framework CLI asks; without one nothing is deployed."""
    status, log = project.make(*arguments)
    assert status == 2
    assert log == ASKED[arguments][:1]

    status, log = project.make(*arguments, terminal=True)
    assert status == 0
    assert log[-1] == ASKED[arguments][-1].removesuffix(" --auto-approve")


@pytest.mark.parametrize(("target", "command"), [("destroy", "prepare-destroy"), ("release", "release")])
def test_letting_go_of_the_trail_asks_unless_approved_in_writing(target: str, command: str, project: Project) -> None:
    """The command asks for the environment's name."""
    _, log = project.make(target, "ENV=prod")

    assert f"python -m stacks {command} prod" in log


@pytest.mark.parametrize("target", [*(arguments[0] for arguments in ASKED), "image"])
def test_nothing_is_done_to_an_environment_that_nobody_named(target: str, project: Project) -> None:
    """The name comes first."""
    assert project.make(target, "APPROVE=1") == (2, [])


def test_what_needs_no_environment_asks_for_none(project: Project) -> None:
    """A bundle can be built, and a base pinned, without an account."""
    assert project.make("zip") == (0, ["python -m stacks zip build/agent.zip"])
    assert project.make("pin") == (0, ["python -m stacks pin"])


def test_the_framework_cli_neither_calls_home_nor_locks_providers_that_are_pinned(project: Project) -> None:
    """The lock file of a provider would be thrown away with the output."""
    project.make("synth")

    assert (project.folder / "log.switches").read_text() == "true 1\n"


def test_state_survives_cleaning(project: Project) -> None:
    """What was built goes, what was deployed is not forgotten."""
    (project.folder / "cdktf.out").mkdir()
    (project.folder / "terraform.agent-dev.tfstate").touch()

    assert project.make("clean") == (0, [])

    assert not (project.folder / "cdktf.out").exists()
    assert (project.folder / "terraform.agent-dev.tfstate").exists()


def test_every_lock_file_is_installed_by_its_hashes() -> None:
    """A package that was replaced on its index is refused."""
    installs = [
        line for line in (ROOT / "Makefile").read_text().splitlines() if ".lock" in line and "pip install" in line
    ]

    assert len(installs) == 2
    assert all("--require-hashes" in line for line in installs)
