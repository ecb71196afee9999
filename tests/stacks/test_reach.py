"""Everything that the role and each kind of person reach, written out once: a change of any right is seen here."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from itertools import permutations

from agent_image.contract import Item
from stacks.policies import alerts, execution_role, people, pipeline, sweep
from stacks.policies.alerts import Publishers
from stacks.policies.statement import Statement
from tests.stacks.grounds import (
    ALERTS,
    CODE_REACH,
    GROUND,
    KEY,
    KEY_OF_TOPIC,
    NAMES,
    PLACE,
    REACH,
    ROLE_ARN,
    RUNTIME_ARN,
    SECRET,
    WEBHOOK,
    every_statement,
)


def by_resource(found: Iterable[Statement], effect: str) -> dict[str, set[str]]:
    """List what is allowed, or denied, by the resource that it is done to."""
    listed: defaultdict[str, set[str]] = defaultdict(set)
    for statement in found:
        for resource in statement.resources if statement.effect == effect else ():
            listed[resource].update(statement.actions)
    return dict(listed)


GROUPS = PLACE.log_groups("/aws/bedrock-agentcore/runtimes/handbook-*")
GROUP, ITEMS = f"{GROUPS}-live", PLACE.arn("dynamodb", "table/rastro-prod-state")
WAITING = f"{ITEMS}/index/open"
ARCHIVE, AUDIT = (f"arn:aws:s3:::rastro-prod-{name}-111122223333-us-east-1" for name in ("archive", "audit"))
DIRECTORY = PLACE.arn("bedrock-agentcore", "workload-identity-directory/default")
DECIDING = {
    *("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"),
    *("dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate", "dynamodb:PartiQLDelete"),
}
TOKENS = {f"bedrock-agentcore:GetWorkloadAccessToken{suffix}" for suffix in ("", "ForJWT", "ForUserId")}
DISCOVER = {PLACE.arn("ssm", "parameter/rastro/prod"): {"ssm:GetParameter"}}
CALL = {"bedrock-agentcore:InvokeAgentRuntime"}
INVOKE = {RUNTIME_ARN: CALL, f"{RUNTIME_ARN}/runtime-endpoint/live": CALL}
NEVER_DEFAULT = {f"{RUNTIME_ARN}/runtime-endpoint/DEFAULT": CALL}
READ_GROUP = {
    *("logs:StartQuery", "logs:GetQueryResults", "logs:GetLogRecord", "logs:FilterLogEvents", "logs:GetLogEvents"),
    "logs:DescribeLogStreams",
}
UNMASK = {"logs:Unmask"}
NEVER_UNMASK = {GROUP: UNMASK, f"{GROUP}:*": UNMASK}
READ_INDEX_VERSION = {
    PLACE.arn("bedrock", "knowledge-base/KB00000001"): {"bedrock:ListDataSources", "bedrock:ListIngestionJobs"}
}
QUERY = {GROUP: READ_GROUP, f"{GROUP}:*": READ_GROUP}
ANY_QUERY = {
    "*": {"logs:DescribeQueries", "logs:DescribeQueryDefinitions", "logs:StopQuery", "cloudwatch:GetMetricData"}
}
WATCH = {
    "arn:aws:cloudwatch::111122223333:dashboard/rastro-prod": {"cloudwatch:GetDashboard"},
    PLACE.arn("cloudwatch", "alarm:rastro-prod-*"): {"cloudwatch:DescribeAlarms"},
}
DECRYPT = {KEY: {"kms:Decrypt"}}
USE_KEY = {KEY: {"kms:Decrypt", "kms:GenerateDataKey"}}
PASSAGES = {f"{ARCHIVE}/passages/*": {"s3:GetObject"}}
GET_ITEMS = {"dynamodb:GetItem", "dynamodb:BatchGetItem"}
LIST_WAITING = {WAITING: {"dynamodb:Query"}}
STATE = {f"{ARCHIVE}/state/*": {"s3:GetObject"}}
READ_AUDIT = {AUDIT: {"s3:ListBucket"}, f"{AUDIT}/audit/*": {"s3:GetObject"}}
ROLE_ALLOWED = {
    PLACE.arn("ecr", "repository/rastro-agent"): {"ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"},
    "*": {
        "ecr:GetAuthorizationToken",
        "logs:PutResourcePolicy",
        *("xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets"),
        "cloudwatch:PutMetricData",
    },
    PLACE.log_groups("*"): {"logs:DescribeLogGroups"},
    GROUPS: {"logs:CreateLogGroup", "logs:DescribeLogStreams"},
    f"{GROUPS}:log-stream:*": {"logs:CreateLogStream", "logs:PutLogEvents"},
    DIRECTORY: TOKENS,
    f"{DIRECTORY}/workload-identity/handbook-*": TOKENS,
    REACH.models[0]: {"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"},
    PLACE.arn("bedrock", "knowledge-base/KB00000001"): {
        *("bedrock:Retrieve", "bedrock:ListDataSources", "bedrock:ListIngestionJobs"),
    },
    ITEMS: {*GET_ITEMS, "dynamodb:PutItem", "dynamodb:UpdateItem"},
    **LIST_WAITING,
    f"{ARCHIVE}/passages/*": {"s3:PutObject"},
    f"{ARCHIVE}/state/*": {"s3:PutObject", "s3:GetObject"},
    f"{AUDIT}/settings/*": {"s3:GetObjectVersion"},
    f"{AUDIT}/audit/*": {"s3:PutObject"},
    PLACE.arn("sns", "rastro-prod-alerts"): {"sns:Publish"},
    SECRET: {"secretsmanager:GetSecretValue"},
    WEBHOOK: {"secretsmanager:GetSecretValue"},
    **USE_KEY,
}
PEOPLE_ALLOWED: dict[str, dict[str, set[str]]] = {
    "invoker": INVOKE,
    "investigator": {**DISCOVER, **QUERY, **ANY_QUERY, **WATCH, **READ_INDEX_VERSION},
    "reader": {**DISCOVER, **PASSAGES, ITEMS: GET_ITEMS, **DECRYPT},
    "auditor": {**DISCOVER, **READ_AUDIT, ITEMS: GET_ITEMS, **DECRYPT},
    "approver": {
        **DISCOVER,
        ITEMS: {*GET_ITEMS, "dynamodb:PutItem"},
        **LIST_WAITING,
        **STATE,
        f"{AUDIT}/audit/decisions/*": {"s3:PutObject"},
        **INVOKE,
        **USE_KEY,
    },
    "doctor": {
        **DISCOVER,
        "*": {
            *("xray:GetTraceSegmentDestination", "xray:GetIndexingRules", "cloudwatch:GetMetricData"),
            *("logs:DescribeResourcePolicies", "logs:DescribeLogGroups", "logs:DescribeIndexPolicies"),
        },
        **{arn: {"logs:GetDataProtectionPolicy", "logs:DescribeLogStreams"} for arn in (GROUP, f"{GROUP}:*")},
        **{
            arn: {"bedrock-agentcore:GetAgentRuntime", "bedrock-agentcore:GetAgentRuntimeEndpoint"}
            for arn in (RUNTIME_ARN, *(f"{RUNTIME_ARN}/runtime-endpoint/{name}" for name in ("live", "DEFAULT")))
        },
        ROLE_ARN: {"iam:SimulatePrincipalPolicy"},
    },
    "eraser": {
        **DISCOVER,
        **QUERY,
        **ANY_QUERY,
        f"{ARCHIVE}/passages/*": {"s3:GetObject", "s3:PutObject"},
        f"{ARCHIVE}/state/*": {"s3:GetObject", "s3:PutObject"},
        ITEMS: {*GET_ITEMS, "dynamodb:PutItem"},
        f"{AUDIT}/audit/erasures/*": {"s3:PutObject"},
        **USE_KEY,
    },
    "break-glass": {
        **DISCOVER,
        **READ_INDEX_VERSION,
        **{arn: {*READ_GROUP, *UNMASK} for arn in (GROUP, f"{GROUP}:*")},
        **ANY_QUERY,
        **WATCH,
        **PASSAGES,
        ITEMS: GET_ITEMS,
        **LIST_WAITING,
        **STATE,
        **READ_AUDIT,
        **DECRYPT,
    },
}
PEOPLE_DENIED: dict[str, dict[str, set[str]]] = {
    "invoker": NEVER_DEFAULT,
    "investigator": NEVER_UNMASK,
    "reader": NEVER_UNMASK,
    "auditor": {ITEMS: GET_ITEMS, **NEVER_UNMASK},
    "approver": NEVER_DEFAULT,
    "doctor": NEVER_UNMASK,
    "eraser": NEVER_UNMASK,
    "break-glass": {},
}


def test_the_agent_s_role_reaches_this_and_no_more() -> None:
    """A new right, a wider resource and a right that is gone are each seen here."""
    assert by_resource(execution_role.permissions(REACH), "Allow") == ROLE_ALLOWED
    assert by_resource(execution_role.permissions(REACH), "Deny") == {
        ITEMS: DECIDING,
        f"{AUDIT}/audit/decisions/*": {"s3:PutObject"},
        f"{AUDIT}/audit/erasures/*": {"s3:PutObject"},
    }


def test_a_role_that_runs_code_pulls_no_image_and_proves_no_identity() -> None:
    """As in AWS's own role for direct code deployment; the bundle is not read under this role either."""
    of_images = {PLACE.arn("ecr", "repository/rastro-agent"), DIRECTORY, f"{DIRECTORY}/workload-identity/handbook-*"}
    expected = {resource: actions for resource, actions in ROLE_ALLOWED.items() if resource not in of_images}
    expected["*"] = expected["*"] - {"ecr:GetAuthorizationToken"}

    assert by_resource(execution_role.permissions(CODE_REACH), "Allow") == expected


def test_a_topic_with_a_key_of_its_own_gives_the_agent_that_key_through_the_topic_alone() -> None:
    """The key's id is drawn by KMS: its alias names it, and no other key of the account has that alias."""
    expected = {resource: actions for resource, actions in ROLE_ALLOWED.items() if resource != KEY}
    keys = PLACE.arn("kms", "key/*")
    (statement,) = [s for s in execution_role.permissions(KEY_OF_TOPIC) if keys in s.resources]

    assert by_resource(execution_role.permissions(KEY_OF_TOPIC), "Allow") == {**expected, keys: USE_KEY[KEY]}
    assert [(c.operator, c.key, c.values) for c in statement.conditions] == [
        ("ForAnyValue:StringEquals", "kms:ResourceAliases", ("alias/rastro-prod-alerts",)),
        ("StringEquals", "kms:ViaService", ("sns.us-east-1.amazonaws.com",)),
    ]


def test_a_schedule_calls_the_live_endpoint_and_nothing_else() -> None:
    """It may not even call the endpoint that the service makes by itself."""
    assert by_resource(sweep.permissions(RUNTIME_ARN), "Allow") == INVOKE


def test_the_schedule_s_role_is_for_the_schedules_of_this_environment() -> None:
    """Any other schedule of the account would sweep, too, or worse: the role calls the agent."""
    (statement,) = sweep.trust(NAMES)

    assert (statement.service, statement.actions) == ("scheduler.amazonaws.com", ("sts:AssumeRole",))
    assert [(c.operator, c.key, c.values) for c in statement.conditions] == [
        ("StringEquals", "aws:SourceAccount", ("111122223333",)),
        ("ArnEquals", "aws:SourceArn", ("arn:aws:scheduler:us-east-1:111122223333:schedule-group/rastro-prod-sweep",)),
    ]


def test_services_publish_to_the_topic_for_this_environment_alone() -> None:
    """Each alarm by its name, and budgets of this account; who is not there is not named."""
    topic = PLACE.arn("sns", "rastro-prod-alerts")
    found = {s.service: {c.key: c.values for c in s.conditions} for s in alerts.topic(NAMES, ALERTS)}

    assert by_resource(alerts.topic(NAMES, ALERTS), "Allow") == {topic: {"sns:Publish"}}
    assert found == {
        "cloudwatch.amazonaws.com": {
            "aws:SourceAccount": ("111122223333",),
            "aws:SourceArn": (
                "arn:aws:cloudwatch:us-east-1:111122223333:alarm:rastro-prod-loop_rate",
                "arn:aws:cloudwatch:us-east-1:111122223333:alarm:rastro-prod-dead_trail",
            ),
        },
        "budgets.amazonaws.com": {
            "aws:SourceAccount": ("111122223333",),
            "aws:SourceArn": ("arn:aws:budgets::111122223333:*",),
        },
    }
    assert [s.service for s in alerts.topic(NAMES, Publishers(budget=True))] == ["budgets.amazonaws.com"]
    assert alerts.topic(NAMES, Publishers()) == ()


def test_the_topic_s_key_lets_publishers_encrypt_and_the_account_decide() -> None:
    """CloudWatch asks KMS itself: without its statement, each message of an alarm is lost."""
    found = [(s.service or s.account, s.actions) for s in alerts.key(NAMES, ALERTS)]
    use = ("kms:Decrypt", "kms:GenerateDataKey*")

    assert found == [
        ("arn:aws:iam::111122223333:root", ("kms:*",)),
        ("cloudwatch.amazonaws.com", use),
        ("budgets.amazonaws.com", use),
    ]
    brought = json.loads(alerts.key_statements(NAMES, ALERTS))
    assert [statement["Principal"] for statement in brought] == [
        {"Service": "cloudwatch.amazonaws.com"},
        {"Service": "budgets.amazonaws.com"},
    ]


def test_whoever_builds_and_deploys_reaches_the_one_bundle() -> None:
    """AgentCore reads the bundle with the rights of its caller; a key of the account's is used through S3 alone."""
    bundle = "arn:aws:s3:::rastro-bundles-111122223333-us-east-1/agent.zip"
    actions = {"s3:PutObject", "s3:GetObject", "s3:GetObjectVersion"}

    assert by_resource(pipeline.statements(PLACE, KEY), "Allow") == {bundle: actions, **USE_KEY}
    assert by_resource(pipeline.statements(PLACE, None), "Allow") == {bundle: actions}


TABLES = {
    f"dynamodb:{action}"
    for action in (
        *("CreateTable", "DescribeTable", "UpdateTable", "TagResource", "ListTagsOfResource"),
        *("DescribeContinuousBackups", "UpdateContinuousBackups", "DescribeTimeToLive", "UpdateTimeToLive"),
    )
}
"""Actions on a table, which reach none of its items: those of a pipeline that declares it."""


def reaches_items(statement: Statement) -> bool:
    """Take every action that is not known to be on the table alone for one on its items."""
    actions = {action for action in statement.actions if action.startswith("dynamodb:")}
    return statement.effect == "Allow" and bool(actions - TABLES)


def test_no_person_reaches_the_key_of_the_digests() -> None:
    """Whoever held it could try texts against the digests in the trail; the agent alone reads it and makes it."""
    reaching = {
        (owner, statement.sid)
        for owner, statement in every_statement()
        if reaches_items(statement)
        if any(f"{Item.KEY}*" in condition.values for condition in statement.conditions) or not statement.conditions
    }

    assert reaching == {("execution role", "ReadItems"), ("execution role", "MakeDigestKey")}


def test_a_person_reaches_this_and_no_more() -> None:
    """Each kind of person by itself; what is denied is denied on the very resource that it would be done to."""
    found = {person.person: person.statements for person in people.policies(GROUND)}

    assert {person: by_resource(held, "Allow") for person, held in found.items()} == PEOPLE_ALLOWED
    assert {person: by_resource(held, "Deny") for person, held in found.items()} == PEOPLE_DENIED


def test_items_are_reached_by_their_prefixes_alone() -> None:
    """Whoever reads or writes the table is held to some kinds of item, and a request without keys is refused."""
    keys = "dynamodb:LeadingKeys"
    found = {
        (owner, statement.sid): {(c.operator, c.key): c.values for c in statement.conditions}
        for owner, statement in every_statement()
        if reaches_items(statement)
    }

    assert {key: held.pop(("ForAllValues:StringLike", keys)) for key, held in found.items()} == {
        ("execution role", "ReadItems"): (
            *("checkpoint#*", "decision#*", "session#*", "fingerprint#*", "outbox#*", "key#*"),
        ),
        ("execution role", "ListWaiting"): ("checkpoint#*", "outbox#*"),
        ("execution role", "WriteOwnItems"): ("checkpoint#*", "session#*", "fingerprint#*", "outbox#*"),
        ("execution role", "MakeDigestKey"): ("key#*",),
        ("reader", "ReadFingerprints"): ("fingerprint#*",),
        ("approver", "ReadCheckpoints"): ("checkpoint#*", "decision#*"),
        ("approver", "ListWaiting"): ("checkpoint#*",),
        ("approver", "WriteDecisions"): ("decision#*",),
        ("auditor", "ReadAnchors"): ("session#*", "decision#*"),
        ("eraser", "ReadFingerprints"): ("fingerprint#*",),
        ("eraser", "ReadSessions"): ("session#*", "checkpoint#*"),
        ("eraser", "MarkErased"): ("fingerprint#*",),
        ("eraser", "RewriteSessions"): ("session#*", "checkpoint#*"),
        ("break-glass", "ReadFingerprints"): ("fingerprint#*",),
        ("break-glass", "ReadState"): ("checkpoint#*", "decision#*", "session#*"),
        ("break-glass", "ListWaiting"): ("checkpoint#*",),
    }
    assert all(held == {("Null", keys): ("false",)} for held in found.values())


def test_what_is_written_once_is_written_only_where_nothing_lies() -> None:
    """A passage that was erased, an event that happened and a decision that was made cannot be written over."""
    found = {
        (owner, statement.sid)
        for owner, statement in every_statement()
        if statement.effect == "Allow" and "s3:PutObject" in statement.actions
        if [(c.operator, c.key, c.values) for c in statement.conditions] == [("Null", "s3:if-none-match", ("false",))]
    }

    assert found == {
        ("execution role", "ArchivePassages"),
        ("execution role", "WriteAudit"),
        ("approver", "WriteDecisionEvents"),
        ("eraser", "WriteErasureEvents"),
    }


def test_nobody_lists_more_of_the_audit_bucket_than_the_audit() -> None:
    """Beside it lie the settings documents.

    Whoever deploys declares the buckets, and AWS asks for this right to see whether one is there: it tells names.
    """
    listing = [s for owner, s in every_statement() if "s3:ListBucket" in s.actions and owner != "pipeline role"]

    assert {(c.operator, c.key, c.values) for s in listing for c in s.conditions} == {
        ("StringLike", "s3:prefix", ("audit/*",))
    }
    assert all(s.conditions for s in listing)


def test_no_prefix_of_an_item_begins_with_another() -> None:
    """Else a right to the one would be a right to the other."""
    assert not [(one, other) for one, other in permutations(Item, 2) if one.startswith(other)]


def test_metrics_go_to_one_namespace() -> None:
    """The action takes no resource: the condition alone keeps it in bounds."""
    (condition,) = {s.sid: s for s in execution_role.permissions(REACH)}["WriteMetrics"].conditions

    assert (condition.operator, condition.key) == ("StringEquals", "cloudwatch:namespace")
    assert condition.values == ("bedrock-agentcore",)
