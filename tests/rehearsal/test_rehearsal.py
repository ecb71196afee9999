"""The stacks plan, apply in order and destroy as promised: the real Terraform, a pretend cloud."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.rehearsal.cloud import Cloud
from tests.rehearsal.provider import install
from tests.terraform_schema.schema import load_schema

ACCOUNT: Final = "210987654321"
PLACEHOLDER, IMAGE, NEXT_IMAGE = (f"sha256:{digit * 64}" for digit in "0ab")
STACKS: Final = ("account-sandbox", "agent-dev", "agent-staging")
BUCKET_GUARDS: Final = tuple(
    f"aws_s3_bucket_{part}"
    for part in ("ownership_controls", "policy", "public_access_block", "server_side_encryption_configuration")
)
LOG_GROUP: Final = "aws_cloudwatch_log_group"
MASKING, INDEX = "aws_cloudwatch_log_data_protection_policy", "aws_cloudwatch_log_index_policy"
RUNTIME, ENDPOINT = "aws_bedrockagentcore_agent_runtime", "aws_bedrockagentcore_agent_runtime_endpoint"
ROLE_POLICY, TOPIC, TABLE, BUCKET = "aws_iam_role_policy", "aws_sns_topic", "aws_dynamodb_table", "aws_s3_bucket"
HOLDERS: Final = (TABLE, BUCKET, TOPIC)
KEPT: Final = (
    *(LOG_GROUP, MASKING, INDEX, TABLE, BUCKET, *BUCKET_GUARDS),
    *("aws_s3_bucket_lifecycle_configuration", "aws_s3_bucket_versioning"),
)
SLOW: Final = frozenset({*HOLDERS, *BUCKET_GUARDS, ROLE_POLICY, MASKING, INDEX})


def terraform_problem() -> str | None:
    """Say why Terraform cannot be used, or None."""
    found = shutil.which("terraform")
    if found is None:
        return "terraform is not on PATH"
    answer = subprocess.run([found, "version", "-json"], capture_output=True, text=True, check=True)
    version: str = json.loads(answer.stdout)["terraform_version"]
    too_old = tuple(map(int, version.split(".")[:2])) < (1, 10)
    return f"terraform {version} is too old: 1.10 or newer is needed" if too_old else None


PROBLEM = terraform_problem()
pytestmark = pytest.mark.skipif(PROBLEM is not None, reason=PROBLEM or "")


@dataclass(frozen=True, slots=True)
class Stage:
    """Hold a folder with settings, what was synthesised from them, and a cloud of its own."""

    folder: Path
    environment: Mapping[str, str]

    @property
    def cloud(self) -> Cloud:
        return Cloud(self.folder / "cloud", ACCOUNT)

    @property
    def settings(self) -> Path:
        return self.folder / "environments"

    def run(self, *command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
        known = {**os.environ, **self.environment, "PRETEND_ACCOUNT_ID": ACCOUNT, "TF_INPUT": "0"}
        own = {"CDKTF_OUTDIR": str(self.folder / "out"), "PRETEND_CLOUD": str(self.cloud.folder)}
        settings = {**known, **own, **environment}
        return subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, check=False)

    def terraform(self, stack: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        folder = self.folder / "out" / "stacks" / stack
        return self.run("terraform", *arguments, "-no-color", cwd=folder, **environment)

    def operate(self, command: str, *options: str, account: str = ACCOUNT) -> subprocess.CompletedProcess[str]:
        """Run `python -m stacks` on the environment whose trail is kept."""
        folders = ("--settings", str(self.settings), "--out", str(self.folder / "out"))
        python = (sys.executable, "-m", "stacks", command, "staging", *folders, *options)
        return self.run(*python, PRETEND_ACCOUNT_ID=account)

    def synthesise(self) -> None:
        """Run `main.py` anew, after a change of settings."""
        answer = self.run(sys.executable, "main.py", self.settings)
        assert answer.returncode == 0, answer.stderr

    def rewrite(self, file: str, old: str, new: str) -> None:
        path = self.settings / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def copy(self, folder: Path) -> Stage:
        """Give a stage that a test may ruin."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return replace(self, folder=folder)


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Deploy two environments of one account, with everything slow that must come first."""
    folder = tmp_path_factory.mktemp("rehearsal")
    stage = Stage(folder, install(tmp_path_factory.mktemp("provider"), load_schema().version))
    shutil.copytree(ROOT / "environments", stage.settings)
    for name in ("dev", "staging"):
        stage.rewrite(f"{name}.toml", PLACEHOLDER, IMAGE)
        stage.rewrite(f"{name}.toml", "111122223333", ACCOUNT)
    stage.rewrite("accounts/sandbox.toml", "111122223333", ACCOUNT)
    stage.synthesise()
    for stack in STACKS:
        for command in (["init"], ["validate"], ["apply", "-auto-approve"]):
            answer = stage.terraform(stack, *command, PRETEND_SLOW=",".join(SLOW))
            assert answer.returncode == 0, f"{stack}: {command}: {answer.stdout}{answer.stderr}"
    return stage


@pytest.fixture
def stage(deployed: Stage, tmp_path: Path) -> Stage:
    return deployed.copy(tmp_path / "stage")


def created(stage: Stage, environment: str) -> list[str]:
    """List the types of an environment's objects in the order in which they were made."""
    keys = [key for operation, key in stage.cloud.operations() if operation == "create"]
    return [key.partition("/")[0] for key in keys if environment in key]


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


@pytest.fixture(scope="session")
def changed(deployed: Stage, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Change the image of one environment and the agent's name of another."""
    stage = deployed.copy(tmp_path_factory.mktemp("changed") / "stage")
    stage.rewrite("dev.toml", IMAGE, NEXT_IMAGE)
    stage.rewrite("staging.toml", "handbook_staging", "handbook_renamed")
    stage.synthesise()
    return stage


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
