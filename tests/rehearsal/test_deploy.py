"""The stacks plan, apply in order and change as promised: the real Terraform, a pretend cloud."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.rehearsal.stage import (
    BUCKET_GUARDS,
    ENDPOINT,
    HOLDERS,
    INDEX,
    KEPT,
    LOG_GROUP,
    MASKING,
    NEEDS_TERRAFORM,
    ROLE_POLICY,
    RUNTIME,
    STACKS,
    Stage,
)

pytestmark = NEEDS_TERRAFORM


def created(stage: Stage, environment: str) -> list[str]:
    """List the types of an environment's objects in the order in which they were made, the schedule's own left out."""
    keys = [key for operation, key in stage.cloud.operations() if operation == "create"]
    return [key.partition("/")[0] for key in keys if environment in key and f"rastro-{environment}-sweep" not in key]


def assert_before(order: list[str], first: tuple[str, ...], then: str) -> None:
    late = [kind for kind in first if kind in order[order.index(then) :]]
    assert set(first) <= set(order)
    assert late == []


@pytest.mark.parametrize("name", STACKS)
def test_a_second_plan_finds_nothing_to_change(deployed: Stage, name: str) -> None:
    """Everything that was applied reads back as declared."""
    answer = deployed.terraform(name, "plan", "-detailed-exitcode")

    assert answer.returncode == 0, answer.stdout


@pytest.mark.parametrize("environment", ["dev", "staging"])
@pytest.mark.parametrize(
    ("first", "then"),
    [
        ((*HOLDERS, *BUCKET_GUARDS), ROLE_POLICY),
        ((*HOLDERS, *BUCKET_GUARDS, ROLE_POLICY), RUNTIME),
        ((RUNTIME,), LOG_GROUP),
        ((LOG_GROUP,), MASKING),
        ((LOG_GROUP,), INDEX),
        ((*HOLDERS, *BUCKET_GUARDS, ROLE_POLICY, RUNTIME, LOG_GROUP, MASKING, INDEX), ENDPOINT),
    ],
    ids=["holders", "permission", "group", "masking", "index", "endpoint"],
)
def test_things_are_made_in_the_promised_order(
    deployed: Stage, environment: str, first: tuple[str, ...], then: str
) -> None:
    """Even if what must come first is slow."""
    assert_before(created(deployed, environment), first, then)


@pytest.mark.parametrize("command", ["plan", "apply", "destroy"])
def test_another_account_is_refused(deployed: Stage, command: str) -> None:
    """Credentials of another account change nothing, whatever the command."""
    before = deployed.cloud.objects()
    approval = [] if command == "plan" else ["-auto-approve"]

    answer = deployed.terraform("agent-dev", command, *approval, PRETEND_ACCOUNT_ID="999999999999")

    assert answer.returncode == 1
    assert "AWS account ID not allowed: 999999999999" in answer.stderr
    assert deployed.cloud.objects() == before


def test_terraform_refuses_a_role_policy_that_names_the_log_group_by_its_arn(stage: Stage) -> None:
    """The known cycle, planted on purpose: policy, group, runtime, policy."""
    path = stage.folder / "out" / "stacks" / "agent-dev" / "cdk.tf.json"
    document = json.loads(path.read_text())
    document["resource"][ROLE_POLICY]["role-policy"]["policy"] = "${aws_cloudwatch_log_group.log-group.arn}"
    path.write_text(json.dumps(document))

    answer = stage.terraform("agent-dev", "plan")

    assert answer.returncode == 1
    assert "Error: Cycle:" in answer.stderr


def test_a_new_image_makes_a_new_version_that_the_endpoint_follows(changed: Stage) -> None:
    """The runtime keeps its id, so the trail keeps its group."""
    done = len(changed.cloud.operations())

    answer = changed.terraform("agent-dev", "apply", "-auto-approve")

    assert answer.returncode == 0, answer.stderr
    changes = [(operation, key.partition("/")[0]) for operation, key in changed.cloud.operations()[done:]]
    assert changes == [("update", RUNTIME), ("update", ENDPOINT)]
    objects = {key: held for key, held in changed.cloud.objects().items() if "dev" in key and key.startswith(RUNTIME)}
    assert {held["agent_runtime_version"] for held in objects.values()} == {"2"}


def test_a_new_name_of_the_agent_is_refused_while_the_trail_is_kept(changed: Stage) -> None:
    """Another name is another runtime with another group, and the group must not go."""
    answer = changed.terraform("agent-staging", "plan")

    assert answer.returncode == 1
    assert "aws_cloudwatch_log_group.log-group has" in answer.stderr


def test_a_released_group_lets_the_agent_be_renamed(changed: Stage, tmp_path: Path) -> None:
    """The old group stays as it was, table and buckets serve the new runtime, and nothing is left to change."""
    stage = changed.copy(tmp_path / "stage")
    before = stage.cloud.objects()

    released = stage.operate("release", "--yes")
    applied = stage.terraform("agent-staging", "apply", "-auto-approve")
    settled = stage.terraform("agent-staging", "plan", "-detailed-exitcode")

    answers = (released, applied, settled)
    assert [answer.returncode for answer in answers] == [0, 0, 0], [answer.stderr for answer in answers]
    after = stage.cloud.objects()
    trail = [key for key in before if "staging" in key and key.partition("/")[0] in KEPT]
    assert {key: after[key] for key in trail} == {key: before[key] for key in trail}
    assert len([key for key in after if key.startswith(f"{LOG_GROUP}/") and "handbook_renamed" in key]) == 1


def test_an_account_that_is_handed_over_keeps_its_transaction_search(stage: Stage) -> None:
    """Whoever manages it from now on finds the policy that all spans need where it was."""
    before = stage.cloud.objects()
    stage.rewrite("accounts/sandbox.toml", "manage_transaction_search = true", "manage_transaction_search = false")
    stage.synthesise()

    answer = stage.terraform("account-sandbox", "apply", "-auto-approve")

    assert answer.returncode == 0, answer.stderr
    assert stage.cloud.objects() == before
    assert "xray" not in stage.terraform("account-sandbox", "state", "list").stdout


def test_a_kept_group_keeps_its_mask_when_the_file_no_longer_asks_for_one(stage: Stage) -> None:
    """What is in the group was written under that mask, and stays readable only through it."""
    before = stage.cloud.objects()
    path = stage.settings / "staging.toml"
    head, _, rest = path.read_text().partition("[observability.masking]")
    path.write_text(head + rest[rest.index("[guard]") :])
    stage.synthesise()

    answer = stage.terraform("agent-staging", "apply", "-auto-approve")

    assert answer.returncode == 0, answer.stderr
    assert {key for key in before if key.startswith(MASKING)} <= stage.cloud.objects().keys()
