"""Deploy once, and give each test that would ruin it a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rehearsal.provider import install
from tests.rehearsal.stage import IMAGE, NEXT_IMAGE, SLOW, STACKS, Stage
from tests.terraform_schema.schema import load_schema


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Deploy two environments of one account, with everything slow that must come first."""
    folder = tmp_path_factory.mktemp("rehearsal")
    stage = Stage.shipped(folder, install(tmp_path_factory.mktemp("provider"), load_schema().version))
    stage.synthesise()
    for stack in STACKS:
        for command in (["init"], ["validate"], ["apply", "-auto-approve"]):
            answer = stage.terraform(stack, *command, PRETEND_SLOW=",".join(SLOW))
            assert answer.returncode == 0, f"{stack}: {command}: {answer.stdout}{answer.stderr}"
    return stage


@pytest.fixture
def stage(deployed: Stage, tmp_path: Path) -> Stage:
    return deployed.copy(tmp_path / "stage")


@pytest.fixture(scope="session")
def changed(deployed: Stage, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Change the image of one environment and the agent's name of another."""
    stage = deployed.copy(tmp_path_factory.mktemp("changed") / "stage")
    stage.rewrite("dev.toml", IMAGE, NEXT_IMAGE)
    stage.rewrite("staging.toml", "handbook_staging", "handbook_renamed")
    stage.synthesise()
    return stage
