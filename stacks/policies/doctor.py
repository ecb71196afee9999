"""State what `rastro doctor` reads: how the trail is set up, and no event of it."""

from __future__ import annotations

from collections.abc import Iterator

from agent_image.contract import LIVE_ENDPOINT
from stacks.policies.ground import Ground
from stacks.policies.statement import Statement


def examine(ground: Ground, role_arn: str) -> Iterator[Statement]:
    """Let somebody check that the trail is in force, and change nothing; `role_arn` is the agent's own role."""
    yield Statement(
        sid="ReadSpanSettings",
        why="Spans reach the log group only while Transaction Search is on; how many are indexed has a price.",
        actions=("xray:GetTraceSegmentDestination", "xray:GetIndexingRules"),
        resources=("*",),
        any_resource="The actions take no resource: both settings are the account's, one in each Region.",
    )
    yield Statement(
        sid="ReadLogSettings",
        why="X-Ray's right to write, each group's retention, class and key, and index policies are read as they are.",
        actions=("logs:DescribeResourcePolicies", "logs:DescribeLogGroups", "logs:DescribeIndexPolicies"),
        resources=("*",),
        any_resource="The actions take no resource: they list what the account has.",
    )
    yield Statement(
        sid="ReadTrailSettings",
        why="The masking policy is compared with what was declared; the last times of streams say what arrives.",
        actions=("logs:GetDataProtectionPolicy", "logs:DescribeLogStreams"),
        resources=ground.log_groups,
    )
    yield Statement(
        sid="ReadEndpoints",
        why="The live endpoint serves the declared version; DEFAULT is looked at because nobody should use it.",
        actions=("bedrock-agentcore:GetAgentRuntime", "bedrock-agentcore:GetAgentRuntimeEndpoint"),
        resources=(
            ground.runtime_arn,
            f"{ground.runtime_arn}/runtime-endpoint/{LIVE_ENDPOINT}",
            f"{ground.runtime_arn}/runtime-endpoint/DEFAULT",
        ),
    )
    yield Statement(
        sid="AskWhatTheRoleMay",
        why="IAM itself says whether the agent's role may let X-Ray in: no policy document is read.",
        actions=("iam:SimulatePrincipalPolicy",),
        resources=(role_arn,),
    )
    yield Statement(
        sid="MeasureDefault",
        why="Bytes and events of the DEFAULT endpoint's group are metrics: traffic is seen without reading it.",
        actions=("cloudwatch:GetMetricData",),
        resources=("*",),
        any_resource="Classic metrics have no resource.",
    )
