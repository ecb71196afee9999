"""Say what must be granted by hand before the first deployment: all of it follows from the settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from stacks.names import names_of
from stacks.policies import execution_role, pipeline
from stacks.policies.kms import key_policy_statement
from stacks.policies.statement import document
from stacks.settings.load import EnvironmentSettings


@dataclass(frozen=True, slots=True)
class Grant:
    """Name where a document belongs, and hold it as JSON for people to read and paste."""

    to: str
    document: str


def needed(environment: EnvironmentSettings) -> list[Grant]:
    """List what the environment's own role, its deployers and its key must be given before anything is deployed."""
    return list(_needed(environment))


def _needed(environment: EnvironmentSettings) -> Iterator[Grant]:
    declared, place = environment.declared, names_of(environment).place
    if declared.role.arn is not None:
        permissions = document(execution_role.permissions(execution_role.reach_of(environment)))
        yield Grant(f"trust policy of {declared.role.arn}", _pretty(document(execution_role.trust(place))))
        yield Grant(f"permissions policy of {declared.role.arn}", _pretty(permissions))
    if declared.agent.artifact == "code":
        statements = pipeline.statements(place, environment.account.declared.kms_key_arn)
        yield Grant("permissions of whoever runs `make bundle` and `make deploy`", _pretty(document(statements)))
    if declared.observability.kms_key_arn is not None:
        yield Grant(f"statement in the policy of {declared.observability.kms_key_arn}", key_policy_statement(place))


def _pretty(built: object) -> str:
    return json.dumps(built, indent=2)
