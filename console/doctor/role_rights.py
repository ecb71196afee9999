"""Ask IAM whether the agent's role may let X-Ray in: its simulator, else the role's own policies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from console.doctor.account import Failed, RolePolicies, Ruled
from console.doctor.declared import Declared
from console.doctor.question import Client, answered, one
from console.doctor.role import ACTION


def role_rights(declared: Declared, iam: Client, agents: Client) -> Ruled | RolePolicies | Failed:
    """Ask about the role that the runtime has, or was declared with."""
    role = _role(declared, agents)
    if isinstance(role, Failed):
        return role
    ruled = answered("iam:SimulatePrincipalPolicy", lambda: _simulated(declared, iam, role))
    if isinstance(ruled, Failed) and ruled.denied:
        held = answered("iam:GetRole", lambda: _documents(iam, role))
        # The right that is easier to give is the one that is named.
        return ruled if isinstance(held, Failed) else held
    return ruled


def _role(declared: Declared, agents: Client) -> str | Failed:
    runtime = one("bedrock-agentcore:GetAgentRuntime", agents.get_agent_runtime, agentRuntimeId=declared.runtime_id)
    if not isinstance(runtime, Failed) and runtime.get("roleArn"):
        return str(runtime["roleArn"])
    if declared.role_arn:
        return declared.role_arn
    return runtime if isinstance(runtime, Failed) else Failed("bedrock-agentcore:GetAgentRuntime", "no roleArn")


def _simulated(declared: Declared, iam: Client, role: str) -> Ruled:
    found = iam.simulate_principal_policy(PolicySourceArn=role, ActionNames=[ACTION], ResourceArns=[declared.group_arn])
    result = (found.get("EvaluationResults") or [{}])[0]
    return Ruled(
        decision=str(result.get("EvalDecision") or "nothing"),
        by_organisation=(result.get("OrganizationsDecisionDetail") or {}).get("AllowedByOrganizations"),
        by_boundary=(result.get("PermissionsBoundaryDecisionDetail") or {}).get("AllowedByPermissionsBoundary"),
    )


def _documents(iam: Client, role: str) -> RolePolicies:
    name = role.rpartition("/")[2]
    boundary = iam.get_role(RoleName=name)["Role"].get("PermissionsBoundary", {}).get("PermissionsBoundaryArn")
    return RolePolicies(
        documents=(*_inline(iam, name), *_attached(iam, name)),
        boundary=None if boundary is None else _managed(iam, boundary),
    )


def _inline(iam: Client, role: str) -> Iterator[str]:
    for page in iam.get_paginator("list_role_policies").paginate(RoleName=role):
        for policy in page["PolicyNames"]:
            yield _text(iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"])


def _attached(iam: Client, role: str) -> Iterator[str]:
    for page in iam.get_paginator("list_attached_role_policies").paginate(RoleName=role):
        for policy in page["AttachedPolicies"]:
            yield _managed(iam, policy["PolicyArn"])


def _managed(iam: Client, arn: str) -> str:
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    return _text(iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"])


def _text(document: Any) -> str:  # noqa: ANN401 - boto3 decodes a document where it can, and leaves it as text where not
    return document if isinstance(document, str) else json.dumps(document)
