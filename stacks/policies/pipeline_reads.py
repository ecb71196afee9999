"""State what `terraform plan` reads of an account's stacks: how things are set up, and nothing that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from stacks.names import Does, agent_stack, pipeline_policy, pipeline_role
from stacks.policies.pipeline_ground import PipelineGround
from stacks.policies.statement import Condition, Statement

PEOPLE: Final = ("approver", "auditor", "break-glass", "doctor", "eraser", "investigator", "invoker", "reader")
"""The kinds of people with a policy; no name of a policy of the pipeline's own ends like these."""
MADE_ROLES: Final = ("role/rastro-*-agent", "role/rastro-*-sweep")
OURS: Final = Condition("StringEquals", "aws:ResourceTag/Project", ("rastro",))
"""Limits a statement to keys that the stacks made: a key's ARN says nothing of it."""


def reads_kept(ground: PipelineGround) -> tuple[Statement, ...]:
    """Grant reading how what keeps and what permits is set up."""
    return (*_kept(ground), *_permissions(ground), *_keys(ground))


def reads_runs(ground: PipelineGround) -> tuple[Statement, ...]:
    """Grant reading how what runs and what watches is set up."""
    return (*_trail(ground), *_runs(ground), *_watch(ground))


def state_reads(ground: PipelineGround) -> Iterator[Statement]:
    """Grant reading the states of the account's stacks; the pull request's plan takes no lock."""
    if ground.state is None:
        return
    bucket = ground.place.bucket_arn(ground.state.bucket)
    yield Statement(
        sid="FindState",
        why="Terraform looks for a stack's state before it reads it.",
        actions=("s3:ListBucket",),
        resources=(bucket,),
    )
    yield Statement(
        sid="ReadState",
        why="A plan compares what is there with what the state says.",
        actions=("s3:GetObject",),
        resources=tuple(f"{bucket}/{prefix}*/terraform.tfstate" for prefix in state_prefixes(ground)),
    )


def state_prefixes(ground: PipelineGround) -> tuple[str, ...]:
    """Give how the keys of the states begin: the account's own and its environments', never the bootstrap's."""
    return f"account-{ground.alias}", agent_stack("")


def _kept(ground: PipelineGround) -> Iterator[Statement]:
    yield Statement(
        sid="ReadTables",
        why="A plan reads how tables are set up, and no item.",
        actions=(
            *("dynamodb:DescribeTable", "dynamodb:DescribeContinuousBackups", "dynamodb:DescribeTimeToLive"),
            "dynamodb:ListTagsOfResource",
        ),
        resources=ground.arns("dynamodb", "table/rastro-*-state"),
    )
    yield Statement(
        sid="ReadBuckets",
        why="A plan reads all that can be set on a bucket, whether the stacks set it or not, and no object.",
        actions=(
            *("s3:ListBucket", "s3:GetBucketAcl", "s3:GetBucketCORS", "s3:GetBucketWebsite", "s3:GetBucketVersioning"),
            *("s3:GetAccelerateConfiguration", "s3:GetBucketRequestPayment", "s3:GetBucketLogging"),
            *("s3:GetLifecycleConfiguration", "s3:GetReplicationConfiguration", "s3:GetEncryptionConfiguration"),
            *("s3:GetBucketObjectLockConfiguration", "s3:GetBucketTagging", "s3:GetBucketLocation"),
            *("s3:GetBucketOwnershipControls", "s3:GetBucketPublicAccessBlock", "s3:GetBucketPolicy"),
            "s3:ListTagsForResource",
        ),
        resources=ground.buckets,
    )
    yield Statement(
        sid="ReadSettingsObjects",
        why="The settings document is an object that the stack declares.",
        actions=("s3:GetObject", "s3:GetObjectVersion", "s3:GetObjectTagging"),
        resources=ground.settings_objects,
    )
    yield Statement(
        sid="ReadTopics",
        why="A plan reads how the alerts topic and its subscriptions are set up.",
        actions=(
            *("sns:GetTopicAttributes", "sns:GetSubscriptionAttributes", "sns:ListSubscriptionsByTopic"),
            "sns:ListTagsForResource",
        ),
        resources=ground.arns("sns", "rastro-*-alerts", "rastro-*-alerts:*"),
    )
    yield Statement(
        sid="ReadDiscovery",
        why="The discovery document is a parameter that the stack declares.",
        actions=("ssm:GetParameter", "ssm:GetParameters", "ssm:ListTagsForResource"),
        resources=ground.arns("ssm", "parameter/rastro/*"),
    )
    yield Statement(
        sid="FindParameters",
        why="A parameter's description and tier are found by listing.",
        actions=("ssm:DescribeParameters",),
        resources=("*",),
        any_resource="The action takes no resource.",
    )
    yield Statement(
        sid="ReadRepository",
        why="A plan of the account's stack reads how the image repository is set up.",
        actions=(
            "ecr:DescribeRepositories",
            "ecr:GetLifecyclePolicy",
            "ecr:GetRepositoryPolicy",
            "ecr:ListTagsForResource",
        ),
        resources=ground.repository,
    )


def _permissions(ground: PipelineGround) -> Iterator[Statement]:
    own = (f"role/{pipeline_role(ground.alias, does)}" for does in get_args(Does))
    yield Statement(
        sid="ReadRoles",
        why="A plan reads the roles of agents and schedules, and the pipeline's own.",
        actions=("iam:GetRole", "iam:GetRolePolicy", "iam:ListRolePolicies", "iam:ListAttachedRolePolicies"),
        resources=ground.global_arns("iam", *MADE_ROLES, *own),
    )
    yield Statement(
        sid="ReadPolicies",
        why="A plan reads the policies for people, and the pipeline's own.",
        actions=("iam:GetPolicy", "iam:GetPolicyVersion", "iam:ListPolicyVersions"),
        resources=ground.global_arns(
            "iam",
            *(f"policy/rastro-*-{person}" for person in PEOPLE),
            f"policy/{pipeline_policy(ground.alias, '*')}",
        ),
    )
    yield Statement(
        sid="ReadProvider",
        why="A plan of the account's stack reads the identity provider of GitHub.",
        actions=("iam:GetOpenIDConnectProvider",),
        resources=ground.global_arns("iam", "oidc-provider/token.actions.githubusercontent.com"),
    )


def _trail(ground: PipelineGround) -> Iterator[Statement]:
    yield Statement(
        sid="ListLogSettings",
        why="Terraform finds groups, index policies, saved queries and the account's own policies by listing.",
        actions=(
            *("logs:DescribeLogGroups", "logs:DescribeIndexPolicies", "logs:DescribeQueryDefinitions"),
            *("logs:DescribeResourcePolicies", "logs:DescribeAccountPolicies"),
        ),
        resources=("*",),
        any_resource="The actions take no resource: they list what the account has, and no event.",
    )
    if ground.agents:
        yield Statement(
            sid="ReadLogGroups",
            why="A plan reads masking, metric filters and tags of the agents' groups, and no event.",
            actions=("logs:GetDataProtectionPolicy", "logs:DescribeMetricFilters", "logs:ListTagsForResource"),
            resources=ground.log_groups,
        )
    yield Statement(
        sid="ReadSpanSettings",
        why="A plan of the account's stack reads where spans go and how many are indexed.",
        actions=("xray:GetTraceSegmentDestination", "xray:GetIndexingRules"),
        resources=("*",),
        any_resource="The actions take no resource: both settings are the account's, one in each Region.",
    )


def _runs(ground: PipelineGround) -> Iterator[Statement]:
    if ground.agents:
        yield Statement(
            sid="ReadRuntimes",
            why="A plan reads the agents' runtimes and endpoints.",
            actions=(
                *("bedrock-agentcore:GetAgentRuntime", "bedrock-agentcore:GetAgentRuntimeEndpoint"),
                "bedrock-agentcore:ListTagsForResource",
            ),
            resources=ground.runtimes,
        )
    yield Statement(
        sid="ReadSchedules",
        why="A plan reads the schedule that sweeps.",
        actions=("scheduler:GetSchedule",),
        resources=ground.arns("scheduler", "schedule/rastro-*-sweep/*"),
    )
    yield Statement(
        sid="ReadScheduleGroups",
        why="The schedule that sweeps has a group of its own.",
        actions=("scheduler:GetScheduleGroup", "scheduler:ListTagsForResource"),
        resources=ground.arns("scheduler", "schedule-group/rastro-*-sweep"),
    )


def _watch(ground: PipelineGround) -> Iterator[Statement]:
    yield Statement(
        sid="ReadAlarms",
        why="A plan reads the environments' alarms.",
        actions=("cloudwatch:DescribeAlarms", "cloudwatch:ListTagsForResource"),
        resources=ground.arns("cloudwatch", "alarm:rastro-*"),
    )
    yield Statement(
        sid="ReadDashboards",
        why="A plan reads the environments' dashboards.",
        actions=("cloudwatch:GetDashboard", "cloudwatch:ListTagsForResource"),
        resources=ground.global_arns("cloudwatch", "dashboard/rastro-*"),
    )
    yield Statement(
        sid="ReadBudgets",
        why="A plan reads the environments' budgets.",
        actions=("budgets:ViewBudget", "budgets:ListTagsForResource"),
        resources=ground.global_arns("budgets", "budget/rastro-*"),
    )


def _keys(ground: PipelineGround) -> Iterator[Statement]:
    yield Statement(
        sid="ReadMadeKeys",
        why="An alerts topic may have a key of its own, which a plan reads.",
        actions=("kms:DescribeKey", "kms:GetKeyPolicy", "kms:GetKeyRotationStatus", "kms:ListResourceTags"),
        resources=ground.arns("kms", "key/*"),
        conditions=(OURS,),
    )
    yield Statement(
        sid="FindAliases",
        why="Terraform finds the alias of such a key by listing.",
        actions=("kms:ListAliases",),
        resources=("*",),
        any_resource="The action takes no resource.",
    )
    if ground.keys:
        yield Statement(
            sid="ReadUnderBroughtKeys",
            why="State and settings documents are encrypted with keys that account and environments bring.",
            actions=("kms:Decrypt",),
            resources=ground.keys,
            conditions=(ground.via("s3"),),
        )
