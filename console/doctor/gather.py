"""Ask AWS everything that the checks look at, at once, and keep the answers as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import boto3
from botocore.config import Config

from agent_image.contract import RUNTIME_LOG_GROUPS
from console.aws import told
from console.doctor.account import Account, Failed, Found
from console.doctor.arrival import SHARED_GROUP, STREAM, needs_search
from console.doctor.declared import DEFAULT_ENDPOINT, Declared
from console.doctor.default_traffic import DAYS, METRICS
from console.doctor.question import Client, answered, every, one, pages
from console.doctor.role_rights import role_rights
from console.progress import Progress, no_progress

THREADS: Final = 8
_CONFIG: Final = Config(
    connect_timeout=5,
    read_timeout=20,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=THREADS,
)
_SERVICES: Final = ("sts", "xray", "logs", "bedrock-agentcore-control", "cloudwatch", "iam")
_DAY_SECONDS: Final = 86_400
_LATEST: Final = 50
"""Streams that are looked at, those first that were written to last."""
_ASTRAY: Final = timedelta(days=1)
"""How far back spans are looked for in the shared group."""

Clients = Mapping[str, Client]


def gather(declared: Declared, asked_at: datetime, progress: Progress = no_progress) -> Account:
    """Ask every question; those that fail stand as such in the account.

    Raises:
        ConsoleError: no client can be made, for want of credentials or a Region.
    """
    with told("setting up the questions to AWS failed"):
        session = boto3.Session()
        # Making clients is not safe in several threads; using them is.
        clients = {name: session.client(name, region_name=declared.region, config=_CONFIG) for name in _SERVICES}
    try:
        with ThreadPoolExecutor(THREADS) as threads:
            asked = {
                name: threads.submit(question) for name, question in _questions(declared, clients, asked_at).items()
            }
            answers: dict[str, Any] = {}
            for number, (name, answer) in enumerate(asked.items(), start=1):
                progress(f"asking AWS: {number} of {len(asked)}")
                answers[name] = answer.result()
        account = Account(asked_at=asked_at, astray=None, **answers)
        if declared.to_cloudwatch and needs_search(account):
            progress(f"looking for spans in {SHARED_GROUP}")
            account = replace(account, astray=_astray(declared, clients["logs"], asked_at))
        return account
    finally:
        for client in clients.values():
            client.close()


def _questions(declared: Declared, clients: Clients, asked_at: datetime) -> dict[str, Callable[[], object]]:
    return {
        "identity": lambda: one("sts:GetCallerIdentity", clients["sts"].get_caller_identity),
        **_about_spans(clients["xray"]),
        **_about_policies(declared, clients["logs"]),
        **_about_group(declared, clients["logs"]),
        **_about_agent(declared, clients["bedrock-agentcore-control"]),
        "traffic": lambda: _traffic(declared, clients["cloudwatch"], asked_at),
        "role": lambda: role_rights(declared, clients["iam"], clients["bedrock-agentcore-control"]),
        "query": lambda: _query(declared, clients["logs"], asked_at),
    }


def _about_spans(xray: Client) -> dict[str, Callable[[], object]]:
    return {
        "destination": lambda: one("xray:GetTraceSegmentDestination", xray.get_trace_segment_destination),
        "indexing": lambda: every(
            "xray:GetIndexingRules", xray.get_indexing_rules, "IndexingRules", following="NextToken"
        ),
    }


def _about_policies(declared: Declared, logs: Client) -> dict[str, Callable[[], object]]:
    action, call, key = "logs:DescribeResourcePolicies", logs.describe_resource_policies, "resourcePolicies"
    own = {"policyScope": "RESOURCE", "resourceArn": declared.group_arn}
    return {
        "policies": lambda: every(action, call, key),
        "group_policies": lambda: _none_where_missing(every(action, call, key, **own)),
    }


def _about_group(declared: Declared, logs: Client) -> dict[str, Callable[[], object]]:
    name, groups = declared.log_group, "logs:DescribeLogGroups"
    streams, describe = "logs:DescribeLogStreams", logs.describe_log_streams
    runtime = f"{RUNTIME_LOG_GROUPS}{declared.runtime_id}-"
    return {
        "groups": lambda: every(groups, logs.describe_log_groups, "logGroups", logGroupNamePrefix=runtime),
        "shared": lambda: every(groups, logs.describe_log_groups, "logGroups", logGroupNamePrefix=SHARED_GROUP),
        "masking": lambda: one(
            "logs:GetDataProtectionPolicy", logs.get_data_protection_policy, logGroupIdentifier=name
        ),
        "index": lambda: _none_where_missing(
            every(
                "logs:DescribeIndexPolicies", logs.describe_index_policies, "indexPolicies", logGroupIdentifiers=[name]
            )
        ),
        "spans": lambda: _none_where_missing(
            every(streams, describe, "logStreams", logGroupName=name, logStreamNamePrefix=STREAM)
        ),
        "streams": lambda: _none_where_missing(_latest(streams, logs, name)),
    }


def _about_agent(declared: Declared, agents: Client) -> dict[str, Callable[[], object]]:
    action, runtime = "bedrock-agentcore:GetAgentRuntimeEndpoint", {"agentRuntimeId": declared.runtime_id}

    def endpoint(name: str) -> Callable[[], object]:
        return lambda: one(action, agents.get_agent_runtime_endpoint, **runtime, endpointName=name)

    return {
        "runtime": lambda: one("bedrock-agentcore:GetAgentRuntime", agents.get_agent_runtime, **runtime),
        "endpoint": endpoint(declared.endpoint),
        "default": endpoint(DEFAULT_ENDPOINT),
    }


def _none_where_missing(answer: tuple[Found, ...] | Failed) -> tuple[Found, ...] | Failed:
    """Take a group that is not there as one that has none: the check of the group says that it is not there."""
    return () if isinstance(answer, Failed) and answer.missing else answer


def _latest(action: str, logs: Client, group: str) -> tuple[Found, ...] | Failed:
    """Ask for the streams that were written to last, in one page."""

    def ask() -> tuple[Found, ...]:
        found = logs.describe_log_streams(logGroupName=group, orderBy="LastEventTime", descending=True, limit=_LATEST)
        return tuple(found.get("logStreams") or ())

    return answered(action, ask)


def _traffic(declared: Declared, cloudwatch: Client, asked_at: datetime) -> Mapping[str, float] | Failed:
    dimensions = [{"Name": "LogGroupName", "Value": declared.default_group}]
    queries = [
        {
            "Id": f"m{number}",
            "MetricStat": {
                "Metric": {"Namespace": "AWS/Logs", "MetricName": metric, "Dimensions": dimensions},
                "Period": _DAY_SECONDS,
                "Stat": "Sum",
            },
        }
        for number, metric in enumerate(METRICS)
    ]
    found = every(
        "cloudwatch:GetMetricData",
        cloudwatch.get_metric_data,
        "MetricDataResults",
        following="NextToken",
        MetricDataQueries=queries,
        StartTime=asked_at - timedelta(days=DAYS),
        EndTime=asked_at,
    )
    if isinstance(found, Failed):
        return found
    return {
        metric: sum(sum(result.get("Values") or ()) for result in found if result.get("Id") == f"m{number}")
        for number, metric in enumerate(METRICS)
    }


def _query(declared: Declared, logs: Client, asked_at: datetime) -> Found | Failed:
    """Start a query over one second, which reads next to nothing: it shows whether the caller may query at all."""
    moment = int(asked_at.timestamp())
    return one(
        "logs:StartQuery",
        logs.start_query,
        logGroupName=declared.log_group,
        startTime=moment - 1,
        endTime=moment,
        queryString="fields @timestamp | limit 1",
    )


def _astray(declared: Declared, logs: Client, asked_at: datetime) -> bool | Failed:
    """Look for one span of this agent in the group of all agents: its resource names the runtime."""
    found = answered(
        "logs:FilterLogEvents",
        lambda: any(
            True
            for _ in pages(
                logs.filter_log_events,
                "events",
                logGroupName=SHARED_GROUP,
                startTime=int((asked_at - _ASTRAY).timestamp() * 1000),
                filterPattern=f'"runtime/{declared.runtime_id}/"',
                limit=1,
            )
        ),
    )
    return False if isinstance(found, Failed) and found.missing else found
