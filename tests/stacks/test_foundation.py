"""Every stack stands on one provider version, its own account, tags and a state of its own."""

from __future__ import annotations

from hashlib import sha256

import pytest

from stacks.framework import PROVIDER_VERSION
from tests.conftest import ROOT
from tests.synthesis import Stack, Synthesis
from tests.terraform_schema.validate import load_schema

ACCOUNTS = {
    "account-production": ("444455556666", "us-east-1"),
    "account-sandbox": ("111122223333", "us-east-1"),
    "account-gov": ("123456789012", "us-gov-west-1"),
    "account-unmanaged": ("777788889999", "eu-west-1"),
    "agent-dev": ("111122223333", "us-east-1"),
    "agent-staging": ("111122223333", "us-east-1"),
    "agent-prod": ("444455556666", "us-east-1"),
    "agent-plain": ("777788889999", "eu-west-1"),
    "agent-locked": ("123456789012", "us-gov-west-1"),
}


@pytest.fixture(params=ACCOUNTS)
def stack(request: pytest.FixtureRequest, shipped: Synthesis, variants: Synthesis) -> Stack:
    return {**shipped.stacks, **variants.stacks}[request.param]


def test_one_exact_provider_version_the_one_that_the_schema_was_taken_from(stack: Stack) -> None:
    """The version is exact, its source is written out, and no other provider is needed."""
    assert stack.document["terraform"]["required_providers"] == {
        "aws": {"source": "hashicorp/aws", "version": PROVIDER_VERSION}
    }
    assert load_schema().version == PROVIDER_VERSION


def test_terraform_refuses_any_account_but_the_declared_one(stack: Stack) -> None:
    """Credentials of another account stop the apply before it starts."""
    (provider,) = stack.document["provider"]["aws"]

    assert (provider["allowed_account_ids"], provider["region"]) == (
        [ACCOUNTS[stack.name][0]],
        ACCOUNTS[stack.name][1],
    )


def test_five_tags_are_on_everything(stack: Stack) -> None:
    """Cost reports and people find what belongs together."""
    (provider,) = stack.document["provider"]["aws"]

    assert set(provider["default_tags"][0]["tags"]) == {"Project", "Environment", "ManagedBy", "Owner", "CostCenter"}


def test_tags_come_from_the_files(shipped: Synthesis, variants: Synthesis) -> None:
    """An environment names its owner; an account may."""

    def tags(stack: Stack) -> dict[str, str]:
        found: dict[str, str] = stack.document["provider"]["aws"][0]["default_tags"][0]["tags"]
        return found

    assert tags(shipped["agent-prod"]) == {
        "Project": "rastro",
        "Environment": "prod",
        "ManagedBy": "cdktf",
        "Owner": "agent-platform",
        "CostCenter": "CC-1042",
    }
    assert tags(variants["account-gov"])["Owner"] == "platform-gov"


def test_each_stack_has_a_local_state_of_its_own_by_default(shipped: Synthesis) -> None:
    """Two stacks never share a state file, and none lies in the folder that a synthesis may throw away."""
    paths = [stack.document["terraform"]["backend"]["local"]["path"] for stack in shipped.stacks.values()]

    assert len(set(paths)) == len(shipped.stacks)
    assert all(path.startswith("../../../terraform.") for path in paths)


def test_state_in_s3_is_encrypted_and_locked(variants: Synthesis) -> None:
    """S3's own lock file replaces a lock table."""
    backend = variants["agent-plain"].document["terraform"]["backend"]["s3"]

    assert backend == {
        "bucket": "state-of-777788889999",
        "encrypt": True,
        "key": "agent-plain/terraform.tfstate",
        "kms_key_id": "arn:aws:kms:eu-west-1:777788889999:key/0f1e2d3c-0000-4000-8000-000000000001",
        "region": "eu-central-1",
        "use_lockfile": True,
    }


def test_a_stack_carries_the_digests_of_the_files_it_came_from(shipped: Synthesis) -> None:
    """Whoever reads the output later can tell whether the settings have changed since."""
    for name, files in {
        "agent-dev": ("dev.toml", "accounts/sandbox.toml"),
        "account-sandbox": ("accounts/sandbox.toml",),
    }.items():
        assert shipped[name].document["locals"]["rastro_settings"] == {
            file: f"sha256:{sha256((ROOT / 'environments' / file).read_bytes()).hexdigest()}" for file in files
        }
