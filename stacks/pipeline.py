"""Build the roles of an account's pipeline: one deploys, one plans pull requests and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stacks.foundation import output
from stacks.framework import TerraformElement, TerraformStack, aws
from stacks.names import Does, pipeline_policy, pipeline_role
from stacks.policies import pipeline_trust
from stacks.policies.pipeline_ground import PipelineGround
from stacks.policies.pipeline_rights import parts, state_rights
from stacks.policies.pipeline_trust import AUDIENCE, ISSUER
from stacks.policies.statement import Statement, rendered
from stacks.settings.pipeline import Pipeline

_SESSION_SECONDS: Final = 3600


def build(stack: TerraformStack, pipeline: Pipeline, ground: PipelineGround) -> None:
    """Declare the identity provider, unless it exists, the rights, and the roles that have them."""
    after: list[TerraformElement] = []
    if pipeline.create_provider:
        provider = aws.iam_openid_connect_provider.IamOpenidConnectProvider(
            stack, "pipeline-provider", url=f"https://{ISSUER}", client_id_list=[AUDIENCE]
        )
        after.append(provider)
    policies = {
        part: aws.iam_policy.IamPolicy(
            stack,
            f"pipeline-{part}",
            name=pipeline_policy(ground.alias, part),
            description="A part of the rights of the pipeline",
            policy=rendered(statements),
        )
        for part, statements in parts(ground, "deploy").items()
    }
    why = "Jobs of the named environments and branches deploy; the token of any other job has another subject."
    trust = pipeline_trust.trust(ground.place, pipeline_trust.deployers(pipeline), why)
    _role(stack, pipeline, ground, does="deploy", trust=trust, policies=policies, after=after)
    if pipeline.plans:
        why = "Pull requests and branches plan what would change; the role reads settings, and changes none."
        trust = pipeline_trust.trust(ground.place, pipeline_trust.planners(pipeline), why)
        _role(stack, pipeline, ground, does="plan", trust=trust, policies=policies, after=after)


def _role(
    stack: TerraformStack,
    pipeline: Pipeline,
    ground: PipelineGround,
    *,
    does: Does,
    trust: tuple[Statement, ...],
    policies: Mapping[str, Any],
    after: list[TerraformElement],
) -> None:
    role = aws.iam_role.IamRole(
        stack,
        f"pipeline-{does}",
        name=pipeline_role(ground.alias, does),
        description=f"Taken over by jobs of {pipeline.repository} that {does}",
        assume_role_policy=rendered(trust),
        max_session_duration=_SESSION_SECONDS,
        permissions_boundary=pipeline.permissions_boundary_arn,
        depends_on=after or None,
    )
    for part in parts(ground, does):
        aws.iam_role_policy_attachment.IamRolePolicyAttachment(
            stack, f"pipeline-{does}-{part}", role=role.name, policy_arn=policies[part].arn
        )
    if states := state_rights(ground, does):
        aws.iam_role_policy.IamRolePolicy(
            stack, f"pipeline-{does}-state", name="state", role=role.name, policy=rendered(states)
        )
    output(stack, f"pipeline_{does}_role_arn", role.arn, f"Role of jobs that {does}")
