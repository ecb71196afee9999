"""Build the environment's table: checkpoints, decisions, sessions, known fingerprints and alerts to send."""

from __future__ import annotations

from typing import Any

from agent_image.contract import TABLE_EXPIRY, TABLE_KEY
from stacks.foundation import guarded
from stacks.framework import TerraformStack, aws


def build(stack: TerraformStack, *, name: str, kms_key_arn: str | None, keep: bool) -> Any:
    """Declare the table: on demand, encrypted, restorable to any second, closed items expiring by themselves."""
    return aws.dynamodb_table.DynamodbTable(
        stack,
        "table",
        name=name,
        billing_mode="PAY_PER_REQUEST",
        hash_key=TABLE_KEY,
        attribute=[aws.dynamodb_table.DynamodbTableAttribute(name=TABLE_KEY, type="S")],
        ttl={"attribute_name": TABLE_EXPIRY, "enabled": True},
        point_in_time_recovery={"enabled": True},
        server_side_encryption={"enabled": True, "kms_key_arn": kms_key_arn},
        deletion_protection_enabled=keep,
        lifecycle=guarded(keep=keep),
    )
