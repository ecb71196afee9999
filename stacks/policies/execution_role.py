"""State what the agent's role may do: pure data, one reason for each statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from agent_image.contract import (
    AUDIT_OBJECT_PREFIX,
    DECISION_OBJECT_PREFIX,
    ERASURE_OBJECT_PREFIX,
    PASSAGE_OBJECT_PREFIX,
    SETTINGS_OBJECT_PREFIX,
    STATE_OBJECT_PREFIX,
    Item,
)
from stacks.names import REPOSITORY, EnvironmentNames, Place, names_of
from stacks.observability import watching
from stacks.policies.kms import via_services
from stacks.policies.statement import NEW_OBJECT_ONLY, Condition, Statement, conditions_on_keys
from stacks.runtime.environment import fits_variable, settings_body
from stacks.settings.load import EnvironmentSettings

METRICS_NAMESPACE: Final = "bedrock-agentcore"

_OWN_ITEMS: Final = tuple(f"{item}*" for item in Item if item not in {Item.DECISION, Item.KEY})
_READ_ITEMS: Final = tuple(f"{item}*" for item in Item)
_WAITING_ITEMS: Final = (f"{Item.CHECKPOINT}*", f"{Item.OUTBOX}*")


@dataclass(frozen=True, slots=True)
class Reach:
    """Name everything that the role reaches: all of it follows from the settings, so a plan shows the whole policy."""

    names: EnvironmentNames
    models: tuple[str, ...]
    knowledge_base_id: str | None
    kms_key_arn: str | None
    put_resource_policy: Literal["any", "own", "none"]
    callers_have_tokens: bool
    reads_settings_object: bool
    runs_image: bool
    headers_secret_arn: str | None
    webhook_secret_arn: str | None
    topic_has_key: bool


def reach_of(environment: EnvironmentSettings) -> Reach:
    """Take what the role of an environment reaches from its settings."""
    declared = environment.declared
    return Reach(
        names=names_of(environment),
        models=tuple(declared.agent.models),
        knowledge_base_id=declared.agent.knowledge_base_id,
        kms_key_arn=declared.observability.kms_key_arn,
        put_resource_policy=declared.role.put_resource_policy,
        callers_have_tokens=declared.auth.type == "JWT",
        reads_settings_object=not fits_variable(settings_body(environment)),
        runs_image=declared.agent.artifact == "image",
        headers_secret_arn=declared.observability.destination_headers_secret_arn,
        webhook_secret_arn=declared.guard.webhook_secret_arn,
        topic_has_key=watching.topic_has_key(declared),
    )


def trust(place: Place) -> tuple[Statement, ...]:
    """Let AgentCore assume the role, on behalf of this account's agents alone."""
    return (
        Statement(
            sid="AgentCoreAssumesRole",
            why="The service runs the agent under this role; both conditions keep other accounts' agents out.",
            service="bedrock-agentcore.amazonaws.com",
            actions=("sts:AssumeRole",),
            conditions=(
                Condition("StringEquals", "aws:SourceAccount", (place.account_id,)),
                Condition("ArnLike", "aws:SourceArn", (place.arn("bedrock-agentcore", "*"),)),
            ),
        ),
    )


def permissions(reach: Reach) -> tuple[Statement, ...]:
    """Grant what one agent needs: its image, its telemetry, its models, its knowledge base and its own trail.

    A bundle of code is read by whoever creates the runtime, not under this role.
    """
    return (
        *(_image(reach.names.place) if reach.runs_image else ()),
        *_logs(reach),
        *_telemetry(),
        *_destination(reach),
        *_identity(reach),
        *_inference(reach),
        *_table(reach),
        *_trail(reach),
        *_alerts(reach),
        *_key(reach),
    )


def _image(place: Place) -> Iterator[Statement]:
    yield Statement(
        sid="PullImage",
        why="The service pulls the agent's image under this role.",
        actions=("ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        resources=(place.arn("ecr", f"repository/{REPOSITORY}"),),
    )
    yield Statement(
        sid="LogInToRegistry",
        why="A pull starts with a registry token.",
        actions=("ecr:GetAuthorizationToken",),
        resources=("*",),
        any_resource="The action takes no resource: a token is for the whole registry.",
    )


def _logs(reach: Reach) -> Iterator[Statement]:
    place, own = reach.names.place, reach.names.own_log_groups
    yield Statement(
        sid="FindLogGroups",
        why="The service looks for the agent's log group before it writes.",
        actions=("logs:DescribeLogGroups",),
        resources=(place.log_groups("*"),),
    )
    yield Statement(
        sid="OwnLogGroups",
        why="The service creates the group of its own DEFAULT endpoint and lists streams.",
        actions=("logs:CreateLogGroup", "logs:DescribeLogStreams"),
        resources=(place.log_groups(own),),
    )
    yield Statement(
        sid="WriteLogs",
        why="Standard output, event lines and metrics in log form go to the agent's own groups.",
        actions=("logs:CreateLogStream", "logs:PutLogEvents"),
        resources=(place.log_groups(f"{own}:log-stream:*"),),
    )
    why = "The service lets X-Ray deliver spans to the agent's own group; without it spans never arrive."
    match reach.put_resource_policy:
        case "any":
            yield Statement(
                sid="LetXRayIn",
                why=why,
                actions=("logs:PutResourcePolicy",),
                resources=("*",),
                any_resource="AWS's authorization data gives the action no resource type: an agent that is taken over "
                "could change any resource policy of the account, X-Ray's own included. role.put_resource_policy = "
                '"own" limits it, once a live account has shown that the limited form works.',
            )
        case "own":
            yield Statement(
                sid="LetXRayIn", why=why, actions=("logs:PutResourcePolicy",), resources=(place.log_groups(own),)
            )
        case "none":
            return


def _telemetry() -> Iterator[Statement]:
    yield Statement(
        sid="WriteSpans",
        why="Spans enter through X-Ray.",
        actions=(
            "xray:PutTraceSegments",
            "xray:PutTelemetryRecords",
            "xray:GetSamplingRules",
            "xray:GetSamplingTargets",
        ),
        resources=("*",),
        any_resource="The actions take no resource: an agent that is taken over can write spans in the whole account.",
    )
    yield Statement(
        sid="WriteMetrics",
        why="The service and the guard publish metrics in one namespace.",
        actions=("cloudwatch:PutMetricData",),
        resources=("*",),
        conditions=(Condition("StringEquals", "cloudwatch:namespace", (METRICS_NAMESPACE,)),),
        any_resource="Classic metrics have no resource; the condition keeps it to one namespace.",
    )


def _destination(reach: Reach) -> Iterator[Statement]:
    if reach.headers_secret_arn is not None:
        yield Statement(
            sid="ReadEndpointHeaders",
            why="Spans go to an OTLP endpoint that asks for credentials: the agent reads that one secret.",
            actions=("secretsmanager:GetSecretValue",),
            resources=(reach.headers_secret_arn,),
        )


def _identity(reach: Reach) -> Iterator[Statement]:
    place = reach.names.place
    directory = place.arn("bedrock-agentcore", "workload-identity-directory/default")
    resources = (directory, f"{directory}/workload-identity/{reach.names.agent}-*")
    for_user = "bedrock-agentcore:GetWorkloadAccessTokenForUserId"
    tokens = ("bedrock-agentcore:GetWorkloadAccessToken", "bedrock-agentcore:GetWorkloadAccessTokenForJWT")
    # AWS's role for direct code deployment has no such right.
    if reach.runs_image:
        yield Statement(
            sid="OwnIdentity",
            why="The agent proves who it is to gateways and memories.",
            actions=tokens if reach.callers_have_tokens else (*tokens, for_user),
            resources=resources,
        )
    if reach.callers_have_tokens:
        yield Statement(
            sid="NoUserByName",
            why="Callers carry a token: the agent must not speak for a user whom it merely names.",
            effect="Deny",
            actions=(for_user,),
            resources=resources,
        )


def _inference(reach: Reach) -> Iterator[Statement]:
    yield Statement(
        sid="InvokeModels",
        why="The agent calls the declared models: the inference profile and each model that it routes to.",
        actions=("bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"),
        resources=reach.models,
    )
    if reach.knowledge_base_id is not None:
        yield Statement(
            sid="ReadKnowledgeBase",
            why="The agent retrieves passages, and reads the last ingestion job as the index version.",
            actions=("bedrock:Retrieve", "bedrock:ListDataSources", "bedrock:ListIngestionJobs"),
            resources=(reach.names.place.arn("bedrock", f"knowledge-base/{reach.knowledge_base_id}"),),
        )


def _table(reach: Reach) -> Iterator[Statement]:
    table = (reach.names.table_arn,)
    yield Statement(
        sid="ReadItems",
        why="The gate reads checkpoints and decisions; retrieval asks which fingerprints are known.",
        actions=("dynamodb:GetItem", "dynamodb:BatchGetItem"),
        resources=table,
        conditions=conditions_on_keys(*_READ_ITEMS),
    )
    yield Statement(
        sid="ListWaiting",
        why="A sweep closes checkpoints whose time is over, and sends alerts that are due: the index lists both.",
        actions=("dynamodb:Query",),
        resources=(reach.names.open_index_arn,),
        conditions=conditions_on_keys(*_WAITING_ITEMS),
    )
    yield Statement(
        sid="WriteOwnItems",
        why="The agent writes what it does: checkpoints, sessions, fingerprints, alerts to send.",
        actions=("dynamodb:PutItem", "dynamodb:UpdateItem"),
        resources=table,
        conditions=conditions_on_keys(*_OWN_ITEMS),
    )
    yield Statement(
        sid="MakeDigestKey",
        why="The first session makes the key that digests are keyed with; later ones read it.",
        actions=("dynamodb:PutItem",),
        resources=table,
        conditions=conditions_on_keys(f"{Item.KEY}*"),
    )
    yield Statement(
        sid="NeverDecide",
        why="Decisions are made by people: an agent that is taken over cannot approve itself.",
        effect="Deny",
        actions=(
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            "dynamodb:BatchWriteItem",
            "dynamodb:PartiQLInsert",
            "dynamodb:PartiQLUpdate",
            "dynamodb:PartiQLDelete",
        ),
        resources=table,
        conditions=(Condition("ForAnyValue:StringLike", "dynamodb:LeadingKeys", (f"{Item.DECISION}*",)),),
    )


def _trail(reach: Reach) -> Iterator[Statement]:
    yield Statement(
        sid="ArchivePassages",
        why="Each distinct passage is stored once; the agent never reads the archive back.",
        actions=("s3:PutObject",),
        resources=(f"{reach.names.archive_arn}/{PASSAGE_OBJECT_PREFIX}*",),
        # An erased passage leaves an empty object, and must not come back.
        conditions=(NEW_OBJECT_ONLY,),
    )
    yield Statement(
        sid="KeepLongState",
        why="A checkpoint or a session too long for an item lies beside the passages; the agent reads it back.",
        actions=("s3:PutObject", "s3:GetObject"),
        resources=(f"{reach.names.archive_arn}/{STATE_OBJECT_PREFIX}*",),
    )
    yield Statement(
        sid="WriteAudit",
        why="Audit objects are written once, never read, changed or deleted, by the agent.",
        actions=("s3:PutObject",),
        resources=(f"{reach.names.audit_arn}/{AUDIT_OBJECT_PREFIX}*",),
        conditions=(NEW_OBJECT_ONLY,),
    )
    yield Statement(
        sid="NeverSpeakForPeople",
        why="What people decided and erased, people write: an agent that is taken over cannot forge it in the audit.",
        effect="Deny",
        actions=("s3:PutObject",),
        resources=tuple(
            f"{reach.names.audit_arn}/{prefix}*" for prefix in (DECISION_OBJECT_PREFIX, ERASURE_OBJECT_PREFIX)
        ),
    )
    if reach.reads_settings_object:
        yield Statement(
            sid="ReadSettings",
            why="The settings document is too long for a variable; each runtime version reads its own version of it.",
            actions=("s3:GetObjectVersion",),
            resources=(f"{reach.names.audit_arn}/{SETTINGS_OBJECT_PREFIX}*",),
        )


def _alerts(reach: Reach) -> Iterator[Statement]:
    yield Statement(
        sid="SendAlerts",
        why="The guard tells people about checkpoints and anomalies.",
        actions=("sns:Publish",),
        resources=(reach.names.alerts_arn,),
    )
    if reach.topic_has_key:
        yield Statement(
            sid="EncryptAlerts",
            why="The topic has a key of its own, which its alias names: the key's id is drawn by KMS.",
            actions=("kms:Decrypt", "kms:GenerateDataKey"),
            resources=(reach.names.place.arn("kms", "key/*"),),
            conditions=(
                Condition("ForAnyValue:StringEquals", "kms:ResourceAliases", (reach.names.alerts_alias,)),
                via_services(reach.names.place, "sns"),
            ),
        )
    if reach.webhook_secret_arn is not None:
        yield Statement(
            sid="ReadWebhook",
            why="Alerts go to a webhook whose address is a secret: the agent reads that one.",
            actions=("secretsmanager:GetSecretValue",),
            resources=(reach.webhook_secret_arn,),
        )


def _key(reach: Reach) -> Iterator[Statement]:
    if reach.kms_key_arn is not None:
        yield Statement(
            sid="UseTrailKey",
            why="Table, buckets and topic are encrypted with the environment's key; the secrets may be.",
            actions=("kms:Decrypt", "kms:GenerateDataKey"),
            resources=(reach.kms_key_arn,),
            conditions=(via_services(reach.names.place, "s3", "dynamodb", "sns", *_secrets(reach)),),
        )


def _secrets(reach: Reach) -> tuple[str, ...]:
    secrets = (reach.headers_secret_arn, reach.webhook_secret_arn)
    return () if secrets == (None, None) else ("secretsmanager",)
