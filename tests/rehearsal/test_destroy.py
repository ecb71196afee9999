"""A destroy takes what it says and leaves what it says: the real Terraform, a pretend cloud."""

from __future__ import annotations

import json

from tests.rehearsal.stage import KEPT, LOG_GROUP, MASKING, NEEDS_TERRAFORM, Stage

pytestmark = NEEDS_TERRAFORM


def test_destroying_an_environment_leaves_its_neighbour_and_its_account_alone(stage: Stage) -> None:
    """Nothing but the environment's own objects goes, and all of those go."""
    before = stage.cloud.objects()

    answer = stage.terraform("agent-dev", "destroy", "-auto-approve")

    assert answer.returncode == 0, answer.stderr
    after = stage.cloud.objects()
    assert after == {key: held for key, held in before.items() if "dev" not in key}


def test_a_kept_trail_cannot_be_destroyed_by_accident(stage: Stage) -> None:
    """Terraform refuses the whole plan, so nothing of the environment goes."""
    before = stage.cloud.objects()

    answer = stage.terraform("agent-staging", "destroy", "-auto-approve")

    assert answer.returncode == 1
    assert "Instance cannot be destroyed" in answer.stderr
    assert stage.cloud.objects() == before


def test_a_released_trail_stays_when_the_rest_is_destroyed(stage: Stage) -> None:
    """Group, masking, index, table and buckets with their guards outlive the environment, unchanged."""
    before = stage.cloud.objects()

    released = stage.operate("prepare-destroy", "--yes")
    destroyed = stage.terraform("agent-staging", "destroy", "-auto-approve")

    assert [released.returncode, destroyed.returncode] == [0, 0], released.stderr + destroyed.stderr
    left = {key: held for key, held in stage.cloud.objects().items() if "staging" in key}
    assert {key.partition("/")[0] for key in left} == {*KEPT}
    assert left == {key: held for key, held in before.items() if key in left}


def test_a_kept_trail_is_adopted_by_the_next_deployment(stage: Stage) -> None:
    """What holds data is taken back; the new runtime gets a group of its own, and the old group stays."""
    stage.operate("prepare-destroy", "--yes")
    stage.terraform("agent-staging", "destroy", "-auto-approve")
    left = stage.cloud.objects().keys()

    adopted = stage.operate("adopt")
    redeployed = stage.terraform("agent-staging", "apply", "-auto-approve")
    settled = stage.terraform("agent-staging", "plan", "-detailed-exitcode")

    answers = (adopted, redeployed, settled)
    assert [answer.returncode for answer in answers] == [0, 0, 0], [answer.stderr for answer in answers]
    assert left <= stage.cloud.objects().keys()
    groups = [key for key in stage.cloud.objects() if key.startswith(f"{LOG_GROUP}/") and "staging" in key]
    assert len(groups) == 2


def test_a_trail_that_was_kept_is_not_half_destroyed_by_an_edit(stage: Stage) -> None:
    """AWS still guards what was deployed under keep, so delete must be deployed before it is acted upon."""
    before = stage.cloud.objects()
    stage.rewrite("staging.toml", 'on_destroy = "keep"', 'on_destroy = "delete"')
    stage.synthesise()

    refused = stage.operate("prepare-destroy", "--yes")
    assert refused.returncode == 2
    assert "run `make deploy ENV=staging` first" in refused.stderr
    assert stage.cloud.objects() == before

    answers = [stage.terraform("agent-staging", "apply", "-auto-approve"), stage.operate("prepare-destroy", "--yes")]
    answers.append(stage.terraform("agent-staging", "destroy", "-auto-approve"))
    assert [answer.returncode for answer in answers] == [0, 0, 0], [answer.stderr for answer in answers]
    assert not [key for key in stage.cloud.objects() if "staging" in key]


def test_a_wrong_account_makes_terraform_forget_nothing(stage: Stage) -> None:
    """Access is tried before the first address leaves the state."""
    answer = stage.operate("prepare-destroy", "--yes", account="999999999999")

    assert answer.returncode == 2
    assert "AWS account ID not allowed: 999999999999" in answer.stderr
    assert "aws_s3_bucket.archive" in stage.terraform("agent-staging", "state", "list").stdout


def test_attached_policies_stop_a_destroy_before_it_starts(stage: Stage) -> None:
    """AWS deletes no policy that a role still has: half an environment would be left."""
    objects = stage.cloud.objects()
    objects["aws_iam_policy/rastro-staging-reader"]["attachment_count"] = 2
    (stage.cloud.folder / "objects.json").write_text(json.dumps(objects))

    answer = stage.operate("prepare-destroy", "--yes")

    assert answer.returncode == 2
    assert "detach these policies from their roles first" in answer.stderr
    assert "rastro-staging-reader" in answer.stderr
    assert "aws_s3_bucket.archive" in stage.terraform("agent-staging", "state", "list").stdout


def test_a_mask_that_left_the_file_stays_on_the_kept_group_through_a_destroy(stage: Stage) -> None:
    """Without a deployment in between: what is in the group must not become readable on the way out."""
    before = stage.cloud.objects()
    path = stage.settings / "staging.toml"
    head, _, rest = path.read_text().partition("[observability.masking]")
    path.write_text(head + rest[rest.index("[guard]") :])
    stage.synthesise()

    prepared = stage.operate("prepare-destroy", "--yes")
    destroyed = stage.terraform("agent-staging", "destroy", "-auto-approve")

    assert [prepared.returncode, destroyed.returncode] == [0, 0], prepared.stderr + destroyed.stderr
    masks = {key for key in before if key.startswith(MASKING) and "staging" in key}
    assert masks
    assert masks <= stage.cloud.objects().keys()
