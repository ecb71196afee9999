"""Put a healthy account on loopback, and let the command ask it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from console.doctor.account import Found
from tests.console.doctor.healthy import (
    DISCOVERY,
    HEALTHY,
    INDEX,
    LIVE,
    MASKED,
    NOW,
    OUTPUT,
    POLICY,
    REGION,
    ROLE,
    SPANS,
    mask,
)
from tests.loopback.account import Answer, CloudAccount, Script, answering


def listed(key: str, *found: Found, size: int = 1) -> Script:
    """Answer with a list, page by page."""

    def answer(asked: Mapping[str, Any]) -> Answer:
        at = int(asked.get("nextToken") or asked.get("NextToken") or 0)
        page: dict[str, Any] = {key: [*found[at : at + size]]}
        if at + size < len(found):
            token = "NextToken" if key == "IndexingRules" else "nextToken"
            page[token] = str(at + size)
        return page

    return answer


def policies(asked: Mapping[str, Any]) -> Answer:
    """List the account's policies on two pages, and none of the group alone."""
    if asked.get("policyScope") == "RESOURCE":
        return {"resourcePolicies": []}
    other = {"policyName": "route53", "policyDocument": json.dumps({"Statement": []})}
    return listed("resourcePolicies", other, POLICY)(asked)


def groups(*found: Found) -> Script:
    return lambda asked: listed(
        "logGroups", *(one for one in found if one["logGroupName"].startswith(asked["logGroupNamePrefix"]))
    )(asked)


def streams(*found: Found) -> Script:
    return lambda asked: {
        "logStreams": [one for one in found if one["logStreamName"].startswith(asked.get("logStreamNamePrefix", ""))]
    }


def metric(events: float, size: float) -> Mapping[str, Any]:
    return {
        "MetricDataResults": [
            {"Id": f"m{number}", "Label": "x", "StatusCode": "Complete", "Values": [value, 0.0]}
            for number, value in enumerate((events, size))
        ]
    }


def endpoint(**changed: Any) -> Mapping[str, Any]:
    made = NOW.isoformat().replace("+00:00", "Z")
    return {
        "status": "READY",
        "liveVersion": "4",
        "targetVersion": "4",
        "createdAt": made,
        "lastUpdatedAt": made,
        "name": "live",
        "id": "live",
        "agentRuntimeArn": "a",
        "agentRuntimeEndpointArn": "b",
        **changed,
    }


def healthy(**changed: Any) -> CloudAccount:
    """Build the account that `HEALTHY` is what was gathered from; its rights go by `logs_StartQuery`."""
    assert isinstance(HEALTHY.identity, Mapping)
    discovery = {str(key): value for key, value in DISCOVERY.items()}
    answers: dict[str, Answer | Script] = {
        "ssm:GetParameter": {"Parameter": {"Name": "/rastro/prod", "Value": json.dumps(discovery)}},
        "sts:GetCallerIdentity": {**HEALTHY.identity, "UserId": "u"},
        "xray:GetTraceSegmentDestination": {"Destination": "CloudWatchLogs", "Status": "ACTIVE"},
        "xray:GetIndexingRules": listed(
            "IndexingRules",
            {"Name": "Other"},
            {"Name": "Default", "Rule": {"Probabilistic": {"DesiredSamplingPercentage": 1.0}}},
        ),
        "logs:DescribeResourcePolicies": policies,
        "logs:DescribeLogGroups": groups(LIVE),
        "logs:GetDataProtectionPolicy": mask(*MASKED),
        "logs:DescribeIndexPolicies": {"indexPolicies": [INDEX]},
        "logs:DescribeLogStreams": streams(SPANS, OUTPUT),
        "logs:StartQuery": {"queryId": "q"},
        "bedrock-agentcore:GetAgentRuntime": {
            "agentRuntimeVersion": "4",
            "roleArn": ROLE,
            "createdAt": NOW.isoformat(),
            "status": "READY",
        },
        "bedrock-agentcore:GetAgentRuntimeEndpoint": endpoint(),
        "cloudwatch:GetMetricData": metric(0.0, 0.0),
        "iam:SimulatePrincipalPolicy": {
            "EvaluationResults": [{"EvalActionName": "logs:PutResourcePolicy", "EvalDecision": "allowed"}],
            "IsTruncated": False,
        },
    }
    return CloudAccount({**answers, **{name.replace("_", ":", 1): answer for name, answer in changed.items()}})


@contextmanager
def deployed(monkeypatch: pytest.MonkeyPatch, account: CloudAccount) -> Iterator[CloudAccount]:
    """Put the account where boto3's clients look."""
    with answering(account), monkeypatch.context() as variables:
        variables.setenv("AWS_ENDPOINT_URL", account.url)
        variables.setenv("AWS_DEFAULT_REGION", REGION)
        yield account
