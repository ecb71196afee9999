"""State what people may do with what is kept: passages, items of the table, objects of the audit."""

from __future__ import annotations

from collections.abc import Iterator

from agent_image.contract import (
    AUDIT_OBJECT_PREFIX,
    DECISION_OBJECT_PREFIX,
    ERASURE_OBJECT_PREFIX,
    PASSAGE_OBJECT_PREFIX,
    STATE_OBJECT_PREFIX,
    Item,
)
from stacks.policies.ground import Ground
from stacks.policies.kms import via_services
from stacks.policies.statement import NEW_OBJECT_ONLY, Condition, Statement, conditions_on_keys


def passages(ground: Ground) -> Iterator[Statement]:
    """Let somebody read archived passages."""
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


def audit(ground: Ground) -> Iterator[Statement]:
    """Let somebody read the audit."""
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


def anchors(ground: Ground) -> Iterator[Statement]:
    """Let somebody read what the audit has to agree with."""
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


def state(ground: Ground) -> Iterator[Statement]:
    """Let somebody read what was said, what waited and what was decided."""
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


def decide(ground: Ground) -> Iterator[Statement]:
    """Let somebody decide about what waits."""
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


def erase(ground: Ground) -> Iterator[Statement]:
    """Let somebody erase passages: in the archive, and in what is kept of sessions.

    What is rewritten are kinds of item that the agent itself writes; people's decisions are none of them.
    """
    yield Statement(
        sid="ErasePassages",
        why="An empty object takes the place of a passage, so that no writer brings it back.",
        actions=("s3:PutObject",),
        resources=(f"{ground.names.archive_arn}/{PASSAGE_OBJECT_PREFIX}*",),
    )
    yield Statement(
        sid="ReadSessions",
        why="Copies lie in conversations, in results that are kept for replay, and in those of checkpoints.",
        actions=("dynamodb:GetItem", "dynamodb:BatchGetItem"),
        resources=(ground.names.table_arn,),
        conditions=conditions_on_keys(f"{Item.SESSION}*", f"{Item.CHECKPOINT}*"),
    )
    yield Statement(
        sid="MarkErased",
        why="The mark tells whoever retrieves the passage again that it is not to be kept.",
        actions=("dynamodb:PutItem",),
        resources=(ground.names.table_arn,),
        conditions=conditions_on_keys(f"{Item.FINGERPRINT}*"),
    )
    yield Statement(
        sid="RewriteSessions",
        why="A session is held while its parts are written again without the words; so is a checkpoint's result.",
        actions=("dynamodb:PutItem",),
        resources=(ground.names.table_arn,),
        conditions=conditions_on_keys(f"{Item.SESSION}*", f"{Item.CHECKPOINT}*"),
    )
    yield Statement(
        sid="RewriteLongState",
        why="A part that is too long for an item lies in the archive bucket, under its digest.",
        actions=("s3:GetObject", "s3:PutObject"),
        resources=(f"{ground.names.archive_arn}/{STATE_OBJECT_PREFIX}*",),
    )
    yield Statement(
        sid="WriteErasureEvents",
        why="Each erasure is an event of the audit before it begins, in an object of its own that nobody writes twice.",
        actions=("s3:PutObject",),
        resources=(f"{ground.names.audit_arn}/{ERASURE_OBJECT_PREFIX}*",),
        conditions=(NEW_OBJECT_ONLY,),
    )


def use_key(ground: Ground, *actions: str) -> Iterator[Statement]:
    """Let somebody use the environment's key, where it has one, through the services alone."""
    if ground.kms_key_arn is not None:
        yield Statement(
            sid="UseTrailKey",
            why="Table and buckets are encrypted with the environment's key.",
            actions=tuple(f"kms:{action}" for action in actions),
            resources=(ground.kms_key_arn,),
            conditions=(via_services(ground.names.place, "s3", "dynamodb"),),
        )
