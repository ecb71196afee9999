"""State what people may do with the trail: find it, query it, and who sees what is masked in it."""

from __future__ import annotations

from collections.abc import Iterator

from stacks.policies.ground import Ground
from stacks.policies.statement import Statement


def discover(ground: Ground) -> Iterator[Statement]:
    """Let somebody find the environment."""
    yield Statement(
        sid="FindEnvironment",
        why="The discovery document says where the environment's parts are.",
        actions=("ssm:GetParameter",),
        resources=(ground.names.place.arn("ssm", f"parameter{ground.names.discovery}"),),
    )


def query(ground: Ground) -> Iterator[Statement]:
    """Let somebody query the trail."""
    yield Statement(
        sid="QueryTrail",
        why="Spans and event lines are read through Logs Insights on the live endpoint's groups, old ones included.",
        actions=(
            "logs:StartQuery",
            "logs:GetQueryResults",
            "logs:GetLogRecord",
            "logs:FilterLogEvents",
            "logs:GetLogEvents",
            "logs:DescribeLogStreams",
        ),
        resources=ground.log_groups,
    )
    yield Statement(
        sid="FollowQueries",
        why="Saved queries are found, what one scanned is read back, and one that costs too much is stopped.",
        actions=("logs:DescribeQueries", "logs:DescribeQueryDefinitions", "logs:StopQuery"),
        resources=("*",),
        any_resource="The actions take no resource: a query is known by its id alone.",
    )
    yield Statement(
        sid="MeasureTrail",
        why="Ingested bytes and findings are metrics of the group.",
        actions=("cloudwatch:GetMetricData",),
        resources=("*",),
        any_resource="Classic metrics have no resource.",
    )


def watch(ground: Ground) -> Iterator[Statement]:
    """Let somebody see how the environment fares."""
    yield Statement(
        sid="SeeDashboard",
        why="The dashboard shows what alarms ring about, before any query reads the trail.",
        actions=("cloudwatch:GetDashboard",),
        resources=(ground.names.dashboard_arn,),
    )
    yield Statement(
        sid="SeeAlarms",
        why="The dashboard shows the alarms' states, and an alarm says which runbook to open.",
        actions=("cloudwatch:DescribeAlarms",),
        resources=(ground.names.alarm_arns,),
    )


def read_index_version(ground: Ground) -> Iterator[Statement]:
    """Let somebody see whether the index is still the one that was read."""
    if ground.knowledge_base_id is not None:
        yield Statement(
            sid="ReadIndexVersion",
            why="The last ingestion job of the knowledge base tells whether a passage was indexed anew since.",
            actions=("bedrock:ListDataSources", "bedrock:ListIngestionJobs"),
            resources=(ground.names.place.arn("bedrock", f"knowledge-base/{ground.knowledge_base_id}"),),
        )


def never_unmask(ground: Ground) -> Iterator[Statement]:
    """Keep somebody from seeing what is masked, whatever else is attached."""
    yield Statement(
        sid="NeverUnmask",
        why="Masked events stay masked to all but break-glass, whatever else is attached.",
        effect="Deny",
        actions=("logs:Unmask",),
        resources=ground.log_groups,
    )


def unmask(ground: Ground) -> Iterator[Statement]:
    """Let somebody see what is masked."""
    yield Statement(
        sid="Unmask",
        why="In an incident somebody must be able to read what was masked.",
        actions=("logs:Unmask",),
        resources=ground.log_groups,
    )
