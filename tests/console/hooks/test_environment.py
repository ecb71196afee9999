"""What an environment's settings name is checked before it is built or deployed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_image.hooks.settings import IMAGE
from console.cli import app

ARN = "arn:aws:bedrock:us-east-1::foundation-model/m"
EXAMPLE = "hooks/examples/audit-tool-use.yaml"
RUNNER = CliRunner()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project whose settings a test writes."""
    (tmp_path / "environments").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "environments" / "dev.toml"


def checked(*more: str) -> tuple[int, str]:
    result = RUNNER.invoke(app, ["hooks", "check", *more])
    return result.exit_code, result.output


def test_an_environment_that_names_none_has_none(project: Path) -> None:
    """It says so."""
    project.write_text(f'[agent]\nmodels = ["{ARN}"]\n')

    assert checked("--environment", "dev") == (0, "dev: no hooks\n")


def test_its_hooks_are_listed_with_their_level(project: Path) -> None:
    """As the agent would run them."""
    project.write_text(f'[hooks]\ndeployment = "{EXAMPLE}"\n[agent]\nmodels = ["{ARN}"]\n')

    status, told = checked("--environment", "dev")

    assert (IMAGE / EXAMPLE).is_file()
    assert status == 0
    assert "deployment/PostToolUse/1" in told


def test_a_name_may_stand_for_a_model_of_the_agent(project: Path) -> None:
    """The role may call it."""
    project.write_text(f'[hooks]\nagent = "{EXAMPLE}"\nmodels = {{ Fast = "{ARN}" }}\n[agent]\nmodels = ["{ARN}"]\n')

    assert checked("--environment", "dev")[0] == 0


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('[hooks]\nagent = "hooks/nowhere.yaml"\n', "hooks/nowhere.yaml"),
        ('[hooks]\nagent = "Dockerfile"\n', "Dockerfile"),
        (f'[hooks]\nagent = "{EXAMPLE}"\nmodels = {{ Fast = "another" }}\n', "another"),
        ("[hooks\n", "cannot be read"),
    ],
)
def test_faults_are_told_before_anything_is_built(project: Path, settings: str, says: str) -> None:
    """A faulty file, a model that the role may not call, settings that are no TOML: status 2."""
    project.write_text(f'{settings}[agent]\nmodels = ["{ARN}"]\n')

    status, told = checked("--environment", "dev")

    assert status == 2
    assert says in told


@pytest.mark.parametrize("more", [(), ("--environment", "prod"), ("a.yaml", "--environment", "dev")])
def test_one_of_the_two_is_named(project: Path, more: tuple[str, ...]) -> None:
    """And it is there."""
    project.write_text("")

    assert checked(*more)[0] == 2
