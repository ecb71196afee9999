"""State what `terraform apply` changes in an account's environments, and what a pipeline never does.

A pipeline deploys environments. It destroys nothing that holds a trail, and changes nothing of the account's own stack:
its own rights, Transaction Search and the repository are a person's (`make deploy-account`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from stacks.names import Does, pipeline_policy, pipeline_role
from stacks.policies import pipeline
from stacks.policies.pipeline_ground import PipelineGround
from stacks.policies.pipeline_reads import MADE_ROLES, OURS, PEOPLE, state_prefixes
from stacks.policies.statement import Condition, Statement

_MARKED_OURS: Final = Condition("StringEquals", "aws:RequestTag/Project", ("rastro",))
_NOBODYS: Final = Condition("Null", "aws:ResourceTag/Project", ("true",))
"""Holds for what is not there yet, and for what carries no such tag: AWS tells the two apart by nothing."""


def makes_kept(ground: PipelineGround) -> tuple[Statement, ...]:
    """Grant making what keeps and what permits, and deny what a pipeline never does."""
    return (*_kept(ground), *_permissions(ground), *_keys(ground), *_never(ground))


def makes_runs(ground: PipelineGround) -> tuple[Statement, ...]:
    """Grant making what runs and what watches, and storing what is to run."""
    return (*_trail(ground), *_runs(ground), *_watch(ground), *_builds(ground))


def state_writes(ground: PipelineGround) -> Iterator[Statement]:
    """Grant writing the states of the account's stacks, and the lock beside each."""
    if ground.state is None:
        return
    bucket = ground.place.bucket_arn(ground.state.bucket)
    states = tuple(f"{bucket}/{prefix}*/terraform.tfstate" for prefix in state_prefixes(ground))
    locks = tuple(f"{state}.tflock" for state in states)
    yield Statement(
        sid="WriteState",
        why="An apply writes what it has made; the bucket keeps what the state was before.",
        actions=("s3:PutObject",),
        resources=states,
    )
    yield Statement(
        sid="LockState",
        why="S3's own lock file keeps two applies apart.",
        actions=("s3:GetObject", "s3:PutObject", "s3:DeleteObject"),
        resources=locks,
    )


def _kept(ground: PipelineGround) -> Iterator[Statement]:
    yield Statement(
        sid="MakeTables",
        why="A new environment gets its table; none is deleted.",
        actions=(
            *("dynamodb:CreateTable", "dynamodb:UpdateTable", "dynamodb:UpdateContinuousBackups"),
            *("dynamodb:UpdateTimeToLive", "dynamodb:TagResource"),
        ),
        resources=ground.arns("dynamodb", "table/rastro-*-state"),
    )
    yield Statement(
        sid="MakeBuckets",
        why="A new environment gets its buckets and what guards them; none is deleted or emptied.",
        actions=(
            *("s3:CreateBucket", "s3:PutBucketPublicAccessBlock", "s3:PutBucketOwnershipControls"),
            *("s3:PutEncryptionConfiguration", "s3:PutBucketPolicy", "s3:PutLifecycleConfiguration"),
            *("s3:PutBucketVersioning", "s3:PutBucketObjectLockConfiguration", "s3:PutBucketTagging"),
            "s3:TagResource",
        ),
        resources=ground.buckets[:2],
    )
    yield Statement(
        sid="WriteSettingsObjects",
        why="Each deployment stores its settings document as a new version of one object.",
        actions=("s3:PutObject", "s3:PutObjectTagging"),
        resources=ground.settings_objects,
    )
    yield Statement(
        sid="MakeTopics",
        why="A new environment gets its alerts topic, with who may publish and who gets mail.",
        actions=(
            *("sns:CreateTopic", "sns:SetTopicAttributes", "sns:Subscribe", "sns:Unsubscribe"),
            *("sns:SetSubscriptionAttributes", "sns:TagResource", "sns:UntagResource"),
        ),
        resources=ground.arns("sns", "rastro-*-alerts", "rastro-*-alerts:*"),
    )
    yield Statement(
        sid="WriteDiscovery",
        why="Each deployment says where the parts of its environment are.",
        actions=("ssm:PutParameter", "ssm:AddTagsToResource", "ssm:RemoveTagsFromResource"),
        resources=ground.arns("ssm", "parameter/rastro/*"),
    )


def _permissions(ground: PipelineGround) -> Iterator[Statement]:
    boundary = ground.boundary_arn
    bounded = () if boundary is None else (Condition("StringEquals", "iam:PermissionsBoundary", (boundary,)),)
    yield Statement(
        sid="MakeRoles",
        why="A new environment gets the roles of its agent and its schedule; a boundary that is set stays on them.",
        actions=(
            *("iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePermissionsBoundary", "iam:UpdateRole"),
            "iam:UpdateAssumeRolePolicy",
        ),
        resources=ground.global_arns("iam", *MADE_ROLES),
        conditions=bounded,
    )
    yield Statement(
        sid="TagRoles",
        why="The tags of such a role follow the settings.",
        actions=("iam:TagRole", "iam:UntagRole"),
        resources=ground.global_arns("iam", *MADE_ROLES),
    )
    yield Statement(
        sid="HandRolesOver",
        why="The runtime and the schedule are created with their roles; no other service gets one.",
        actions=("iam:PassRole",),
        resources=(*ground.global_arns("iam", *MADE_ROLES), *ground.brought_roles),
        conditions=(
            Condition(
                "StringEquals", "iam:PassedToService", ("bedrock-agentcore.amazonaws.com", "scheduler.amazonaws.com")
            ),
        ),
    )
    yield Statement(
        sid="MakePolicies",
        why="The policies for people follow the settings; AWS keeps five versions, so that old ones go.",
        actions=(
            *("iam:CreatePolicy", "iam:CreatePolicyVersion", "iam:DeletePolicyVersion"),
            *("iam:TagPolicy", "iam:UntagPolicy"),
        ),
        resources=ground.global_arns("iam", *(f"policy/rastro-*-{person}" for person in PEOPLE)),
    )


def _trail(ground: PipelineGround) -> Iterator[Statement]:
    if ground.agents:
        yield Statement(
            sid="MakeLogGroups",
            why="Retention, masking and filters of the agents' groups follow the settings; none is deleted.",
            actions=(
                *("logs:CreateLogGroup", "logs:PutRetentionPolicy", "logs:AssociateKmsKey"),
                *("logs:PutDataProtectionPolicy", "logs:PutMetricFilter", "logs:DeleteMetricFilter"),
                *("logs:TagResource", "logs:UntagResource"),
            ),
            resources=ground.log_groups,
        )
    yield Statement(
        sid="MakeQueries",
        why="The index of a group and the saved queries follow the settings.",
        actions=("logs:PutIndexPolicy", "logs:PutQueryDefinition", "logs:DeleteQueryDefinition"),
        resources=("*",),
        any_resource="AWS's authorization data gives the actions no resource type; none reads or deletes an event.",
    )


def _runs(ground: PipelineGround) -> Iterator[Statement]:
    yield Statement(
        sid="MakeRuntimes",
        why="A new environment gets its runtime, and the service an identity for it.",
        actions=("bedrock-agentcore:CreateAgentRuntime",),
        resources=("*",),
        any_resource="AWS's authorization data gives the action no resource type: the runtime's id comes later.",
        conditions=(_MARKED_OURS,),
    )
    yield Statement(
        sid="MakeWorkloadIdentities",
        why="The service creates the runtime's workload identity with the rights of whoever creates the runtime.",
        actions=("bedrock-agentcore:CreateWorkloadIdentity",),
        resources=ground.arns(
            "bedrock-agentcore",
            "workload-identity-directory/default",
            "workload-identity-directory/default/workload-identity/*",
        ),
    )
    if ground.agents:
        yield Statement(
            sid="ChangeRuntimes",
            why="Each deployment makes a version of the runtime, which the live endpoint follows; neither is deleted.",
            actions=(
                *("bedrock-agentcore:UpdateAgentRuntime", "bedrock-agentcore:CreateAgentRuntimeEndpoint"),
                *("bedrock-agentcore:UpdateAgentRuntimeEndpoint", "bedrock-agentcore:TagResource"),
                "bedrock-agentcore:UntagResource",
            ),
            resources=ground.runtimes,
        )
    yield Statement(
        sid="MakeSchedules",
        why="The schedule that sweeps follows the settings.",
        actions=("scheduler:CreateSchedule", "scheduler:UpdateSchedule", "scheduler:DeleteSchedule"),
        resources=ground.arns("scheduler", "schedule/rastro-*-sweep/*"),
    )
    yield Statement(
        sid="MakeScheduleGroups",
        why="The schedule that sweeps has a group of its own.",
        actions=("scheduler:CreateScheduleGroup", "scheduler:TagResource", "scheduler:UntagResource"),
        resources=ground.arns("scheduler", "schedule-group/rastro-*-sweep"),
    )


def _watch(ground: PipelineGround) -> Iterator[Statement]:
    yield Statement(
        sid="MakeAlarms",
        why="Alarms follow the settings: a row that is switched off goes.",
        actions=(
            *("cloudwatch:PutMetricAlarm", "cloudwatch:DeleteAlarms"),
            *("cloudwatch:TagResource", "cloudwatch:UntagResource"),
        ),
        resources=ground.arns("cloudwatch", "alarm:rastro-*"),
    )
    yield Statement(
        sid="MakeDashboards",
        why="Dashboards follow the settings.",
        actions=(
            *("cloudwatch:PutDashboard", "cloudwatch:DeleteDashboards"),
            *("cloudwatch:TagResource", "cloudwatch:UntagResource"),
        ),
        resources=ground.global_arns("cloudwatch", "dashboard/rastro-*"),
    )
    yield Statement(
        sid="MakeBudgets",
        why="Budgets follow the settings.",
        actions=("budgets:ModifyBudget", "budgets:TagResource", "budgets:UntagResource"),
        resources=ground.global_arns("budgets", "budget/rastro-*"),
    )


def _keys(ground: PipelineGround) -> Iterator[Statement]:
    yield Statement(
        sid="MakeKeys",
        why="Alarms cannot publish to a topic under AWS's own key, so that the topic may get one of its own.",
        actions=("kms:CreateKey",),
        resources=("*",),
        any_resource="The action takes no resource: the key's id is not known before.",
        conditions=(_MARKED_OURS,),
    )
    yield Statement(
        sid="TagNewKeys",
        why="AWS asks for it where a key is created with tags; a key that is marked as another's keeps its mark.",
        actions=("kms:TagResource",),
        resources=ground.arns("kms", "key/*"),
        conditions=(_MARKED_OURS, _NOBODYS),
    )
    yield Statement(
        sid="ChangeMadeKeys",
        why="Policy, rotation and alias of such a key follow the settings; it is not deleted.",
        actions=(
            *("kms:PutKeyPolicy", "kms:EnableKeyRotation", "kms:TagResource", "kms:UpdateKeyDescription"),
            *("kms:CreateAlias", "kms:UpdateAlias"),
        ),
        resources=ground.arns("kms", "key/*"),
        conditions=(OURS,),
    )
    yield Statement(
        sid="NameMadeKeys",
        why="AWS asks for the right on the alias beside that on the key.",
        actions=("kms:CreateAlias", "kms:UpdateAlias"),
        resources=ground.arns("kms", "alias/rastro-*"),
    )
    if ground.keys:
        yield Statement(
            sid="UseBroughtKeys",
            why="Tables, groups, buckets and state are encrypted with keys that account and environments bring.",
            actions=("kms:DescribeKey", "kms:Decrypt", "kms:GenerateDataKey", "kms:CreateGrant"),
            resources=ground.keys,
            conditions=(ground.via("dynamodb", "logs", "s3", "sns", "ssm"),),
        )


def _builds(ground: PipelineGround) -> Iterator[Statement]:
    yield from pipeline.statements(ground.place, None)
    yield Statement(
        sid="LogInToRegistry",
        why="`make image` and `make promote` start with a registry token.",
        actions=("ecr:GetAuthorizationToken",),
        resources=("*",),
        any_resource="The action takes no resource: a token is for the whole registry.",
    )
    yield Statement(
        sid="StoreImages",
        why="`make image` and `make promote` push into the account's repository, whose tags never change.",
        actions=(
            *("ecr:BatchCheckLayerAvailability", "ecr:InitiateLayerUpload", "ecr:UploadLayerPart"),
            *("ecr:CompleteLayerUpload", "ecr:PutImage"),
        ),
        resources=ground.repository,
    )
    yield Statement(
        sid="FetchImages",
        why="`make promote` reads an image where it is promoted from, which is often another account.",
        actions=("ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        resources=(*ground.repository, *ground.sources),
    )


def _never(ground: PipelineGround) -> Iterator[Statement]:
    own = (f"role/{pipeline_role(ground.alias, does)}" for does in get_args(Does))
    yield Statement(
        sid="NeverOwnRights",
        why="Whatever else is attached to the role: a workflow that is taken over cannot widen what it may do.",
        effect="Deny",
        actions=(
            *("iam:AttachRolePolicy", "iam:DeleteRolePermissionsBoundary", "iam:DeleteRolePolicy"),
            *("iam:DetachRolePolicy", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy"),
            *("iam:UpdateAssumeRolePolicy", "iam:PassRole", "iam:CreatePolicyVersion", "iam:SetDefaultPolicyVersion"),
        ),
        resources=ground.global_arns("iam", *own, f"policy/{pipeline_policy(ground.alias, '*')}"),
    )
    yield Statement(
        sid="NeverATrail",
        why="A pipeline deploys; what holds a trail is destroyed by a person, or not at all.",
        effect="Deny",
        actions=(
            *("dynamodb:DeleteTable", "logs:DeleteLogGroup", "logs:DeleteDataProtectionPolicy", "s3:DeleteBucket"),
            "s3:DeleteObjectVersion",
        ),
        resources=("*",),
        any_resource="A denial that reaches everything cannot be worked around by a name.",
    )
