"""Build the environment's table: checkpoints, decisions, sessions, known fingerprints, alerts to send."""

from __future__ import annotations

from typing import Any

from agent_image.contract import DUE_KEY, OPEN_INDEX, QUEUE_KEY, TABLE_EXPIRY, TABLE_KEY
from stacks.foundation import guarded
from stacks.framework import TerraformStack, aws


def build(stack: TerraformStack, *, name: str, kms_key_arn: str | None, keep: bool) -> Any:
    """Declare the table: on demand, encrypted, restorable to any second, closed items expiring by themselves.

    Its one index is sparse and holds keys alone: an item is in it as long as somebody waits for it.
    """
    module = aws.dynamodb_table
    # Typed structures: of a plain mapping within a list the bindings drop the keys, and nobody is told.
    attributes = [module.DynamodbTableAttribute(name=key, type="S") for key in (TABLE_KEY, QUEUE_KEY, DUE_KEY)]
    waiting = module.DynamodbTableGlobalSecondaryIndex(
        name=OPEN_INDEX, hash_key=QUEUE_KEY, range_key=DUE_KEY, projection_type="KEYS_ONLY"
    )
    return module.DynamodbTable(
        stack,
        "table",
        name=name,
        billing_mode="PAY_PER_REQUEST",
        hash_key=TABLE_KEY,
        attribute=attributes,
        global_secondary_index=[waiting],
        ttl={"attribute_name": TABLE_EXPIRY, "enabled": True},
        point_in_time_recovery={"enabled": True},
        server_side_encryption={"enabled": True, "kms_key_arn": kms_key_arn},
        deletion_protection_enabled=keep,
        lifecycle=guarded(keep=keep),
    )
