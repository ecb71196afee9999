"""What the schedule and the agent may do for alerts, as IAM would answer them."""

from __future__ import annotations

import json

import pytest

from tests.simulator.simulator import Request, Verdict
from tests.simulator.world import World
from tests.synthesis import Synthesis

INVOKE = "bedrock-agentcore:InvokeAgentRuntime"
ALLOWED, DENIED = Verdict.ALLOWED, Verdict.DENIED


@pytest.fixture(scope="module")
def world(shipped: Synthesis) -> World:
    return World(shipped["agent-prod"])


def test_the_schedule_calls_the_live_endpoint_of_its_runtime_and_nothing_else(world: World) -> None:
    """Neither the endpoint that the service makes by itself, nor another runtime, nor anything but a call."""
    schedule = world.holder(world.stack.resources("aws_iam_role_policy")["sweep-role-policy"]["policy"])
    other = world.arn("bedrock-agentcore", "runtime/other-a1B2c3D4e5")
    asked = [
        (Request(INVOKE, world.runtime), ALLOWED),
        (Request(INVOKE, f"{world.runtime}/runtime-endpoint/live"), ALLOWED),
        (Request(INVOKE, f"{world.runtime}/runtime-endpoint/DEFAULT"), DENIED),
        (Request(INVOKE, other), DENIED),
        (Request(f"{INVOKE}ForUser", world.runtime), DENIED),
        (Request("bedrock-agentcore:StopRuntimeSession", world.runtime), DENIED),
    ]

    assert schedule.asks(request for request, _ in asked) == [verdict for _, verdict in asked]


@pytest.mark.parametrize("action", ["kms:Decrypt", "kms:GenerateDataKey"])
def test_the_agent_uses_the_topic_s_key_through_the_topic_alone(world: World, action: str) -> None:
    """Another key of the account has another alias, and nobody asks KMS for the key itself."""
    key, own = world.arn("kms", "key/1"), ["alias/rastro-prod-alerts"]
    sns, s3 = (f"{service}.us-east-1.amazonaws.com" for service in ("sns", "s3"))
    contexts: list[tuple[dict[str, str | list[str]], Verdict]] = [
        ({"kms:ResourceAliases": own, "kms:ViaService": sns}, ALLOWED),
        ({"kms:ResourceAliases": ["alias/other", *own], "kms:ViaService": sns}, ALLOWED),
        ({"kms:ResourceAliases": ["alias/rastro-dev-alerts"], "kms:ViaService": sns}, DENIED),
        ({"kms:ViaService": sns}, DENIED),
        ({"kms:ResourceAliases": own, "kms:ViaService": s3}, DENIED),
        ({"kms:ResourceAliases": own}, DENIED),
    ]

    # The key's own policy leaves it to IAM.
    policy = json.loads(world.stack.only("aws_kms_key")["policy"])
    verdicts = world.agent.asks(Request(action, key, context, policy) for context, _ in contexts)
    assert verdicts == [verdict for _, verdict in contexts]


def test_the_agent_manages_no_key_and_no_alarm(world: World) -> None:
    """An agent that is taken over cannot silence what watches it."""
    own: dict[str, str | list[str]] = {
        "kms:ResourceAliases": ["alias/rastro-prod-alerts"],
        "kms:ViaService": "sns.us-east-1.amazonaws.com",
    }
    asked = [
        *(Request(f"kms:{verb}", world.arn("kms", "key/1"), own) for verb in ("DisableKey", "PutKeyPolicy")),
        Request("kms:ScheduleKeyDeletion", world.arn("kms", "key/1"), own),
        Request("cloudwatch:DeleteAlarms", world.arn("cloudwatch", "alarm:rastro-prod-dead_trail")),
        Request("cloudwatch:DisableAlarmActions", world.arn("cloudwatch", "alarm:rastro-prod-dead_trail")),
        Request("logs:DeleteMetricFilter", world.group("live")),
        Request("sns:SetTopicAttributes", world.arn("sns", "rastro-prod-alerts")),
        Request("sns:Unsubscribe", world.arn("sns", "rastro-prod-alerts")),
        Request("scheduler:DeleteSchedule", world.arn("scheduler", "schedule/rastro-prod-sweep/rastro-prod-sweep")),
    ]

    assert set(world.agent.asks(asked)) == {DENIED}
