"""State who else than the agent may publish to the alerts topic, and what the topic's key must allow for it.

A topic under AWS's own key `alias/aws/sns` takes nothing of CloudWatch: that key's policy names no service, nobody can
edit it, and an alarm's message is lost with a line in the alarm's history alone. So the topic has a key of its own, or
the environment's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from stacks.names import EnvironmentNames
from stacks.policies.statement import Condition, Statement, document

_THE_KEY = "In the policy of a key, * is that key."


@dataclass(frozen=True, slots=True)
class Publishers:
    """Say which services publish to the topic: alarms by their keys, and a budget."""

    alarms: tuple[str, ...] = ()
    budget: bool = False

    @property
    def any(self) -> bool:
        """Tell whether any service does."""
        return bool(self.alarms) or self.budget


def topic(names: EnvironmentNames, publishers: Publishers) -> tuple[Statement, ...]:
    """Let services publish; the agent may by its role, and nobody else is named."""
    return tuple(_topic(names, publishers))


def _topic(names: EnvironmentNames, publishers: Publishers) -> Iterator[Statement]:
    publish, on = ("sns:Publish",), (names.alerts_arn,)
    if publishers.alarms:
        yield Statement(
            sid="AlarmsTell",
            why="CloudWatch publishes when an alarm of this environment goes off, and no other one's.",
            service="cloudwatch.amazonaws.com",
            actions=publish,
            resources=on,
            conditions=_from(
                names, *(names.place.arn("cloudwatch", f"alarm:{names.alarm(key)}") for key in publishers.alarms)
            ),
        )
    if publishers.budget:
        yield Statement(
            sid="BudgetTells",
            why="AWS Budgets publishes when a share of this account's budget is reached.",
            service="budgets.amazonaws.com",
            actions=publish,
            resources=on,
            conditions=_from(names, _budgets(names)),
        )


def key(names: EnvironmentNames, publishers: Publishers) -> tuple[Statement, ...]:
    """State the policy of the topic's own key."""
    account = Statement(
        sid="AccountDecides",
        why="IAM says who may use and manage the key, as for the account's other keys; without it nobody could.",
        account=f"arn:{names.place.partition}:iam::{names.place.account_id}:root",
        actions=("kms:*",),
        resources=("*",),
        any_resource=_THE_KEY,
    )
    return (account, *key_for_publishers(names, publishers))


def key_for_publishers(names: EnvironmentNames, publishers: Publishers) -> tuple[Statement, ...]:
    """State what a key that encrypts the topic must allow for services to publish; the account's own right is none."""
    return tuple(_key(names, publishers))


def key_statements(names: EnvironmentNames, publishers: Publishers) -> str:
    """Write those statements as JSON, for a key that was brought."""
    return json.dumps(document(key_for_publishers(names, publishers))["Statement"], indent=2)


def _key(names: EnvironmentNames, publishers: Publishers) -> Iterator[Statement]:
    use = ("kms:Decrypt", "kms:GenerateDataKey*")
    if publishers.alarms:
        yield Statement(
            sid="AlarmsEncrypt",
            # No document says that CloudWatch tells KMS on whose behalf it asks: a condition might lose every alarm.
            why="CloudWatch asks KMS itself before it publishes; the topic's policy says which alarms may.",
            service="cloudwatch.amazonaws.com",
            actions=use,
            resources=("*",),
            any_resource=_THE_KEY,
        )
    if publishers.budget:
        yield Statement(
            sid="BudgetEncrypts",
            why="AWS Budgets asks KMS itself before it publishes.",
            service="budgets.amazonaws.com",
            actions=use,
            resources=("*",),
            any_resource=_THE_KEY,
            conditions=_from(names, _budgets(names)),
        )


def _budgets(names: EnvironmentNames) -> str:
    return f"arn:{names.place.partition}:budgets::{names.place.account_id}:*"


def _from(names: EnvironmentNames, *sources: str) -> tuple[Condition, ...]:
    return (
        Condition("StringEquals", "aws:SourceAccount", (names.place.account_id,)),
        Condition("ArnLike", "aws:SourceArn", sources),
    )
