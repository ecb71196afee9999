"""A state in a bucket is checked before it is used, and moves there and back without a loss."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.loopback.aws import moto
from tests.loopback.buckets import remove_bucket
from tests.loopback.server import QuietHandler, serving
from tests.stacks.operating import NEW_TERRAFORM, REAL_ACCOUNT, put_terraform, stacks

BUCKET = f"rastro-tfstate-{REAL_ACCOUNT}-us-east-1"
KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "example",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_CONFIG_FILE": os.devnull,
}
STATE = {
    "version": 4,
    "terraform_version": "1.11.4",
    "serial": 7,
    "lineage": "0f1e2d3c-0000-4000-8000-00000000000a",
    "outputs": {"region": {"value": "us-east-1", "type": "string"}},
    "resources": [
        {
            "mode": "managed",
            "type": "aws_sns_topic",
            "name": "alerts",
            "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
            "instances": [{"schema_version": 0, "attributes": {"name": "alerts"}, "sensitive_attributes": []}],
        }
    ],
    "check_results": None,
}


@dataclass(frozen=True, slots=True)
class Cloud:
    """Hold what stands in for AWS: its address, and a client of it."""

    url: str
    client: Any

    @property
    def variables(self) -> dict[str, str]:
        return {**KEYS, "AWS_ENDPOINT_URL": self.url}

    def make_bucket(self, name: str = BUCKET) -> None:
        self.client.create_bucket(Bucket=name)

    def put_state(self, stack: str, state: Mapping[str, object], bucket: str = BUCKET) -> bytes:
        written = json.dumps(state).encode()
        self.client.put_object(Bucket=bucket, Key=f"{stack}/terraform.tfstate", Body=written)
        return written

    def state(self, stack: str) -> bytes:
        with self.client.get_object(Bucket=BUCKET, Key=f"{stack}/terraform.tfstate")["Body"] as body:
            found: bytes = body.read()
        return found


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with moto() as url:
        yield url


@pytest.fixture
def cloud(endpoint: str) -> Iterator[Cloud]:
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )
    others = {bucket["Name"] for bucket in client.list_buckets()["Buckets"]}
    yield Cloud(endpoint, client)
    for bucket in client.list_buckets()["Buckets"]:
        if bucket["Name"] not in others:
            remove_bucket(client, bucket["Name"])
    client.close()


@pytest.fixture
def remote(settings: Path) -> Path:
    """Give settings whose account keeps its state in the bucket that is bootstrapped."""
    write_state(settings, 'backend = "s3"')
    return settings


def write_state(settings: Path, lines: str) -> None:
    path = settings / "accounts" / "sandbox.toml"
    head, _, rest = path.read_text().partition("[state]\n")
    path.write_text(f"{head}[state]\n{lines}\n{rest[rest.index('#') :]}")


def put_state(project: Path, stack: str, state: Mapping[str, object]) -> Path:
    path = project / f"terraform.{stack}.tfstate"
    path.write_text(json.dumps(state))
    return path


@dataclass(frozen=True, slots=True)
class Check:
    """Run the checks of a deployment in a project, with a Terraform that is new enough."""

    project: Path
    programs: Path

    def __call__(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        put_terraform(self.programs, NEW_TERRAFORM)
        return stacks(*command, path=self.programs, cwd=self.project, **{**KEYS, **variables})


@pytest.fixture
def check(settings: Path, programs: Path) -> Check:
    return Check(settings.parent, programs)


DEPLOYMENTS = [("check-environment", "dev"), ("check-account", "sandbox")]


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize("command", DEPLOYMENTS)
def test_a_bucket_that_was_never_bootstrapped_stops_a_deployment(
    command: tuple[str, str], check: Check, cloud: Cloud
) -> None:
    """With the command that makes it, before Terraform is asked anything."""
    answer = check(*command, **cloud.variables)

    assert answer.returncode == 2
    assert answer.stderr.strip() == f"s3://{BUCKET}: is not there yet; `make bootstrap ACCOUNT=sandbox` makes it"


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize("command", DEPLOYMENTS)
def test_a_bootstrapped_bucket_lets_a_deployment_go_on(command: tuple[str, str], check: Check, cloud: Cloud) -> None:
    """In silence."""
    cloud.make_bucket()

    answer = check(*command, **cloud.variables)

    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_a_bucket_of_one_s_own_must_be_there_too(check: Check, settings: Path, cloud: Cloud) -> None:
    """Nobody but its owner makes it."""
    write_state(settings, 'backend = "s3"\nbucket = "state-of-ours"')

    before = check("check-account", "sandbox", **cloud.variables)
    cloud.make_bucket("state-of-ours")
    after = check("check-account", "sandbox", **cloud.variables)

    assert (before.returncode, after.returncode) == (2, 0)
    assert before.stderr.strip() == (
        "s3://state-of-ours: is not there; make it, or leave state.bucket out of environments/accounts/sandbox.toml"
    )


class Refusing(QuietHandler):
    """Refuse to say anything of a bucket."""

    def do_HEAD(self) -> None:
        self.answer(b"", status=403)


@pytest.mark.usefixtures("remote")
def test_somebody_else_s_bucket_of_that_name_is_refused(check: Check) -> None:
    """Bucket names are global: S3 is told whose it must be."""
    with serving(Refusing) as url:
        answer = check("check-account", "sandbox", AWS_ENDPOINT_URL=url)

    assert answer.returncode == 2
    assert answer.stderr.strip() == (
        f"s3://{BUCKET}: may not be opened with these credentials, or is not account {REAL_ACCOUNT}'s; "
        f"take those of {REAL_ACCOUNT}"
    )


@pytest.mark.usefixtures("remote")
def test_missing_credentials_are_said_in_aws_s_own_words(check: Check) -> None:
    """One line, no traceback."""
    nobody = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "")

    answer = check("check-account", "sandbox", **nobody)

    assert answer.returncode == 2
    assert answer.stderr.strip() == f"s3://{BUCKET}: Unable to locate credentials"


def test_a_local_state_is_asked_for_nowhere(check: Check) -> None:
    """No credentials, no network."""
    assert check("check-account", "sandbox", AWS_ENDPOINT_URL="http://127.0.0.1:1").returncode == 0


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize(
    ("state", "status"),
    [(STATE, 2), ({**STATE, "resources": []}, 0)],
    ids=["resources", "empty"],
)
def test_a_state_that_was_not_moved_stops_a_deployment(
    state: dict[str, object], status: int, check: Check, cloud: Cloud
) -> None:
    """Terraform would open an empty bucket and make everything a second time."""
    cloud.make_bucket()
    put_state(check.project, "agent-staging", state)

    answer = check("check-environment", "dev", **cloud.variables)

    assert answer.returncode == status
    if status:
        assert answer.stderr.strip() == (
            "terraform.agent-staging.tfstate: holds the state of agent-staging, and environments/accounts/sandbox.toml "
            f"puts it into s3://{BUCKET}; `make move-state ACCOUNT=sandbox` moves it"
        )


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('backend = "local"', 'state.backend = "local": there is no bucket to make; write "s3" first'),
        (
            'backend = "s3"\nbucket = "state-of-ours"',
            "state.bucket: names a bucket of your own; leave it out, and one is made",
        ),
    ],
)
def test_there_is_a_bucket_to_bootstrap_only_where_the_file_asks_for_one(
    lines: str, says: str, check: Check, settings: Path
) -> None:
    """With what to write."""
    write_state(settings, lines)

    answer = check("check-bootstrap", "sandbox")

    assert (answer.returncode, answer.stderr.strip()) == (2, f"environments/accounts/sandbox.toml: {says}")


@pytest.mark.usefixtures("remote")
def test_an_account_of_one_s_own_may_be_bootstrapped(check: Check) -> None:
    """Nothing else is needed, and no network."""
    answer = check("check-bootstrap", "sandbox", AWS_ENDPOINT_URL="http://127.0.0.1:1")

    assert (answer.returncode, answer.stderr) == (0, "")


@dataclass(frozen=True, slots=True)
class Mover:
    """Run `stacks move-state` in a project."""

    project: Path
    variables: Mapping[str, str]

    def __call__(self, *options: str) -> subprocess.CompletedProcess[str]:
        return stacks("move-state", "sandbox", *options, path="", cwd=self.project, **self.variables)

    def holds(self, stack: str) -> Path:
        return self.project / f"terraform.{stack}.tfstate"


@pytest.fixture
def move(settings: Path, cloud: Cloud) -> Mover:
    return Mover(settings.parent, cloud.variables)


@pytest.mark.usefixtures("remote")
def test_a_state_moves_into_the_bucket_and_back(move: Mover, cloud: Cloud) -> None:
    """The same bytes, the old file is set aside, and the stack's folder forgets where the state was."""
    cloud.make_bucket()
    written = put_state(move.project, "agent-dev", STATE).read_bytes()
    remembered = move.project / "cdktf.out" / "stacks" / "agent-dev" / ".terraform" / "terraform.tfstate"
    remembered.parent.mkdir(parents=True)
    remembered.touch()

    there = move()

    assert there.returncode == 0, there.stderr
    assert f"agent-dev: 1 resources are in s3://{BUCKET}" in there.stdout
    assert "agent-staging: there is no terraform.agent-staging.tfstate, so nothing to move" in there.stdout
    assert cloud.state("agent-dev") == written
    assert not move.holds("agent-dev").exists()
    assert (move.project / "terraform.agent-dev.tfstate.moved").read_bytes() == written
    assert not remembered.exists()

    write_state(move.project / "environments", 'backend = "local"')
    back = move()

    assert back.returncode == 0, back.stderr
    assert move.holds("agent-dev").read_bytes() == cloud.state("agent-dev") == written
    assert not move.holds("agent-staging").exists()


@pytest.mark.usefixtures("remote")
def test_a_state_that_came_back_and_went_on_moves_in_again(move: Mover, cloud: Cloud) -> None:
    """It is the next of its line, so it takes the place of the copy that stayed."""
    cloud.make_bucket()
    put_state(move.project, "agent-dev", STATE)
    first = move()
    later = put_state(move.project, "agent-dev", {**STATE, "serial": 8}).read_bytes()

    second, third = move(), move()

    assert [answer.returncode for answer in (first, second, third)] == [0, 0, 0], second.stderr
    assert "agent-dev: there is no" in third.stdout
    assert cloud.state("agent-dev") == later


HELD: dict[str, tuple[dict[str, object], str]] = {
    "another": ({"lineage": "0f1e2d3c-0000-4000-8000-00000000000b"}, "holds another state"),
    "newer": ({"serial": 8}, "holds number 8 of this state, not number 7"),
    "as new": ({"outputs": {}}, "holds number 7 of this state, not number 7"),
}


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize(("other", "says"), HELD.values(), ids=HELD)
def test_a_state_is_never_moved_over_another(other: dict[str, object], says: str, move: Mover, cloud: Cloud) -> None:
    """Somebody else's, or what was applied since: both stay where they are, in either direction."""
    cloud.make_bucket()
    held = cloud.put_state("agent-dev", {**STATE, **other})
    path = put_state(move.project, "agent-dev", STATE)
    written = path.read_bytes()

    into = move()

    assert into.returncode == 2
    assert into.stderr.startswith(f"s3://{BUCKET}/agent-dev/terraform.tfstate: {says}; nothing was moved. Decide")

    write_state(move.project / "environments", 'backend = "local"')
    path.write_bytes(held)
    cloud.put_state("agent-dev", STATE)
    back = move()

    assert back.returncode == 2
    assert back.stderr.startswith(f"terraform.agent-dev.tfstate: {says}; nothing was moved. Decide")
    assert (path.read_bytes(), cloud.state("agent-dev")) == (held, written)


@pytest.mark.usefixtures("remote")
def test_a_state_that_terraform_works_on_is_left_alone(move: Mover, cloud: Cloud) -> None:
    """Its lock is an object beside it."""
    cloud.make_bucket()
    cloud.client.put_object(Bucket=BUCKET, Key="agent-dev/terraform.tfstate.tflock", Body=b"{}")
    path = put_state(move.project, "agent-dev", STATE)

    answer = move()

    assert answer.returncode == 2
    assert "terraform.tfstate.tflock: Terraform is at work on this state; wait" in answer.stderr
    assert path.is_file()


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"lineage": "a", "serial": "x", "resources": []}'])
def test_what_is_no_state_is_not_moved(text: str, move: Mover, cloud: Cloud) -> None:
    """Whatever it is, it stays where it is."""
    cloud.make_bucket()
    move.holds("agent-dev").write_text(text)

    answer = move()

    assert answer.returncode == 2
    assert answer.stderr.startswith("terraform.agent-dev.tfstate: is no Terraform state (")
    assert move.holds("agent-dev").read_text() == text


def test_a_state_comes_back_from_a_bucket_that_the_file_no_longer_names(move: Mover, cloud: Cloud) -> None:
    """The command names it then."""
    cloud.make_bucket("state-of-ours")
    written = cloud.put_state("account-sandbox", STATE, "state-of-ours")

    answer = move("--bucket", "state-of-ours")

    assert answer.returncode == 0, answer.stderr
    assert move.holds("account-sandbox").read_bytes() == written


@pytest.mark.usefixtures("remote")
def test_nothing_is_moved_into_a_bucket_that_is_not_there(move: Mover) -> None:
    """The file stays what Terraform works with."""
    path = put_state(move.project, "agent-dev", STATE)

    answer = move()

    assert answer.returncode == 2
    assert "make bootstrap ACCOUNT=sandbox" in answer.stderr
    assert json.loads(path.read_text()) == STATE


@pytest.mark.usefixtures("remote")
def test_a_bucket_that_is_not_there_is_not_adopted(check: Check, cloud: Cloud) -> None:
    """A first bootstrap makes it; no Terraform is asked."""
    put_terraform(check.programs, "exit 1")

    answer = stacks("adopt-state-bucket", "sandbox", path=check.programs, cwd=check.project, **cloud.variables)

    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
