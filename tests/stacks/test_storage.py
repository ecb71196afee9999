"""What holds the trail is private, encrypted, and lives as long as the environment file says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent_image.contract import GUARD_NUMBERS, GuardSetting
from agent_image.guard.store import CLOSED_KEPT, SESSION_KEPT
from stacks.agent import STATE_OBJECT_DAYS
from stacks.retention import WHY_KEPT, kept
from tests.synthesis import Stack, Synthesis, policy


@pytest.fixture(params=["dev", "staging", "prod", "plain", "locked"])
def agent(request: pytest.FixtureRequest, shipped: Synthesis, variants: Synthesis) -> Stack:
    return {**shipped.stacks, **variants.stacks}[f"agent-{request.param}"]


def test_the_table_is_on_demand_encrypted_and_restorable(agent: Stack) -> None:
    """One string key, and one sparse index of what waits that holds keys alone; closed items expire by themselves."""
    table = agent.only("aws_dynamodb_table")

    assert table["billing_mode"] == "PAY_PER_REQUEST"
    assert table["hash_key"] == "pk"
    assert table["attribute"] == [{"name": name, "type": "S"} for name in ("pk", "queue", "due")]
    assert table["global_secondary_index"] == [
        {"name": "open", "hash_key": "queue", "range_key": "due", "projection_type": "KEYS_ONLY"}
    ]
    assert table["point_in_time_recovery"] == {"enabled": True}
    assert table["server_side_encryption"]["enabled"] is True
    assert table["ttl"] == {"attribute_name": "expires_at_epoch", "enabled": True}


@pytest.mark.parametrize("bucket", ["archive", "audit"])
def test_a_bucket_is_private_in_every_way(agent: Stack, bucket: str) -> None:
    """No public access, no ACLs, and no request without TLS."""
    private = agent.resources("aws_s3_bucket_public_access_block")[f"{bucket}-private"]
    ownership = agent.resources("aws_s3_bucket_ownership_controls")[f"{bucket}-ownership"]
    (tls,) = policy(agent.resources("aws_s3_bucket_policy")[f"{bucket}-tls-only"]["policy"])
    name = agent.resources("aws_s3_bucket")[bucket]["bucket"]

    blocks = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")
    assert all(private[block] is True for block in blocks)
    assert ownership["rule"] == {"object_ownership": "BucketOwnerEnforced"}
    assert (tls["Effect"], tls["Principal"], tls["Action"]) == ("Deny", "*", "s3:*")
    assert tls["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert [arn.rpartition(":::")[2] for arn in tls["Resource"]] == [name, f"{name}/*"]
    assert 3 <= len(name) <= 63


@pytest.mark.parametrize("bucket", ["archive", "audit"])
def test_unfinished_uploads_are_dropped(agent: Stack, bucket: str) -> None:
    """Parts of an upload that never ended would be paid for and never seen."""
    rule, *_ = agent.resources("aws_s3_bucket_lifecycle_configuration")[f"{bucket}-uploads"]["rule"]

    assert rule["abort_incomplete_multipart_upload"] == [{"days_after_initiation": 1}]
    assert rule["status"] == "Enabled"
    assert rule["filter"] == [{"prefix": ""}]


def test_of_what_holds_the_trail_only_long_state_expires(agent: Stack) -> None:
    """Passages and audit stay; a record's document outside the table outlives its item, and not by much."""
    rules = agent.resources("aws_s3_bucket_lifecycle_configuration")
    expiring = [
        (bucket, rule["filter"], rule["expiration"], rule["status"])
        for bucket, found in rules.items()
        for rule in found["rule"]
        if "expiration" in rule
    ]

    assert expiring == [("archive-uploads", [{"prefix": "state/"}], [{"days": STATE_OBJECT_DAYS}], "Enabled")]


def test_long_state_outlives_every_item_that_points_to_it() -> None:
    """A checkpoint may wait and be carried out for as long as the settings allow; then it stays for a time."""
    longest = {number.key: float(number.maximum or 0) for number in GUARD_NUMBERS}
    minutes = longest[GuardSetting.APPROVAL_MINUTES] + longest[GuardSetting.EXECUTE_MINUTES]
    # DynamoDB deletes an expired item within a few days.
    days = max(timedelta(minutes=minutes) + CLOSED_KEPT, SESSION_KEPT) / timedelta(days=1) + 7

    assert days <= STATE_OBJECT_DAYS <= days + 30


def test_only_the_audit_keeps_versions(agent: Stack) -> None:
    """An erased text must be gone from the archive, and an audit object must not be overwritten."""
    versioning = agent.resources("aws_s3_bucket_versioning")

    assert {name: found["versioning_configuration"] for name, found in versioning.items()} == {
        "audit-versions": {"status": "Enabled"}
    }


def test_without_a_key_the_service_s_own_encrypts_and_with_one_it_is_the_environment_s(
    shipped: Synthesis, variants: Synthesis
) -> None:
    """Table, buckets and topic follow the same setting."""

    def algorithm(stack: Stack) -> set[tuple[str, str | None]]:
        rules = [
            resource["rule"][0]["apply_server_side_encryption_by_default"]
            for resource in stack.resources("aws_s3_bucket_server_side_encryption_configuration").values()
        ]
        return {(rule["sse_algorithm"], rule.get("kms_master_key_id")) for rule in rules}

    key = "arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/0f1e2d3c-0000-4000-8000-000000000003"
    assert algorithm(shipped["agent-prod"]) == {("AES256", None)}
    assert algorithm(variants["agent-locked"]) == {("aws:kms", key)}
    for resource in variants["agent-locked"].resources("aws_s3_bucket_server_side_encryption_configuration").values():
        assert resource["rule"][0]["bucket_key_enabled"] is True
    assert variants["agent-locked"].only("aws_dynamodb_table")["server_side_encryption"]["kms_key_arn"] == key
    assert variants["agent-locked"].only("aws_sns_topic")["kms_master_key_id"] == key
    assert variants["agent-plain"].only("aws_sns_topic")["kms_master_key_id"] == "alias/aws/sns"
    # CloudWatch publishes to this one, and may not use the service's own key.
    assert shipped["agent-prod"].only("aws_sns_topic")["kms_master_key_id"] == "${aws_kms_key.alerts-key.arn}"


def test_object_lock_is_there_when_asked_for(shipped: Synthesis, variants: Synthesis) -> None:
    """Compliance mode: nobody, root included, deletes an audit object before its time."""
    prod = shipped["agent-prod"]

    assert prod.resources("aws_s3_bucket")["audit"]["object_lock_enabled"] is True
    assert prod.only("aws_s3_bucket_object_lock_configuration")["rule"] == {
        "default_retention": {"mode": "COMPLIANCE", "days": 365}
    }
    assert not variants["agent-plain"].resources("aws_s3_bucket_object_lock_configuration")
    assert "object_lock_enabled" not in variants["agent-plain"].resources("aws_s3_bucket")["audit"]


@pytest.mark.parametrize("name", ["agent-staging", "agent-prod"])
def test_keep_guards_everything_that_holds_the_trail(shipped: Synthesis, name: str) -> None:
    """Terraform itself refuses to destroy it, masking of the kept group included."""
    stack = shipped[name]
    holders = {address for address, _ in stack.each() if address.partition(".")[0] in WHY_KEPT}

    assert holders == set(kept(stack.document))
    assert {"aws_cloudwatch_log_group.log-group", "aws_dynamodb_table.table", "aws_s3_bucket.audit"} <= holders
    assert stack.only("aws_dynamodb_table")["deletion_protection_enabled"] is True
    assert stack.only("aws_cloudwatch_log_group")["deletion_protection_enabled"] is True
    assert stack.only("aws_cloudwatch_log_group")["skip_destroy"] is True
    assert not any(bucket["force_destroy"] for bucket in stack.resources("aws_s3_bucket").values())


@pytest.mark.parametrize(("synthesis", "name"), [("shipped", "agent-dev"), ("variants", "agent-locked")])
def test_delete_guards_nothing(synthesis: str, name: str, request: pytest.FixtureRequest) -> None:
    """A disposable environment goes whole."""
    stack: Stack = request.getfixturevalue(synthesis)[name]

    assert kept(stack.document) == {}
    assert stack.only("aws_dynamodb_table")["deletion_protection_enabled"] is False
    assert stack.only("aws_cloudwatch_log_group")["skip_destroy"] is False
    assert stack.only("aws_cloudwatch_log_group")["deletion_protection_enabled"] is False
    assert all(bucket["force_destroy"] for bucket in stack.resources("aws_s3_bucket").values())


def test_an_environment_says_nothing_and_its_trail_is_kept(variants: Synthesis) -> None:
    """Keep is the default everywhere but in an environment named dev."""
    assert kept(variants["agent-plain"].document)
    assert variants["agent-plain"].output("on_destroy") == "keep"
