"""An account's Terraform state has a bucket of its own: guarded, versioned, named by account and Region."""

from __future__ import annotations

import pytest

from stacks.retention import WHY_KEPT, kept
from tests.synthesis import Stack, Synthesis, policy

NAME = "rastro-tfstate-123456789012-us-gov-west-1"
KEY = "arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/0f1e2d3c-0000-4000-8000-000000000003"


@pytest.fixture
def bootstrap(variants: Synthesis) -> Stack:
    return variants["bootstrap-gov"]


def test_the_bucket_is_named_by_account_and_region(bootstrap: Stack) -> None:
    """Everybody finds it without asking, and no other account has it."""
    assert bootstrap.only("aws_s3_bucket")["bucket"] == bootstrap.output("state_bucket") == NAME


def test_the_bucket_is_private_versioned_encrypted_and_takes_tls_alone(bootstrap: Stack) -> None:
    """A state says everything about an account, and one that is lost leaves resources that nobody manages."""
    (tls,) = policy(bootstrap.only("aws_s3_bucket_policy")["policy"])
    (rule,) = bootstrap.only("aws_s3_bucket_server_side_encryption_configuration")["rule"]
    blocks = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")

    assert all(bootstrap.only("aws_s3_bucket_public_access_block")[block] is True for block in blocks)
    assert bootstrap.only("aws_s3_bucket_versioning")["versioning_configuration"] == {"status": "Enabled"}
    assert rule["apply_server_side_encryption_by_default"] == {"kms_master_key_id": KEY, "sse_algorithm": "aws:kms"}
    assert (tls["Effect"], tls["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_nothing_of_it_can_be_destroyed_by_accident(bootstrap: Stack) -> None:
    """Neither the bucket nor what guards it; and each says why it stays."""
    addresses = {address for address, _ in bootstrap.each()}

    assert set(kept(bootstrap.document)) == addresses
    assert {address.partition(".")[0] for address in addresses} <= WHY_KEPT.keys()
    assert bootstrap.only("aws_s3_bucket")["force_destroy"] is False


def test_old_versions_go_after_a_while_but_never_the_newest_of_them(bootstrap: Stack) -> None:
    """A state that was overwritten can be taken back; lock files leave no litter."""
    _, rule = bootstrap.only("aws_s3_bucket_lifecycle_configuration")["rule"]

    assert rule["noncurrent_version_expiration"] == [{"noncurrent_days": 90, "newer_noncurrent_versions": 20}]
    assert rule["expiration"] == [{"expired_object_delete_marker": True}]
    assert (rule["status"], rule["filter"]) == ("Enabled", [{"prefix": ""}])


def test_its_own_state_is_a_local_file(bootstrap: Stack) -> None:
    """It cannot lie in a bucket that it is about to make."""
    assert bootstrap.document["terraform"]["backend"] == {"local": {"path": "../../../terraform.bootstrap-gov.tfstate"}}


@pytest.mark.parametrize("name", ["account-gov", "agent-locked"])
def test_every_other_stack_of_the_account_keeps_its_state_in_it(name: str, variants: Synthesis) -> None:
    """One key a stack; encrypted, and locked by S3's own lock file."""
    assert variants[name].document["terraform"]["backend"] == {
        "s3": {
            "bucket": NAME,
            "encrypt": True,
            "key": f"{name}/terraform.tfstate",
            "kms_key_id": KEY,
            "region": "us-gov-west-1",
            "use_lockfile": True,
        }
    }


def test_no_stack_waits_for_the_bucket(variants: Synthesis) -> None:
    """It is deployed once: the framework CLI would else ask for it in every deployment."""
    assert all("bootstrap-gov" not in stack["dependencies"] for stack in variants.manifest["stacks"].values())


def test_only_an_account_that_asks_for_it_has_one(shipped: Synthesis, variants: Synthesis) -> None:
    """Neither a local state nor a bucket of one's own needs one."""
    names = [*shipped.stacks, *variants.stacks]

    assert [name for name in names if name.startswith("bootstrap-")] == ["bootstrap-gov"]
