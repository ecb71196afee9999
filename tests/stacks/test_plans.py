"""A plan is made on one machine and applied on another, and drift is told from quiet and from failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.plans.changes import Change, changes_of, report
from tests.stacks.operating import DIGEST
from tests.stacks.planning import STACKS, UPDATE, Project, laid

ACCOUNT, AGENT = STACKS


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return laid(tmp_path)


def test_a_plan_takes_no_lock_and_stays_in_the_stack_s_folder(project: Project) -> None:
    """A role that may only read can make it; the account's stack comes first."""
    answer = project.run("plan", "dev")

    assert answer.returncode == 0, answer.stderr
    assert [line for line in project.asked if ": plan" in line] == [
        f"{stack}: plan -input=false -lock=false -detailed-exitcode -out=plan.tfplan" for stack in STACKS
    ]
    assert project.asked[0] == f"{ACCOUNT}: init -input=false"
    assert all(project.plan_file(stack).is_file() for stack in STACKS)
    assert answer.stdout.splitlines() == [f"{ACCOUNT}: none", f"{AGENT}: none"]


def test_a_plan_says_what_changes_and_no_value(project: Project) -> None:
    """Values stay in the plan's own text, beside the plan."""
    project.let(AGENT, 2, UPDATE)
    report_file = project.folder / "build" / "plan-dev.md"

    answer = project.run("plan", "dev", "--report", "build/plan-dev.md")

    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[:2] == [f"{ACCOUNT}: none", f"{AGENT}: 2 changes"]
    assert report_file.read_text() == (
        "### dev: what a deployment would change\n\n| stack | what | action |\n|---|---|---|\n"
        "| agent-dev | `aws_sns_topic.alerts` | update |\n| agent-dev | `output.invoke_command` | update |\n"
    )
    assert "a-secret-value" not in answer.stdout + report_file.read_text()
    assert "a-secret-value" in (project.plan_file(AGENT).parent / "plan.txt").read_text()


@pytest.mark.parametrize(
    ("statuses", "status", "reported"),
    [
        pytest.param((0, 0), 0, False, id="quiet"),
        pytest.param((0, 2), 3, True, id="the agent's stack drifted"),
        pytest.param((2, 0), 3, True, id="the account's stack drifted"),
        pytest.param((0, 1), 2, False, id="the plan failed"),
        pytest.param((2, 1), 2, False, id="one drifted, the other failed"),
    ],
)
def test_drift_is_told_from_quiet_and_from_failure(
    statuses: tuple[int, int], status: int, *, reported: bool, project: Project
) -> None:
    """Each of Terraform's three statuses leads to one of its own."""
    for stack, code in zip(STACKS, statuses, strict=True):
        project.let(stack, code, UPDATE)

    answer = project.run("drift", "dev", "--report", "drift.md")

    assert answer.returncode == status, answer.stderr
    assert (project.folder / "drift.md").is_file() == reported
    assert ("no such bucket" in answer.stderr) == (status == 2)


def test_a_report_of_yesterday_does_not_outlive_a_quiet_day(project: Project) -> None:
    """Whoever looks for the file finds today's answer."""
    project.let(AGENT, 2, UPDATE)
    assert project.run("drift", "dev", "--report", "drift.md").returncode == 3
    project.let(AGENT, 0)

    assert project.run("drift", "dev", "--report", "drift.md").returncode == 0
    assert not (project.folder / "drift.md").exists()


def test_a_change_without_a_name_is_drift_all_the_same(project: Project) -> None:
    """Terraform's status is what counts, not what can be listed."""
    project.let(AGENT, 2, {})

    answer = project.run("drift", "dev")

    assert answer.returncode == 3
    assert "agent-dev: unnamed changes" in answer.stdout


def test_what_was_planned_is_applied_and_nothing_else(project: Project) -> None:
    """Terraform gets the plan, so it neither asks nor plans anew."""
    assert project.run("plan", "dev").returncode == 0
    before = len(project.asked)

    answer = project.run("apply", "dev")

    assert answer.returncode == 0, answer.stderr
    assert project.asked[before:] == [
        line
        for stack in STACKS
        for line in (f"{stack}: init -input=false", f"{stack}: apply -input=false -no-color plan.tfplan")
    ]


def test_nothing_is_applied_where_a_plan_is_missing(project: Project) -> None:
    """Half a deployment is none."""
    assert project.run("plan", "dev").returncode == 0
    project.plan_file(AGENT).unlink()

    answer = project.run("apply", "dev")

    assert answer.returncode == 2
    assert "agent-dev/plan.tfplan: there is no plan\nrun `make plan ENV=dev` first" in answer.stderr
    assert not [line for line in project.asked if ": apply" in line]


@pytest.mark.parametrize("command", ["plan", "drift", "apply"])
def test_a_state_beside_the_project_is_refused(command: str, project: Project) -> None:
    """On another machine there would be none, and a plan would make everything anew."""
    account = project.folder / "environments" / "accounts" / "sandbox.toml"
    account.write_text(account.read_text().replace('backend = "s3"', 'backend = "local"'))

    answer = project.run(command, "dev")

    assert answer.returncode == 2
    assert 'state.backend = "local": another machine does not have this state' in answer.stderr
    assert project.asked == []


def test_a_stack_that_was_not_synthesised_is_named(project: Project) -> None:
    """Before Terraform is asked anything."""
    answer = project.run("plan", "prod")

    assert answer.returncode == 2
    assert "holds no stack account-production" in answer.stderr
    assert "holds no stack agent-prod" in answer.stderr
    assert project.asked == []


ACTIONS = st.sampled_from([["no-op"], ["read"], ["create"], ["update"], ["delete", "create"], ["forget"]])


@given(st.lists(ACTIONS))
def test_every_change_that_does_something_is_listed_once(actions: list[list[str]]) -> None:
    """And what does nothing is not."""
    listed = [{"address": f"a.b{number}", "change": {"actions": found}} for number, found in enumerate(actions)]
    plan: dict[str, Any] = {"resource_changes": listed}

    changes = list(changes_of("s", plan))

    assert [change.address for change in changes] == [
        f"a.b{number}" for number, found in enumerate(actions) if found not in (["no-op"], ["read"])
    ]
    assert report("h", changes).count("\n| s | ") == len(changes)


def test_a_replacement_is_called_one_in_either_order() -> None:
    """`create_before_destroy` turns the order."""
    both = [{"address": "a.b", "change": {"actions": order}} for order in (["create", "delete"], ["delete", "create"])]

    assert list(changes_of("s", {"resource_changes": both})) == [Change("s", "a.b", "replace")] * 2


def test_an_image_is_carried_into_the_files_of_others(project: Project) -> None:
    """The same digest, and not a word of theirs besides."""
    image = DIGEST.replace("ab", "cd")
    dev = project.folder / "environments" / "dev.toml"
    dev.write_text(dev.read_text().replace(DIGEST, image))
    before = {name: (project.folder / "environments" / name).read_text() for name in ("staging.toml", "prod.toml")}

    answer = project.run("carry", "dev", "staging", "prod")

    assert answer.returncode == 0, answer.stderr
    for name, text in before.items():
        assert (project.folder / "environments" / name).read_text() == text.replace(DIGEST, image)


@pytest.mark.parametrize("image", [f"sha256:{'0' * 64}", "latest"], ids=["placeholder", "tag"])
def test_what_is_no_built_image_is_not_carried(image: str, project: Project) -> None:
    """A tag may be another image tomorrow."""
    dev = project.folder / "environments" / "dev.toml"
    dev.write_text(dev.read_text().replace(DIGEST, image))
    prod = (project.folder / "environments" / "prod.toml").read_text()

    answer = project.run("carry", "dev", "prod")

    assert answer.returncode == 2
    assert "is not the digest of a built image; `make image ENV=dev`" in answer.stderr
    assert (project.folder / "environments" / "prod.toml").read_text() == prod
