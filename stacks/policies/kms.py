"""State what a customer-managed key must allow, so that CloudWatch Logs can encrypt the agent's groups."""

from __future__ import annotations

import json
from typing import Any

from agent_image.contract import RUNTIME_LOG_GROUPS
from stacks.names import Place
from stacks.policies.statement import Condition


def key_policy_statement(place: Place) -> str:
    """Write the statement as JSON. Without it, creating the log group fails.

    `Resource` is `*` as in every key policy: it means the key itself.
    """
    statement: dict[str, Any] = {
        "Sid": "CloudWatchLogsEncryptsAgentGroups",
        "Effect": "Allow",
        "Principal": {"Service": f"logs.{place.region}.{place.dns_suffix}"},
        "Action": ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
        "Resource": "*",
        "Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": place.log_groups(f"{RUNTIME_LOG_GROUPS}*")}},
    }
    return json.dumps(statement, indent=2)


def via_services(place: Place, *services: str) -> Condition:
    """Limit a grant on a key to its use through AWS services: nobody needs the key itself."""
    hosts = tuple(f"{service}.{place.region}.{place.dns_suffix}" for service in services)
    return Condition("StringEquals", "kms:ViaService", hosts)
