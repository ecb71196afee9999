"""Describe permissions as records: what may be done, to what, when, and one sentence why."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Condition:
    """State when a statement applies."""

    operator: str
    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """State one permission.

    Attributes:
        sid: names the statement within its policy.
        why: one sentence that a reviewer can check.
        service: the AWS service that it is for.
        account: the ARN of the root of the account that it is for; neither: whoever has the policy.
        federated: the ARN of the identity provider that it is for.
        any_resource: why the resource is `*`; required then, and only then.
    """

    sid: str
    why: str
    actions: tuple[str, ...]
    resources: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    effect: Literal["Allow", "Deny"] = "Allow"
    service: str | None = None
    account: str | None = None
    federated: str | None = None
    any_resource: str | None = None

    def __post_init__(self) -> None:
        """Refuse a `*` resource without its reason, and a reason without one."""
        if ("*" in self.resources) != (self.any_resource is not None):
            message = f"statement {self.sid}: a resource of * and its reason (any_resource) belong together"
            raise ValueError(message)


def conditions_on_keys(*prefixes: str) -> tuple[Condition, ...]:
    """Limit a statement to table items whose keys match the patterns.

    `ForAllValues` alone is also true of a request without keys, so the key must be there.
    """
    return (
        Condition("ForAllValues:StringLike", "dynamodb:LeadingKeys", prefixes),
        Condition("Null", "dynamodb:LeadingKeys", ("false",)),
    )


NEW_OBJECT_ONLY = Condition("Null", "s3:if-none-match", ("false",))
"""Limits a statement to requests that write where nothing lies, and never over what does."""


def document(statements: Iterable[Statement]) -> dict[str, Any]:
    """Build a policy document, statements in their order."""
    return {"Version": "2012-10-17", "Statement": [_statement(statement) for statement in statements]}


def rendered(statements: Iterable[Statement]) -> str:
    """Render a policy document as compact JSON, the form whose length AWS counts."""
    return json.dumps(document(statements), separators=(",", ":"))


def _statement(statement: Statement) -> dict[str, Any]:
    built: dict[str, Any] = {"Sid": statement.sid, "Effect": statement.effect}
    if statement.service is not None:
        built["Principal"] = {"Service": statement.service}
    if statement.account is not None:
        built["Principal"] = {"AWS": statement.account}
    if statement.federated is not None:
        built["Principal"] = {"Federated": statement.federated}
    built["Action"] = list(statement.actions)
    if statement.resources:
        built["Resource"] = list(statement.resources)
    if statement.conditions:
        built["Condition"] = _conditions(statement.conditions)
    return built


def _conditions(conditions: Iterable[Condition]) -> dict[str, dict[str, str | list[str]]]:
    built: dict[str, dict[str, str | list[str]]] = {}
    for condition in conditions:
        values = list(condition.values)
        built.setdefault(condition.operator, {})[condition.key] = values[0] if len(values) == 1 else values
    return built
