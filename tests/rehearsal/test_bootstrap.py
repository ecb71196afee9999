"""A state bucket is made once, whoever asks: the real Terraform, a pretend cloud."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loopback.server import QuietHandler, serving
from tests.rehearsal.provider import install
from tests.rehearsal.stage import NEEDS_TERRAFORM, Stage
from tests.terraform_schema.schema import load_schema

pytestmark = NEEDS_TERRAFORM

STACK = "bootstrap-sandbox"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    provider = install(tmp_path_factory.mktemp("provider"), load_schema().version)
    stage = Stage.shipped(tmp_path_factory.mktemp("bootstrap"), provider)
    stage.rewrite("accounts/sandbox.toml", 'backend = "local"', 'backend = "s3"')
    stage.synthesise()
    for command in (["init"], ["validate"], ["apply", "-auto-approve"]):
        answer = stage.terraform(STACK, *command)
        assert answer.returncode == 0, answer.stdout + answer.stderr
    return stage


@pytest.fixture
def bootstrapped(first: Stage, tmp_path: Path) -> Stage:
    return first.copy(tmp_path / "stage")


class Existing(QuietHandler):
    """Say of every bucket that it is there."""

    def do_HEAD(self) -> None:
        self.answer(b"")


def test_a_second_bootstrap_changes_nothing(bootstrapped: Stage) -> None:
    """What was made reads back as declared."""
    made = bootstrapped.cloud.objects()

    again = bootstrapped.terraform(STACK, "plan", "-detailed-exitcode")

    assert again.returncode == 0, again.stdout
    assert bootstrapped.cloud.objects() == made
    assert "aws_s3_bucket/rastro-tfstate-210987654321-us-east-1" in made


def test_a_bootstrap_from_another_machine_changes_nothing(bootstrapped: Stage) -> None:
    """The local state of the first is not there: what exists is taken into a new one."""
    (bootstrapped.folder / f"terraform.{STACK}.tfstate").unlink()
    made = bootstrapped.cloud.objects()

    with serving(Existing) as url:
        adopted = bootstrapped.operate_account("adopt-state-bucket", AWS_ENDPOINT_URL=url)
    settled = bootstrapped.terraform(STACK, "plan", "-detailed-exitcode")

    assert adopted.returncode == 0, adopted.stderr
    assert len(adopted.stdout.splitlines()) == 7
    assert settled.returncode == 0, settled.stdout
    assert bootstrapped.cloud.objects() == made


def test_a_bootstrap_that_stopped_halfway_is_finished(bootstrapped: Stage) -> None:
    """What is missing is made, what is there is taken."""
    (bootstrapped.folder / f"terraform.{STACK}.tfstate").unlink()
    bootstrapped.cloud.lose("aws_s3_bucket_policy/rastro-tfstate-210987654321-us-east-1")

    with serving(Existing) as url:
        adopted = bootstrapped.operate_account("adopt-state-bucket", AWS_ENDPOINT_URL=url)
    applied = bootstrapped.terraform(STACK, "apply", "-auto-approve")

    assert adopted.returncode == 0, adopted.stderr
    assert "1 added, 0 changed, 0 destroyed" in applied.stdout


def test_the_bucket_cannot_be_destroyed_by_accident(bootstrapped: Stage) -> None:
    """Every state of the account lies in it."""
    made = bootstrapped.cloud.objects()

    answer = bootstrapped.terraform(STACK, "destroy", "-auto-approve")

    assert answer.returncode == 1
    assert "Instance cannot be destroyed" in answer.stderr
    assert bootstrapped.cloud.objects() == made
