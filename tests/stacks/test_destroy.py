"""Destroying one environment leaves every other environment and the account alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tests.synthesis import Stack, Synthesis

NAME_ARGUMENTS = ("name", "bucket", "agent_runtime_name", "policy_name", "repository")


def physical_names(stack: Stack) -> set[tuple[str, str]]:
    """List the names that AWS knows, for resources that have one of their own."""
    return {
        (address.partition(".")[0], arguments[key])
        for address, arguments in stack.each()
        for key in NAME_ARGUMENTS
        if isinstance(arguments.get(key), str) and "${" not in arguments[key]
    }


def texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from texts(item)
        case dict():
            for item in value.values():
                yield from texts(item)


def account_of(stack: Stack) -> str:
    ((account_id,),) = (provider["allowed_account_ids"] for provider in stack.document["provider"]["aws"])
    return str(account_id)


def test_no_two_stacks_of_an_account_declare_the_same_thing(shipped: Synthesis) -> None:
    """A thing that two stacks declare would be removed by the first destroy."""
    # The inline policies and the endpoint belong to the roles and the runtime that each stack names anew.
    nested = {
        *(("aws_iam_role_policy", name) for name in ("agent", "sweep")),
        ("aws_bedrockagentcore_agent_runtime_endpoint", "live"),
    }
    for one, other in combinations(shipped.stacks.values(), 2):
        if account_of(one) == account_of(other):
            assert physical_names(one) & physical_names(other) <= nested, (one.name, other.name)


def test_staging_uses_nothing_of_dev_in_their_common_account(shipped: Synthesis) -> None:
    """Both live in sandbox, and no name of one appears in the other."""
    dev, staging = shipped["agent-dev"], shipped["agent-staging"]
    own = {name for _, name in physical_names(dev)} - {"agent", "live", "sweep"}
    read_by_staging = list(texts(staging.document))

    assert own
    assert not [name for name in own if any(name in text for text in read_by_staging)]


def test_what_environments_share_stands_in_the_account_stack(shipped: Synthesis) -> None:
    """Images and Transaction Search outlive any environment."""
    shared = {"aws_ecr_repository", "aws_cloudwatch_log_resource_policy", "aws_xray_trace_segment_destination"}
    for agent in shipped.agents:
        assert not {address.partition(".")[0] for address, _ in agent.each()} & shared
