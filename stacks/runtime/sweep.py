"""Declare the schedule that tells the agent to sweep: to close what nobody answered, and to send what waits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent_image.contract import LIVE_ENDPOINT, Kind
from stacks.foundation import output
from stacks.framework import TerraformElement, TerraformStack, aws
from stacks.names import EnvironmentNames
from stacks.policies import sweep as policies
from stacks.policies.statement import rendered

CALL: Final = "aws-sdk:bedrockagentcore:invokeAgentRuntime"
"""The universal target of EventBridge Scheduler: the SDK's name of the service, and of the call."""
RETRIES: Final = 2
_LEAST_AGE_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Describe the schedule of one environment.

    Attributes:
        role_arn: the role that was brought; without it one is made.
        boundary_arn: the permissions boundary of every role that the stack makes.
    """

    names: EnvironmentNames
    every_minutes: int
    role_arn: str | None
    boundary_arn: str | None


def build(
    stack: TerraformStack, plan: SweepPlan, *, runtime: Any, after: Sequence[TerraformElement]
) -> TerraformElement:
    """Declare the schedule, in a group of its own, and its role; `after` stands before the first call."""
    names = plan.names
    group = aws.scheduler_schedule_group.SchedulerScheduleGroup(stack, "sweep-group", name=names.sweep)
    role_arn, waits = _role(stack, plan, runtime.agent_runtime_arn)
    bindings = aws.scheduler_schedule
    schedule: TerraformElement = bindings.SchedulerSchedule(
        stack,
        "sweep",
        name=names.sweep,
        group_name=group.name,
        description=f"Sweeps environment {names.environment}",
        schedule_expression=rate(plan.every_minutes),
        flexible_time_window=bindings.SchedulerScheduleFlexibleTimeWindow(mode="OFF"),
        target=bindings.SchedulerScheduleTarget(
            arn=f"arn:{names.place.partition}:scheduler:::{CALL}",
            role_arn=role_arn,
            input=request(names.environment, runtime.agent_runtime_arn),
            # What was missed is made up for by the next sweep: it finds all that is due.
            retry_policy=bindings.SchedulerScheduleTargetRetryPolicy(
                maximum_event_age_in_seconds=max(plan.every_minutes * 60, _LEAST_AGE_SECONDS),
                maximum_retry_attempts=RETRIES,
            ),
        ),
        depends_on=[*waits, *after],
    )
    return schedule


def _role(stack: TerraformStack, plan: SweepPlan, runtime_arn: str) -> tuple[str, tuple[TerraformElement, ...]]:
    """Make the role, or state what the one that was brought needs; give its ARN, and what a call must wait for."""
    names = plan.names
    trust, permissions = rendered(policies.trust(names)), rendered(policies.permissions(runtime_arn))
    if plan.role_arn is not None:
        output(stack, "sweep_role_trust_policy", trust, "Trust policy that the schedule's own role needs")
        output(stack, "sweep_role_permissions_policy", permissions, "Permissions policy that it needs")
        return plan.role_arn, ()
    role = aws.iam_role.IamRole(
        stack,
        "sweep-role",
        name=names.sweep,
        description=f"Lets a schedule sweep environment {names.environment}",
        assume_role_policy=trust,
        permissions_boundary=plan.boundary_arn,
    )
    policy = aws.iam_role_policy.IamRolePolicy(
        stack, "sweep-role-policy", name="sweep", role=role.name, policy=permissions
    )
    return role.arn, (policy,)


def rate(minutes: int) -> str:
    """Write how often, as the service reads it."""
    return f"rate({minutes} minute{'' if minutes == 1 else 's'})"


def request(environment: str, runtime_arn: str) -> str:
    """Write the call's parameters, named as the API names them with a capital letter in front.

    Each attempt is a session of its own, which the service's context attributes name: AWS draws an id for each. The
    session's id is long enough whatever they are.
    """
    return json.dumps(
        {
            "AgentRuntimeArn": runtime_arn,
            "Qualifier": LIVE_ENDPOINT,
            "RuntimeSessionId": (
                f"scheduled-sweep-of-environment-{environment}-"
                "<aws.scheduler.scheduled-time>-<aws.scheduler.execution-id>"
            ),
            "ContentType": "application/json",
            "Accept": "application/json",
            "Payload": json.dumps({Kind.SWEEP.value: True}, separators=(",", ":")),
        },
        separators=(",", ":"),
    )
