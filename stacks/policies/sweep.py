"""State what the schedule that sweeps may do: call the live endpoint, and nothing else."""

from __future__ import annotations

from agent_image.contract import LIVE_ENDPOINT
from stacks.names import EnvironmentNames
from stacks.policies.statement import Condition, Statement


def trust(names: EnvironmentNames) -> tuple[Statement, ...]:
    """Let EventBridge Scheduler assume the role, for the schedules of this environment's group alone."""
    return (
        Statement(
            sid="SchedulerAssumesRole",
            why="The schedule calls under this role; both conditions keep other schedules and accounts out.",
            service="scheduler.amazonaws.com",
            actions=("sts:AssumeRole",),
            conditions=(
                Condition("StringEquals", "aws:SourceAccount", (names.place.account_id,)),
                # The service names the group of a schedule as the source, not the schedule.
                Condition("ArnEquals", "aws:SourceArn", (names.sweep_group_arn,)),
            ),
        ),
    )


def permissions(runtime_arn: str) -> tuple[Statement, ...]:
    """Grant the one call; the ARN may be a reference."""
    return (
        Statement(
            sid="SweepLive",
            why="A call is authorised against the runtime and the endpoint, so both are named.",
            actions=("bedrock-agentcore:InvokeAgentRuntime",),
            resources=(runtime_arn, f"{runtime_arn}/runtime-endpoint/{LIVE_ENDPOINT}"),
        ),
    )
