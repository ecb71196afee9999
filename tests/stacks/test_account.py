"""The account stack holds what exists once per account and Region."""

from __future__ import annotations

import json

import pytest

from tests.synthesis import Synthesis, policy

XRAY = ("aws_cloudwatch_log_resource_policy", "aws_xray_trace_segment_destination", "aws_xray_indexing_rule")


def test_x_ray_may_write_spans_on_behalf_of_this_account_alone(shipped: Synthesis) -> None:
    """The source is an ARN of X-Ray: with one of CloudWatch Logs, spans vanish without an error."""
    resource = shipped["account-sandbox"].only("aws_cloudwatch_log_resource_policy")

    assert policy(resource["policy_document"]) == [
        {
            "Sid": "TransactionSearchXRayAccess",
            "Effect": "Allow",
            "Principal": {"Service": "xray.amazonaws.com"},
            "Action": ["logs:PutLogEvents", "logs:CreateLogStream"],
            "Resource": [
                "arn:aws:logs:us-east-1:111122223333:log-group:aws/spans:*",
                "arn:aws:logs:us-east-1:111122223333:log-group:/aws/application-signals/data:*",
                "arn:aws:logs:us-east-1:111122223333:log-group:/aws/bedrock-agentcore/runtimes/*",
            ],
            "Condition": {
                "ArnLike": {"aws:SourceArn": "arn:aws:xray:us-east-1:111122223333:*"},
                "StringEquals": {"aws:SourceAccount": "111122223333"},
            },
        }
    ]


def test_the_policy_that_all_spans_need_cannot_be_destroyed(shipped: Synthesis) -> None:
    """Without it every span of the account and Region is lost, and no error says so."""
    for account in shipped.accounts:
        assert account.only("aws_cloudwatch_log_resource_policy")["lifecycle"] == {"prevent_destroy": True}


def test_every_document_fits_its_limit(shipped: Synthesis, variants: Synthesis) -> None:
    """AWS refuses a resource policy of over 5,120 characters or with characters beyond Latin-1."""
    for account in [*shipped.accounts, *variants.accounts]:
        for resource in account.resources("aws_cloudwatch_log_resource_policy").values():
            assert len(resource["policy_document"]) <= 5_120
            assert resource["policy_document"].isascii()


def test_traces_go_to_cloudwatch_logs_and_activation_may_take_half_an_hour(shipped: Synthesis) -> None:
    """Activation takes 10 to 15 minutes, longer than the provider waits by default."""
    destination = shipped["account-sandbox"].only("aws_xray_trace_segment_destination")

    assert destination["destination"] == "CloudWatchLogs"
    assert destination["timeouts"] == {"create": "30m"}


@pytest.mark.parametrize(
    ("synthesis", "account", "percentage"),
    [("shipped", "sandbox", 1), ("shipped", "production", 5), ("variants", "gov", 0.05)],
)
def test_the_indexing_rule_takes_the_percentage_of_the_account_file(
    synthesis: str, account: str, percentage: float, request: pytest.FixtureRequest
) -> None:
    """The rule is named Default, whole numbers stay whole and fractions stay as written."""
    rule = request.getfixturevalue(synthesis)[f"account-{account}"].only("aws_xray_indexing_rule")

    assert rule["name"] == "Default"
    assert rule["rule"] == [{"probabilistic": [{"desired_sampling_percentage": percentage}]}]
    assert json.dumps(percentage) in json.dumps(rule["rule"])


def test_an_account_that_somebody_else_watches_declares_none_of_the_singletons(variants: Synthesis) -> None:
    """manage_transaction_search = false leaves the account's switches alone, and keeps the image repository."""
    account = variants["account-unmanaged"]

    assert not any(account.resources(kind) for kind in XRAY)
    assert account.only("aws_ecr_repository")


def test_an_account_that_is_handed_over_lets_go_of_the_singletons(variants: Synthesis, shipped: Synthesis) -> None:
    """Terraform forgets them and destroys none: without X-Ray's policy every span would be lost."""
    removed = variants["account-unmanaged"].document["removed"]

    assert {block["from"].partition(".")[0] for block in removed} == set(XRAY)
    assert all(block["lifecycle"] == {"destroy": False} for block in removed)
    declared = {address for address, _ in shipped["account-sandbox"].each()}
    assert {block["from"] for block in removed} <= declared


def test_agent_stacks_declare_no_singleton_of_the_account(shipped: Synthesis, variants: Synthesis) -> None:
    """Two environments of one account do not fight over one setting, nor over the ten resource policies of a Region."""
    for agent in [*shipped.agents, *variants.agents]:
        assert not any(agent.resources(kind) for kind in (*XRAY, "aws_cloudwatch_log_account_policy"))


def test_images_are_immutable_scanned_encrypted_and_never_expire_with_a_tag(shipped: Synthesis) -> None:
    """What an environment runs, or rolls back to, stays."""
    account = shipped["account-sandbox"]
    repository = account.only("aws_ecr_repository")
    rules = json.loads(account.only("aws_ecr_lifecycle_policy")["policy"])["rules"]

    assert repository["image_tag_mutability"] == "IMMUTABLE"
    assert repository["image_scanning_configuration"] == {"scan_on_push": True}
    assert repository["encryption_configuration"] == [{"encryption_type": "KMS"}]
    assert [rule["selection"]["tagStatus"] for rule in rules] == ["untagged"]
    assert repository["lifecycle"] == {"prevent_destroy": True}


def test_a_key_of_the_account_encrypts_what_runs(variants: Synthesis) -> None:
    """The account file may name a key; bundles are encrypted with it too."""
    encryption = variants["account-gov"].only("aws_ecr_repository")["encryption_configuration"]
    (rule,) = variants["account-gov"].only("aws_s3_bucket_server_side_encryption_configuration")["rule"]

    assert encryption[0]["kms_key"].endswith("key/0f1e2d3c-0000-4000-8000-000000000002")
    assert rule["apply_server_side_encryption_by_default"]["kms_master_key_id"] == encryption[0]["kms_key"]


def test_bundles_are_kept_in_every_version_in_a_private_bucket(shipped: Synthesis, variants: Synthesis) -> None:
    """A runtime is rolled back to the bundle it had; the bucket stays whatever becomes of the stack."""
    for account in [*shipped.accounts, *variants.accounts]:
        bucket = account.only("aws_s3_bucket")
        (tls,) = policy(account.only("aws_s3_bucket_policy")["policy"])

        assert bucket["bucket"].startswith("rastro-bundles-")
        assert len(bucket["bucket"]) <= 63
        assert bucket["force_destroy"] is False
        assert account.output("bundle_bucket") == bucket["bucket"]
        assert account.only("aws_s3_bucket_versioning")["versioning_configuration"] == {"status": "Enabled"}
        assert account.only("aws_s3_bucket_public_access_block")["block_public_policy"] is True
        assert tls["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        guards = {address: held for address, held in account.each() if address.startswith("aws_s3_bucket")}
        assert all(held["lifecycle"] == {"prevent_destroy": True} for held in guards.values())


def test_account_level_masking_is_there_when_asked_for(shipped: Synthesis, variants: Synthesis) -> None:
    """It also covers the groups that a service creates by itself."""
    resource = shipped["account-production"].only("aws_cloudwatch_log_account_policy")

    assert resource["policy_type"] == "DATA_PROTECTION_POLICY"
    assert resource["scope"] == "ALL"
    assert not variants["account-unmanaged"].resources("aws_cloudwatch_log_account_policy")


def test_account_level_masking_lists_identifiers_and_patterns(variants: Synthesis) -> None:
    """Both lists of the account file, in both statements."""
    resource = variants["account-gov"].only("aws_cloudwatch_log_account_policy")
    document = json.loads(resource["policy_document"])

    assert document["Configuration"] == {"CustomDataIdentifier": [{"Name": "badge", "Regex": "B-[0-9]{6}"}]}
    assert [statement["DataIdentifier"] for statement in document["Statement"]] == [
        ["arn:aws-us-gov:dataprotection::aws:data-identifier/EmailAddress", "badge"]
    ] * 2
