"""A plan that was kept is applied elsewhere, once: the real Terraform, a pretend cloud."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stacks.plans.changes import Change, changes_of
from stacks.terraform import TerraformError, Workspace
from tests.rehearsal.stage import ACCOUNT, ENDPOINT, IMAGE, NEEDS_TERRAFORM, NEXT_IMAGE, RUNTIME, Stage

pytestmark = NEEDS_TERRAFORM
STACK, PLAN = "agent-dev", "plan.tfplan"
TAKEN = ("cdk.tf.json", PLAN, ".terraform.lock.hcl")
"""What the workflow's artifact holds of a stack."""


def opened(stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for name, value in {**stage.environment, "PRETEND_ACCOUNT_ID": ACCOUNT}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PRETEND_CLOUD", str(stage.cloud.folder))
    workspace = Workspace(folder)
    workspace.init()
    return workspace


def test_a_plan_is_applied_on_a_machine_that_has_nothing_but_it(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it named changes and nothing else; a second time Terraform refuses it, since the state moved on."""
    here = stage.folder / "out" / "stacks" / STACK
    planning = opened(stage, here, monkeypatch)
    assert not planning.plan(PLAN)
    stage.rewrite("dev.toml", IMAGE, NEXT_IMAGE)
    stage.synthesise()

    planning = opened(stage, here, monkeypatch)
    assert planning.plan(PLAN)
    changes = [change for change in changes_of(STACK, planning.read(PLAN)) if not change.address.startswith("output.")]
    assert changes == [Change(STACK, f"{RUNTIME}.runtime", "update"), Change(STACK, f"{ENDPOINT}.live", "update")]
    assert "2 to change" in planning.told(PLAN)

    there = tmp_path / "elsewhere" / "out" / "stacks" / STACK
    there.mkdir(parents=True)
    for name in TAKEN:
        shutil.copy(here / name, there)
    # In S3 both machines see the same state; beside the project it is carried over.
    shutil.copy(stage.folder / f"terraform.{STACK}.tfstate", tmp_path / "elsewhere")
    applying, done = opened(stage, there, monkeypatch), len(stage.cloud.operations())
    applying.apply(PLAN)

    made = [(operation, key.partition("/")[0]) for operation, key in stage.cloud.operations()[done:]]
    assert made == [("update", RUNTIME), ("update", ENDPOINT)]
    with pytest.raises(TerraformError, match="Saved plan is stale"):
        applying.apply(PLAN)
    assert not applying.plan(PLAN)
