"""Build the alerts topic: its key, who may publish to it, and who gets mail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from stacks.framework import TerraformElement, TerraformStack, aws
from stacks.names import EnvironmentNames
from stacks.observability import watching
from stacks.policies import alerts
from stacks.policies.alerts import Publishers
from stacks.policies.statement import rendered
from stacks.settings.model import Environment

_AWS_KEY: Final = "alias/aws/sns"
_DELETED_AFTER_DAYS: Final = 7
"""The least that KMS waits before it deletes a key; the key encrypts nothing but messages on their way."""


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """Describe the topic of one environment.

    Attributes:
        kms_key_arn: the key that the environment brought.
        has_own_key: a key is made for the topic.
    """

    names: EnvironmentNames
    kms_key_arn: str | None
    has_own_key: bool
    publishers: Publishers
    emails: Sequence[str]


def plan_of(names: EnvironmentNames, declared: Environment) -> TopicPlan:
    """Take the topic from the settings."""
    return TopicPlan(
        names,
        kms_key_arn=declared.observability.kms_key_arn,
        has_own_key=watching.topic_has_key(declared),
        publishers=watching.publishers(declared),
        emails=declared.alarms.emails,
    )


@dataclass(frozen=True, slots=True)
class Topic:
    """Hold the topic, and everything that must be there before somebody publishes."""

    topic: Any
    parts: tuple[TerraformElement, ...]


def build(stack: TerraformStack, plan: TopicPlan) -> Topic:
    """Declare the topic and what belongs to it."""
    key, alias = _own_key(stack, plan) if plan.has_own_key else (None, None)
    topic = aws.sns_topic.SnsTopic(
        stack,
        "alerts",
        name=plan.names.alerts,
        kms_master_key_id=key.arn if key is not None else plan.kms_key_arn or _AWS_KEY,
    )
    parts = [part for part in (topic, key, alias) if part is not None]
    if plan.publishers.any:
        policy = rendered(alerts.topic(plan.names, plan.publishers))
        parts.append(aws.sns_topic_policy.SnsTopicPolicy(stack, "alerts-policy", arn=topic.arn, policy=policy))
    for number, address in enumerate(plan.emails, start=1):
        # Named by number, not by address: a state file and a plan then say no more than the settings do.
        aws.sns_topic_subscription.SnsTopicSubscription(
            stack, f"alerts-mail-{number}", topic_arn=topic.arn, protocol="email", endpoint=address
        )
    return Topic(topic, tuple(parts))


def _own_key(stack: TerraformStack, plan: TopicPlan) -> tuple[Any, Any]:
    key = aws.kms_key.KmsKey(
        stack,
        "alerts-key",
        description=f"Encrypts the alerts of environment {plan.names.environment}",
        policy=rendered(alerts.key(plan.names, plan.publishers)),
        enable_key_rotation=True,
        deletion_window_in_days=_DELETED_AFTER_DAYS,
    )
    alias = aws.kms_alias.KmsAlias(stack, "alerts-key-alias", name=plan.names.alerts_alias, target_key_id=key.key_id)
    return key, alias
