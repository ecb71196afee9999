"""Build the trail: the live endpoint's log group, how long it keeps events, what it masks and what it indexes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from stacks.foundation import guarded
from stacks.framework import TerraformElement, TerraformStack, aws
from stacks.observability import masking
from stacks.settings.model import Masking

_MASKING: Final = "masking"
_INDEX: Final = "index"
_MASKING_ADDRESS: Final = f"aws_cloudwatch_log_data_protection_policy.{_MASKING}"
_INDEX_ADDRESS: Final = f"aws_cloudwatch_log_index_policy.{_INDEX}"


@dataclass(frozen=True, slots=True)
class TrailPlan:
    """Describe the trail of one environment; the group's name may be a reference to the runtime."""

    environment: str
    group_name: str
    partition: str
    retention_days: int
    kms_key_arn: str | None
    masking: Masking
    indexed_fields: Sequence[str]
    keep: bool


@dataclass(frozen=True, slots=True)
class Trail:
    """Hold the group, everything that must stand before the first event, and the addresses that are not declared."""

    group: Any
    parts: tuple[TerraformElement, ...]
    undeclared: tuple[str, ...]


def build(stack: TerraformStack, plan: TrailPlan) -> Trail:
    """Declare group, masking and indexing.

    The class is STANDARD: the other classes have no field indexes. Masking and indexing act on events ingested after
    them, so the endpoint waits for all parts.
    """
    lifecycle = guarded(keep=plan.keep)
    group = aws.cloudwatch_log_group.CloudwatchLogGroup(
        stack,
        "log-group",
        name=plan.group_name,
        retention_in_days=plan.retention_days,
        kms_key_id=plan.kms_key_arn,
        log_group_class="STANDARD",
        skip_destroy=plan.keep,
        deletion_protection_enabled=plan.keep,
        lifecycle=lifecycle,
    )
    parts = [group]
    document = masking.document(
        name=f"rastro-{plan.environment}",
        partition=plan.partition,
        identifiers=plan.masking.identifiers,
        patterns=plan.masking.patterns,
    )
    if document is not None:
        parts.append(
            aws.cloudwatch_log_data_protection_policy.CloudwatchLogDataProtectionPolicy(
                stack,
                _MASKING,
                log_group_name=group.name,
                policy_document=masking.rendered(document),
                lifecycle=lifecycle,
            )
        )
    if plan.indexed_fields:
        parts.append(
            aws.cloudwatch_log_index_policy.CloudwatchLogIndexPolicy(
                stack,
                _INDEX,
                log_group_name=group.name,
                policy_document=json.dumps({"Fields": list(plan.indexed_fields)}, separators=(",", ":")),
                lifecycle=lifecycle,
            )
        )
    missing = {_MASKING_ADDRESS: document is None, _INDEX_ADDRESS: not plan.indexed_fields}
    return Trail(group, tuple(parts), tuple(address for address, absent in missing.items() if absent))
