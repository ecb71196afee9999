"""The agent's role reaches its own parts and nothing beyond them."""

from __future__ import annotations

import pytest

from agent_image.contract import Item
from stacks.policies import execution_role
from tests.stacks.grounds import REACH
from tests.synthesis import Json, Stack, Synthesis, by_sid, policy


def statements(stack: Stack) -> dict[str, Json]:
    return by_sid(policy(stack.resources("aws_iam_role_policy")["role-policy"]["policy"]))


@pytest.mark.parametrize("name", ["agent-dev", "agent-staging", "agent-prod"])
def test_trust_has_both_conditions(shipped: Synthesis, name: str) -> None:
    """Only AgentCore, and only on behalf of this account's agents."""
    stack = shipped[name]
    account = stack.document["provider"]["aws"][0]["allowed_account_ids"][0]

    (trust,) = policy(stack.resources("aws_iam_role")["role"]["assume_role_policy"])
    assert trust["Principal"] == {"Service": "bedrock-agentcore.amazonaws.com"}
    assert trust["Action"] == ["sts:AssumeRole"]
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": account},
        "ArnLike": {"aws:SourceArn": f"arn:aws:bedrock-agentcore:us-east-1:{account}:*"},
    }


def test_the_agent_s_role_is_denied_writing_decisions(shipped: Synthesis, variants: Synthesis) -> None:
    """An agent that is taken over cannot approve itself, by any of the ways to write an item."""
    for stack in [*shipped.agents, variants["agent-locked"]]:
        deny = statements(stack)["NeverDecide"]
        assert deny["Effect"] == "Deny"
        assert deny["Condition"] == {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": "decision#*"}}
        assert set(deny["Action"]) >= {
            f"dynamodb:{verb}" for verb in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert")
        }


def test_what_the_agent_may_write_names_every_item_but_decisions() -> None:
    """Allow and deny both say it: a mistake in one does not open the gate. The digest key is made, never updated."""
    allowed = {s.sid: s for s in execution_role.permissions(REACH)}["WriteOwnItems"]
    patterns = {value for condition in allowed.conditions for value in condition.values} - {"false"}

    assert patterns == {f"{item}*" for item in Item} - {"decision#*", "key#*"}
    assert {(c.operator, c.key) for c in allowed.conditions} == {
        ("ForAllValues:StringLike", "dynamodb:LeadingKeys"),
        ("Null", "dynamodb:LeadingKeys"),
    }


def test_the_agent_may_create_a_passage_and_never_replace_one(shipped: Synthesis) -> None:
    """An erased passage leaves an empty object: a role that could write over it could bring the words back."""
    found = statements(shipped.stacks["agent-prod"])["ArchivePassages"]

    assert found["Action"] == ["s3:PutObject"]
    assert found["Condition"] == {"Null": {"s3:if-none-match": "false"}}


def test_models_and_knowledge_base_are_the_declared_ones(shipped: Synthesis) -> None:
    """The inference profile and each model behind it; no model that nobody listed."""
    found = statements(shipped["agent-prod"])

    assert len(found["InvokeModels"]["Resource"]) == 4
    assert all(":foundation-model/" in arn or ":inference-profile/" in arn for arn in found["InvokeModels"]["Resource"])
    assert found["ReadKnowledgeBase"]["Resource"] == [
        "arn:aws:bedrock:us-east-1:444455556666:knowledge-base/PRODKB0001"
    ]


def test_every_logs_arn_lies_under_the_agent_s_own_prefix(shipped: Synthesis) -> None:
    """The pattern names the runtime, whose name holds no hyphen, so it reaches no other agent's group."""
    for stack in shipped.agents:
        runtime = stack.only("aws_bedrockagentcore_agent_runtime")["agent_runtime_name"]
        for sid in ("OwnLogGroups", "WriteLogs"):
            for arn in statements(stack)[sid]["Resource"]:
                assert f":log-group:/aws/bedrock-agentcore/runtimes/{runtime}-*" in arn


def test_the_role_holds_nothing_that_would_let_it_rise(shipped: Synthesis, variants: Synthesis) -> None:
    """No unmasking, no passing of roles, no running of agents, no reading of passages or of the audit."""
    forbidden = ("iam:", "sts:", "logs:Unmask", "bedrock-agentcore:Invoke", "bedrock-agentcore:Create", "s3:Delete")
    for stack in [*shipped.agents, variants["agent-locked"], variants["agent-long"]]:
        actions = [a for s in statements(stack).values() if s["Effect"] == "Allow" for a in s["Action"]]
        assert not [action for action in actions if action.startswith(forbidden)]
        granting = [s for s in statements(stack).values() if any(a.startswith("s3:Get") for a in s["Action"])]
        readable = {arn.rpartition(":")[2] for s in granting for arn in s["Resource"]}
        buckets = {name: bucket["bucket"] for name, bucket in stack.resources("aws_s3_bucket").items()}
        assert readable <= {f"{buckets['archive']}/state/*", f"{buckets['audit']}/settings/*"}
        assert f"{buckets['archive']}/state/*" in readable


def test_where_x_ray_is_let_in_is_a_switch(shipped: Synthesis, variants: Synthesis) -> None:
    """Any resource by default, with its reason; the agent's groups alone; or not at all."""
    assert statements(shipped["agent-prod"])["LetXRayIn"]["Resource"] == ["*"]
    assert statements(variants["agent-locked"])["LetXRayIn"]["Resource"] == [
        "arn:aws-us-gov:logs:us-gov-west-1:123456789012:log-group:/aws/bedrock-agentcore/runtimes/locked-*"
    ]
    assert "LetXRayIn" not in statements(variants["agent-long"])


def test_callers_with_tokens_keep_the_agent_from_speaking_for_a_user_by_name(variants: Synthesis) -> None:
    """The action is denied, not merely left out."""
    deny = statements(variants["agent-locked"])["NoUserByName"]

    assert deny["Effect"] == "Deny"
    assert deny["Action"] == ["bedrock-agentcore:GetWorkloadAccessTokenForUserId"]
    assert deny["Action"][0] not in statements(variants["agent-locked"])["OwnIdentity"]["Action"]


def test_a_role_that_was_brought_is_used_and_none_is_made(variants: Synthesis) -> None:
    """The policies it needs are outputs, from the same source as a role that is made."""
    stack = variants["agent-brought"]

    assert (
        stack.only("aws_bedrockagentcore_agent_runtime")["role_arn"]
        == "arn:aws:iam::777788889999:role/agents/brought-along"
    )
    assert not stack.resources("aws_iam_role")
    assert not stack.resources("aws_iam_role_policy")
    assert "AgentCoreAssumesRole" in by_sid(policy(stack.output("role_trust_policy")))
    assert "NeverDecide" in by_sid(policy(stack.output("role_permissions_policy")))


def test_a_boundary_bounds_the_role_that_is_made(shipped: Synthesis, variants: Synthesis) -> None:
    """Organisations that demand a boundary can name it."""
    locked = variants["agent-locked"].resources("aws_iam_role")["role"]
    prod = shipped["agent-prod"].resources("aws_iam_role")["role"]

    assert locked["permissions_boundary"].endswith(":policy/boundary")
    assert "permissions_boundary" not in prod


def test_the_role_s_whole_policy_is_known_before_the_deployment(shipped: Synthesis, variants: Synthesis) -> None:
    """Nothing in it refers to what only the deployment knows, so a plan shows it and a brought role can be given it."""
    for stack in [*shipped.agents, *variants.agents]:
        # The schedule's role names the one runtime that it calls: a pattern would reach every endpoint of it.
        for name, inline in stack.resources("aws_iam_role_policy").items():
            assert ("${" in inline["policy"]) is (name == "sweep-role-policy")
    assert "${" not in variants["agent-brought"].output("role_permissions_policy")


def test_the_role_names_the_very_resources_of_its_stack(shipped: Synthesis) -> None:
    """Names in the policy are written out; a rename of a resource must not leave them behind."""
    stack = shipped["agent-prod"]
    found, buckets = statements(stack), stack.resources("aws_s3_bucket")
    table = stack.only("aws_dynamodb_table")["name"]
    topic = stack.only("aws_sns_topic")["name"]

    (index,) = stack.only("aws_dynamodb_table")["global_secondary_index"]
    assert found["ReadItems"]["Resource"] == [f"arn:aws:dynamodb:us-east-1:444455556666:table/{table}"]
    assert found["ListWaiting"]["Resource"] == [f"{found['ReadItems']['Resource'][0]}/index/{index['name']}"]
    assert found["KeepLongState"]["Resource"] == [f"arn:aws:s3:::{buckets['archive']['bucket']}/state/*"]
    assert found["ArchivePassages"]["Resource"] == [f"arn:aws:s3:::{buckets['archive']['bucket']}/passages/*"]
    assert found["WriteAudit"]["Resource"] == [f"arn:aws:s3:::{buckets['audit']['bucket']}/audit/*"]
    assert found["SendAlerts"]["Resource"] == [f"arn:aws:sns:us-east-1:444455556666:{topic}"]


def test_no_stack_attaches_a_policy_that_is_not_ours(shipped: Synthesis, variants: Synthesis) -> None:
    """No *FullAccess, no managed policy of AWS's: what is attached is declared in the same stack."""
    for stack in [*shipped.stacks.values(), *variants.stacks.values()]:
        assert "FullAccess" not in str(stack.document)
        attached = stack.resources("aws_iam_role_policy_attachment").values()
        assert all(one["policy_arn"].startswith("${aws_iam_policy.") for one in attached)
