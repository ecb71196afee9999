"""State what people may do: six managed policies to attach to the roles that people already have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent_image.contract import (
    AUDIT_OBJECT_PREFIX,
    DECISION_OBJECT_PREFIX,
    LIVE_ENDPOINT,
    PASSAGE_OBJECT_PREFIX,
    STATE_OBJECT_PREFIX,
    Item,
)
from stacks.names import EnvironmentNames
from stacks.policies.kms import via_services
from stacks.policies.statement import NEW_OBJECT_ONLY, Condition, Statement, conditions_on_keys


@dataclass(frozen=True, slots=True)
class Ground:
    """Name what people act on; the runtime's ARN may be a reference, all else follows from the settings."""

    names: EnvironmentNames
    runtime_arn: str
    kms_key_arn: str | None


@dataclass(frozen=True, slots=True)
class PersonPolicy:
    """Name one kind of person, say who that is, and list the statements."""

    person: str
    description: str
    statements: tuple[Statement, ...]


def policies(ground: Ground) -> tuple[PersonPolicy, ...]:
    """List the six kinds of people, from the least to the most."""
    return (
        PersonPolicy("invoker", "Calls the agent through its live endpoint.", tuple(_invoke(ground))),
        PersonPolicy(
            "investigator",
            "Queries the trail: masked text only, and no passages.",
            (*_query(ground), *_never_unmask(ground)),
        ),
        PersonPolicy(
            "reader", "Reads archived passages.", (*_discover(ground), *_passages(ground), *_key(ground, "Decrypt"))
        ),
        # Not the investigator: the audit holds texts, if redacted, where the trail holds none. Not break-glass alone:
        # checking the audit is a routine, and an alarm that rings every morning is heard by nobody.
        PersonPolicy(
            "auditor",
            "Reads and verifies the audit, and changes nothing.",
            (*_discover(ground), *_audit(ground), *_anchors(ground), *_key(ground, "Decrypt")),
        ),
        PersonPolicy(
            "approver",
            "Reads checkpoints, writes decisions, and resumes what was approved.",
            (*_discover(ground), *_decide(ground), *_invoke(ground), *_key(ground, "Decrypt", "GenerateDataKey")),
        ),
        PersonPolicy(
            "break-glass",
            "Reads everything in clear. Give it a role of its own, assumed in an incident, with an alarm on its use.",
            (
                *_query(ground),
                *_unmask(ground),
                *_passages(ground),
                *_audit(ground),
                *_state(ground),
                *_key(ground, "Decrypt"),
            ),
        ),
    )


def _invoke(ground: Ground) -> Iterator[Statement]:
    action = ("bedrock-agentcore:InvokeAgentRuntime",)
    yield Statement(
        sid="InvokeLive",
        why="A call is authorised against the runtime and the endpoint, so both are named.",
        actions=action,
        resources=(ground.runtime_arn, f"{ground.runtime_arn}/runtime-endpoint/{LIVE_ENDPOINT}"),
    )
    yield Statement(
        sid="NeverDefault",
        why="The service's own DEFAULT endpoint writes to a group that is neither masked nor kept as declared.",
        effect="Deny",
        actions=action,
        resources=(f"{ground.runtime_arn}/runtime-endpoint/DEFAULT",),
    )


def _discover(ground: Ground) -> Iterator[Statement]:
    yield Statement(
        sid="FindEnvironment",
        why="The discovery document says where the environment's parts are.",
        actions=("ssm:GetParameter",),
        resources=(ground.names.place.arn("ssm", f"parameter{ground.names.discovery}"),),
    )


def _query(ground: Ground) -> Iterator[Statement]:
    yield from _discover(ground)
    yield Statement(
        sid="QueryTrail",
        why="Spans and event lines are read through Logs Insights on the live endpoint's groups, old ones included.",
        actions=(
            "logs:StartQuery",
            "logs:GetQueryResults",
            "logs:FilterLogEvents",
            "logs:GetLogEvents",
            "logs:DescribeLogStreams",
        ),
        resources=_live_groups(ground),
    )
    yield Statement(
        sid="FollowQueries",
        why="What a query scanned is read back, and a query that costs too much is stopped.",
        actions=("logs:DescribeQueries", "logs:StopQuery"),
        resources=("*",),
        any_resource="The actions take no resource: a query is known by its id alone.",
    )
    yield Statement(
        sid="MeasureTrail",
        why="Ingested bytes and findings are metrics of the group.",
        actions=("cloudwatch:GetMetricData",),
        resources=("*",),
        any_resource="Classic metrics have no resource.",
    )


def _live_groups(ground: Ground) -> tuple[str, ...]:
    # Group actions take the name, stream actions what stands behind it. The pattern also reaches the group of a
    # runtime that was made anew under the same name: its trail is still to be read.
    group = ground.names.place.log_groups(ground.names.live_log_groups)
    return group, f"{group}:*"


def _never_unmask(ground: Ground) -> Iterator[Statement]:
    yield Statement(
        sid="NeverUnmask",
        why="An investigator works on masked events, whatever else is attached.",
        effect="Deny",
        actions=("logs:Unmask",),
        resources=_live_groups(ground),
    )


def _unmask(ground: Ground) -> Iterator[Statement]:
    yield Statement(
        sid="Unmask",
        why="In an incident somebody must be able to read what was masked.",
        actions=("logs:Unmask",),
        resources=_live_groups(ground),
    )


def _passages(ground: Ground) -> Iterator[Statement]:
    yield Statement(
        sid="ReadPassages",
        why="The archive holds each passage under its fingerprint.",
        actions=("s3:GetObject",),
        resources=(f"{ground.names.archive_arn}/{PASSAGE_OBJECT_PREFIX}*",),
    )
    yield Statement(
        sid="ReadFingerprints",
        why="A fingerprint's item tells an erased passage from one that was never stored.",
        actions=("dynamodb:GetItem", "dynamodb:BatchGetItem"),
        resources=(ground.names.table_arn,),
        conditions=conditions_on_keys(f"{Item.FINGERPRINT}*"),
    )


def _audit(ground: Ground) -> Iterator[Statement]:
    yield Statement(
        sid="ListAudit",
        why="The audit is read in the order of its objects.",
        actions=("s3:ListBucket",),
        resources=(ground.names.audit_arn,),
        conditions=(Condition("StringLike", "s3:prefix", (f"{AUDIT_OBJECT_PREFIX}*",)),),
    )
    yield Statement(
        sid="ReadAudit",
        why="The full audit says what the agent did and who let it.",
        actions=("s3:GetObject",),
        resources=(f"{ground.names.audit_arn}/{AUDIT_OBJECT_PREFIX}*",),
    )


def _anchors(ground: Ground) -> Iterator[Statement]:
    yield Statement(
        sid="ReadAnchors",
        why="A session's item says where its chain of events ends, a decision's item which event says the same.",
        actions=("dynamodb:GetItem", "dynamodb:BatchGetItem"),
        resources=(ground.names.table_arn,),
        conditions=conditions_on_keys(f"{Item.SESSION}*", f"{Item.DECISION}*"),
    )
    yield Statement(
        sid="NeverReadConversations",
        why="Beside a session's item lie its parts, what was said among them: no chain ends there.",
        effect="Deny",
        actions=("dynamodb:GetItem", "dynamodb:BatchGetItem"),
        resources=(ground.names.table_arn,),
        conditions=(Condition("ForAnyValue:StringLike", "dynamodb:LeadingKeys", (f"{Item.SESSION}*#*",)),),
    )


def _state(ground: Ground) -> Iterator[Statement]:
    yield Statement(
        sid="ReadState",
        why="In an incident somebody must see what was said, what waited and what was decided, as it was.",
        actions=("dynamodb:GetItem", "dynamodb:BatchGetItem"),
        resources=(ground.names.table_arn,),
        conditions=conditions_on_keys(f"{Item.CHECKPOINT}*", f"{Item.DECISION}*", f"{Item.SESSION}*"),
    )
    yield _list_waiting(ground)
    yield _read_long_state(ground)


def _list_waiting(ground: Ground) -> Statement:
    return Statement(
        sid="ListWaiting",
        why="The index lists the checkpoints that wait for somebody.",
        actions=("dynamodb:Query",),
        resources=(ground.names.open_index_arn,),
        conditions=conditions_on_keys(f"{Item.CHECKPOINT}*"),
    )


def _read_long_state(ground: Ground) -> Statement:
    return Statement(
        sid="ReadLongState",
        why="A checkpoint that is too long for an item lies in the archive bucket, under its digest.",
        actions=("s3:GetObject",),
        resources=(f"{ground.names.archive_arn}/{STATE_OBJECT_PREFIX}*",),
    )


def _decide(ground: Ground) -> Iterator[Statement]:
    yield Statement(
        sid="ReadCheckpoints",
        why="An approver reads the very action that waits, and what was decided before.",
        actions=("dynamodb:GetItem", "dynamodb:BatchGetItem"),
        resources=(ground.names.table_arn,),
        conditions=conditions_on_keys(f"{Item.CHECKPOINT}*", f"{Item.DECISION}*"),
    )
    yield _list_waiting(ground)
    yield _read_long_state(ground)
    yield Statement(
        sid="WriteDecisions",
        why="A decision is an item of its own, and approvers write nothing else.",
        actions=("dynamodb:PutItem",),
        resources=(ground.names.table_arn,),
        conditions=conditions_on_keys(f"{Item.DECISION}*"),
    )
    yield Statement(
        sid="WriteDecisionEvents",
        why="Each decision is an event of the audit, in an object of its own that nobody writes twice.",
        actions=("s3:PutObject",),
        resources=(f"{ground.names.audit_arn}/{DECISION_OBJECT_PREFIX}*",),
        conditions=(NEW_OBJECT_ONLY,),
    )


def _key(ground: Ground, *actions: str) -> Iterator[Statement]:
    if ground.kms_key_arn is not None:
        yield Statement(
            sid="UseTrailKey",
            why="Table and buckets are encrypted with the environment's key.",
            actions=tuple(f"kms:{action}" for action in actions),
            resources=(ground.kms_key_arn,),
            conditions=(via_services(ground.names.place, "s3", "dynamodb"),),
        )
