"""Hold an account in which everything is as declared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from agent_image.contract import Discovery, Regime
from console.doctor.account import Account, Found, Ruled
from console.doctor.declared import Declared
from console.doctor.resource_policy import POLICY_NAME, wanted_policy

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
ACCOUNT_ID, REGION = "111122223333", "eu-central-1"
RUNTIME = "handbook-a1B2c3D4e5"
RUNTIME_ARN = f"arn:aws:bedrock-agentcore:{REGION}:{ACCOUNT_ID}:runtime/{RUNTIME}"
GROUP = f"/aws/bedrock-agentcore/runtimes/{RUNTIME}-live"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT_ID}:key/1"
ROLE = f"arn:aws:iam::{ACCOUNT_ID}:role/rastro-prod-agent"
MASKED = ("EmailAddress", "CpfCode-BR", "bare-cpf")
FIELDS = ("name", "attributes.rag.index_version")

DISCOVERY: Mapping[str, Any] = {
    Discovery.ENVIRONMENT: "prod",
    Discovery.ACCOUNT_ID: ACCOUNT_ID,
    Discovery.REGION: REGION,
    Discovery.CAPTURE: "archive",
    Discovery.RUNTIME_ID: RUNTIME,
    Discovery.RUNTIME_ARN: RUNTIME_ARN,
    Discovery.ENDPOINT: "live",
    Discovery.LOG_GROUP: GROUP,
    Discovery.DESTINATION: "cloudwatch",
    Discovery.RETENTION_DAYS: 30,
    Discovery.INDEXED_FIELDS: [*FIELDS],
    Discovery.MASKING: [*MASKED],
    Discovery.KMS_KEY: KEY,
    Discovery.LIVE_VERSION: "newest",
    Discovery.INDEXING_PERCENTAGE: 1.0,
    Discovery.ROLE_ARN: ROLE,
    Discovery.PUT_RESOURCE_POLICY: "any",
}

DECLARED = Declared(
    environment="prod",
    partition="aws",
    account_id=ACCOUNT_ID,
    region=REGION,
    regime=Regime.ARCHIVE,
    runtime_id=RUNTIME,
    runtime_arn=RUNTIME_ARN,
    endpoint="live",
    log_group=GROUP,
    destination="cloudwatch",
    retention_days=30,
    indexed_fields=frozenset(FIELDS),
    masking=frozenset(MASKED),
    kms_key_arn=KEY,
    live_version="newest",
    indexing_percentage=Decimal(1),
    manages_search=True,
    role_arn=ROLE,
    put_resource_policy="any",
)


def milliseconds(ago: timedelta) -> int:
    return int((NOW - ago).timestamp() * 1000)


def policy(document: Mapping[str, Any] | str, name: str = POLICY_NAME, **more: str) -> Found:
    text = document if isinstance(document, str) else json.dumps(document)
    return {"policyName": name, "policyDocument": text, **more}


def statement(**changed: Any) -> Mapping[str, Any]:
    """Give the wanted statement, in part another; None takes a key away."""
    (wanted,) = wanted_policy(DECLARED)["Statement"]
    return {key: value for key, value in {**wanted, **changed}.items() if value is not None}


def saying(*statements: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"Version": "2012-10-17", "Statement": [*statements]}


PATTERN = {"Name": "bare-cpf", "Regex": "[0-9]{3}"}


def mask(
    *names: str, also: tuple[str, ...] | None = None, patterns: tuple[Any, ...] = (PATTERN,), **operation: Any
) -> Found:
    """Give a masking policy: `names` are masked, and found unless `also` names others."""
    masked = operation or {"Deidentify": {"MaskConfig": {}}}
    document = {
        "Name": "rastro-prod",
        "Version": "2021-06-01",
        "Statement": [
            {
                "Sid": "audit",
                "DataIdentifier": cited(names if also is None else also),
                "Operation": {"Audit": {"FindingsDestination": {}}},
            },
            {"Sid": "mask", "DataIdentifier": cited(names), "Operation": masked},
        ],
        "Configuration": {"CustomDataIdentifier": [*patterns]},
    }
    return {"logGroupIdentifier": GROUP, "policyDocument": json.dumps(document)}


def cited(names: tuple[str, ...]) -> list[str]:
    return [name if name == "bare-cpf" else f"arn:aws:dataprotection::aws:data-identifier/{name}" for name in names]


def stream(name: str, ago: timedelta) -> Found:
    return {"logStreamName": name, "lastEventTimestamp": milliseconds(ago)}


SPANS = stream("spans", timedelta(minutes=4))
OUTPUT = stream("2026/11/30/[runtime-logs]1", timedelta(minutes=3))

LIVE: Found = {
    "logGroupName": GROUP,
    "creationTime": milliseconds(timedelta(days=20)),
    "retentionInDays": 30,
    "kmsKeyId": KEY,
    "dataProtectionStatus": "ACTIVATED",
    "logGroupClass": "STANDARD",
}

POLICY = policy(wanted_policy(DECLARED))
INDEX: Found = {"source": "LOG_GROUP", "policyDocument": json.dumps({"Fields": [*FIELDS]})}

HEALTHY = Account(
    asked_at=NOW,
    identity={"Arn": f"arn:aws:sts::{ACCOUNT_ID}:assumed-role/operator/ana", "Account": ACCOUNT_ID},
    destination={"Destination": "CloudWatchLogs", "Status": "ACTIVE"},
    indexing=({"Name": "Default", "Rule": {"Probabilistic": {"DesiredSamplingPercentage": 1.0}}},),
    policies=(POLICY,),
    group_policies=(),
    groups=(LIVE,),
    shared=(),
    masking=mask(*MASKED),
    index=(INDEX,),
    spans=(SPANS,),
    streams=(SPANS, OUTPUT),
    astray=None,
    runtime={
        "agentRuntimeVersion": "4",
        "roleArn": ROLE,
        "createdAt": NOW - timedelta(days=20, minutes=5),
    },
    endpoint={
        "status": "READY",
        "liveVersion": "4",
        "targetVersion": "4",
        "createdAt": NOW - timedelta(days=19, hours=23),
    },
    default={"status": "READY", "liveVersion": "4", "createdAt": NOW - timedelta(days=20, minutes=5)},
    traffic={"IncomingLogEvents": 0.0, "IncomingBytes": 0.0},
    role=Ruled("allowed"),
    query={"queryId": "q"},
)
