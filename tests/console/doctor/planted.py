"""List the faults that are planted in a healthy account, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from agent_image.contract import Regime
from console.doctor.account import Failed, Heard, Ruled
from console.doctor.check import State
from tests.console.doctor.healthy import (
    ACCOUNT_ID,
    DECLARED,
    GROUP,
    INDEX,
    LIVE,
    MASKED,
    OUTPUT,
    POLICY,
    REGION,
    mask,
    policy,
    saying,
    statement,
    stream,
)

DENIED = "AccessDeniedException"
HOUR = timedelta(hours=1)
LOGS_ARN = f"arn:aws:logs:{REGION}:{ACCOUNT_ID}:*"
XRAY_ARN = f"arn:aws:xray:{REGION}:{ACCOUNT_ID}:*"
OWN_ACCOUNT = {"StringEquals": {"aws:SourceAccount": ACCOUNT_ID}}


@dataclass(frozen=True)
class Planted:
    """Plant one fault: what of the account is otherwise, which check finds it as what, and what it says of it."""

    name: str
    check: str
    account: Mapping[str, Any]
    says: tuple[str, ...]
    state: State = State.FAULT
    declared: Mapping[str, Any] | None = None
    also: frozenset[str] = frozenset()


def xray(name: str, *says: str, also: frozenset[str] = frozenset(), **changed: Any) -> Planted:
    """Plant a fault in the statement that lets X-Ray in."""
    return Planted(name, "xray-policy", {"policies": (policy(saying(statement(**changed))),)}, says, also=also)


def heard(*hits: str, arrived: bool = True, **more: Any) -> Mapping[str, Any]:
    return {"heard": Heard("zuvalikomentarofi", "session-1", hits=hits, arrived=arrived, waited_seconds=180, **more)}


def with_condition(condition: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"Condition": condition}


TEN = tuple(policy(saying(), f"other-{number}") for number in range(10))
DENY = statement(Sid="NoXRay", Effect="Deny", Condition=None)
NO_GROUP = {"groups": (), "spans": (), "streams": (), "index": ()}
FIVE = {"Name": "Default", "Rule": {"Probabilistic": {"DesiredSamplingPercentage": 5.0}}}

FAULTS = [
    Planted(
        "search off",
        "transaction-search",
        {"destination": {"Destination": "XRay", "Status": "ACTIVE"}},
        ("is off", "destination XRay", "update-trace-segment-destination", "make deploy ENV=prod"),
    ),
    Planted(
        "search pending",
        "transaction-search",
        {"destination": {"Destination": "CloudWatchLogs", "Status": "PENDING"}},
        ("being switched on", "10 to 15 minutes"),
        State.WARNING,
    ),
    Planted("more indexed", "indexing", {"indexing": (FIVE,)}, ("5 %", "has a price", "1 %, as the account")),
    Planted(
        "less indexed",
        "indexing",
        {},
        ("1 % of traces", "7.5 %, as the account", "DesiredSamplingPercentage=7.5"),
        declared={"indexing_percentage": Decimal("7.5")},
    ),
    Planted(
        "somebody else indexes more",
        "indexing",
        {"indexing": (FIVE,)},
        ("somebody else manages it", "has a price"),
        State.WARNING,
        {"indexing_percentage": None, "manages_search": False},
    ),
    xray("no resource at all", "its resources are none", Resource=None),
    Planted(
        "a policy without a name",
        "xray-policy",
        {"policies": (policy(saying(statement(Action="logs:PutLogEvents")), ""),)},
        ("the group's own policy, TransactionSearchXRayAccess: does not allow",),
    ),
    Planted("no policy", "xray-policy", {"policies": ()}, ("no resource policy speaks of xray.amazonaws.com",)),
    xray(
        "the article's source",
        f"aws:SourceArn is {LOGS_ARN}",
        "widely copied example",
        "never authorised",
        XRAY_ARN,
        "put-resource-policy",
        **with_condition({"ArnLike": {"aws:SourceArn": LOGS_ARN}, **OWN_ACCOUNT}),
    ),
    xray(
        "the star taken as it stands",
        "under StringEquals",
        "it has to be ArnLike",
        **with_condition({"StringEquals": {"aws:SourceArn": XRAY_ARN, "aws:SourceAccount": ACCOUNT_ID}}),
    ),
    xray(
        "an exact source that is not ours",
        "aws:SourceArn is arn:aws:xray:x",
        **with_condition({"StringEquals": {"aws:SourceArn": "arn:aws:xray:x", "aws:SourceAccount": ACCOUNT_ID}}),
    ),
    xray(
        "everybody but us",
        f"aws:SourceArn is {XRAY_ARN}",
        **with_condition({"ArnNotLike": {"aws:SourceArn": XRAY_ARN}, **OWN_ACCOUNT}),
    ),
    xray(
        "another Region's source",
        "aws:SourceArn is arn:aws:xray:us-east-1",
        **with_condition({"ArnLike": {"aws:SourceArn": f"arn:aws:xray:us-east-1:{ACCOUNT_ID}:*"}, **OWN_ACCOUNT}),
    ),
    xray(
        "another account",
        "aws:SourceAccount is 999988887777",
        ACCOUNT_ID,
        **with_condition(
            {"ArnLike": {"aws:SourceArn": XRAY_ARN}, "StringEquals": {"aws:SourceAccount": "999988887777"}}
        ),
    ),
    xray(
        "an account without its quotes",
        "aws:SourceAccount is 999988887777",
        **with_condition({"ArnLike": {"aws:SourceArn": XRAY_ARN}, "StringEquals": {"aws:SourceAccount": 999988887777}}),
    ),
    xray("no stream may be made", "does not allow logs:CreateLogStream", Action="logs:PutLogEvents"),
    xray("nothing may be put", "does not allow logs:PutLogEvents", Action=["logs:CreateLogStream"]),
    xray(
        "only the shared group",
        "its resources are",
        "log-group:aws/spans:*",
        "log-group:/aws/bedrock-agentcore/runtimes/*",
        Resource=f"arn:aws:logs:{REGION}:{ACCOUNT_ID}:log-group:aws/spans:*",
    ),
    xray("another service", "no resource policy speaks of", Principal={"Service": "es.amazonaws.com"}),
    Planted(
        "no JSON",
        "xray-policy",
        {"policies": (policy("{"),)},
        ("no resource policy speaks of", "it is no JSON"),
    ),
    Planted(
        "an effect that is none",
        "xray-policy",
        {"policies": (policy(saying(statement(Effect="allow"))),)},
        ("has the effect 'allow'",),
    ),
    *(
        Planted(
            f"a policy with {name}", "xray-policy", {"policies": (policy(document),)}, ("no resource policy", reason)
        )
        for name, document, reason in (
            ("a statement that is none", {"Statement": [statement(), 1]}, "it has no list of statements"),
            ("a condition that is none", saying(statement(Condition=1)), "TransactionSearchXRayAccess is no object"),
            ("a condition of none", saying(statement(Sid=None, Condition={"a": 1})), "of statement 1 is no object"),
        )
    ),
    Planted(
        "denied beside it",
        "xray-policy",
        {"policies": (POLICY, policy(saying(DENY), "lockdown"))},
        ("X-Ray is denied", "lockdown, NoXRay denies logs:PutLogEvents and logs:CreateLogStream"),
    ),
    Planted(
        "denied on the group alone",
        "xray-policy",
        {"group_policies": (policy(saying(DENY), "own", resourceArn=DECLARED.group_arn),)},
        ("own (of the group alone), NoXRay denies",),
    ),
    Planted(
        "denied to everyone",
        "xray-policy",
        {"policies": (POLICY, policy(saying({**DENY, "Principal": "*", "Action": "logs:*"}), "all"))},
        ("all, NoXRay denies",),
    ),
    Planted(
        "anybody's X-Ray",
        "xray-policy",
        {"policies": (policy(saying(statement(Condition=None))),)},
        ("not only on behalf of this account", "confused deputy", "aws:SourceArn", "aws:SourceAccount"),
        State.WARNING,
    ),
    Planted(
        "one condition of two",
        "xray-policy",
        {"policies": (policy(saying(statement(Condition=OWN_ACCOUNT))),)},
        ("no condition on aws:SourceArn", XRAY_ARN),
        State.WARNING,
    ),
    Planted(
        "a condition that everybody meets",
        "xray-policy",
        {"policies": (policy(saying(statement(Condition={"ArnLike": {"aws:SourceArn": "*"}, **OWN_ACCOUNT}))),)},
        ("the condition on aws:SourceArn lets other accounts in",),
        State.WARNING,
    ),
    Planted(
        "another policy is broken",
        "xray-policy",
        {"policies": (POLICY, policy("[]", "old"))},
        ("another resource policy cannot be read", "old: it has no list of statements"),
        State.WARNING,
    ),
    Planted(
        "nine policies",
        "policy-quota",
        {"policies": (POLICY, *TEN[:8])},
        ("9 of 10", "little or no room", "at most 8"),
        State.WARNING,
    ),
    Planted(
        "ten policies, ours among them",
        "policy-quota",
        {"policies": (POLICY, *TEN[:9])},
        ("10 of 10",),
        State.WARNING,
    ),
    Planted(
        "ten policies, ours not",
        "policy-quota",
        {"policies": TEN},
        ("no room for the one that lets X-Ray in", "join several into one"),
        also=frozenset({"xray-policy"}),
    ),
    Planted(
        "a long policy",
        "policy-quota",
        {"policies": (POLICY, policy({**saying(), "Id": "x" * 4_700}, "long"))},
        ("of 5,120", "can hardly grow"),
        State.WARNING,
    ),
    Planted(
        "the role may not",
        "role",
        {"role": Ruled("implicitDeny")},
        ("cannot let X-Ray in", "logs:PutResourcePolicy", 'role.put_resource_policy = "any"', "make needs"),
    ),
    Planted("the role is denied", "role", {"role": Ruled("explicitDeny")}, ("says explicitDeny",)),
    Planted(
        "the organisation denies it", "role", {"role": Ruled("allowed", by_organisation=False)}, ("the organisation",)
    ),
    Planted("the boundary does not let it", "role", {"role": Ruled("allowed", by_boundary=False)}, ("boundary",)),
    Planted(
        "the role may what it shall not",
        "role",
        {},
        ("the environment says that it shall not",),
        State.WARNING,
        {"put_resource_policy": "none"},
    ),
    Planted(
        "no endpoint",
        "endpoint",
        {"endpoint": Failed("bedrock-agentcore:GetAgentRuntimeEndpoint", "ResourceNotFoundException")},
        ("there is no endpoint live", "make deploy ENV=prod"),
    ),
    Planted(
        "the endpoint failed",
        "endpoint",
        {"endpoint": {"status": "UPDATE_FAILED", "liveVersion": "4", "failureReason": "image not found"}},
        ("image not found", "status UPDATE_FAILED", "status READY"),
    ),
    Planted(
        "the endpoint is being changed",
        "endpoint",
        {"endpoint": {"status": "UPDATING", "liveVersion": "3", "targetVersion": "4"}},
        ("serves version 3", "wait"),
        State.WARNING,
    ),
    Planted(
        "an older version is served",
        "endpoint",
        {"endpoint": {"status": "READY", "liveVersion": "3", "targetVersion": "3"}},
        ("version 3", "version 4, the newest", "update-agent-runtime-endpoint", "--agent-runtime-version 4"),
    ),
    Planted(
        "another version than the pinned one",
        "endpoint",
        {},
        ("version 4", "version 2, as declared"),
        declared={"live_version": "2"},
    ),
    Planted(
        "on its way elsewhere",
        "endpoint",
        {"endpoint": {"status": "READY", "liveVersion": "4", "targetVersion": "5"}},
        ("serves 4, on its way to 5",),
    ),
    Planted("no group", "group", NO_GROUP, ("is not there", GROUP)),
    Planted(
        "another class",
        "group",
        {"groups": ({**LIVE, "logGroupClass": "INFREQUENT_ACCESS"},)},
        ("INFREQUENT_ACCESS", "cannot be changed"),
    ),
    Planted(
        "another retention",
        "retention",
        {"groups": ({**LIVE, "retentionInDays": 90},)},
        ("90 days", "30 days", "put-retention-policy", "--retention-in-days 30"),
    ),
    Planted(
        "kept for ever",
        "retention",
        {"groups": ({key: value for key, value in LIVE.items() if key != "retentionInDays"},)},
        ("for ever",),
    ),
    Planted(
        "the account's retention decides",
        "retention",
        {"groups": ({**LIVE, "retentionInDays": 7, "retentionPolicyName": "company"},)},
        ("the account's policy company decides",),
    ),
    Planted(
        "another key",
        "encryption",
        {"groups": ({**LIVE, "kmsKeyId": "arn:aws:kms:other"},)},
        ("arn:aws:kms:other", "associate-kms-key"),
    ),
    Planted(
        "no key of one's own",
        "encryption",
        {"groups": ({key: value for key, value in LIVE.items() if key != "kmsKeyId"},)},
        ("the service's own key",),
    ),
    Planted("a key that was not declared", "encryption", {}, ("the service's own key",), declared={"kms_key_arn": ""}),
    Planted("no mask", "masking", {"masking": {}}, ("nothing is masked", "CpfCode-BR", "make deploy ENV=prod")),
    Planted(
        "no mask, as the API says",
        "masking",
        {"masking": Failed("logs:GetDataProtectionPolicy", "ResourceNotFoundException")},
        ("nothing is masked",),
    ),
    Planted(
        "an identifier is missing",
        "masking",
        {"masking": mask("EmailAddress", "bare-cpf")},
        ("not in Audit: CpfCode-BR", "not in Deidentify: CpfCode-BR"),
    ),
    Planted(
        "found and not masked",
        "masking",
        {"masking": mask("EmailAddress", also=MASKED)},
        ("not in Deidentify: CpfCode-BR, bare-cpf",),
    ),
    Planted(
        "masked and not found", "masking", {"masking": mask(*MASKED, also=MASKED[:2])}, ("not in Audit: bare-cpf",)
    ),
    Planted(
        "a mask without its form",
        "masking",
        {"masking": mask(*MASKED, Deidentify={})},
        ("not in Deidentify: CpfCode-BR, EmailAddress, bare-cpf",),
    ),
    *(
        Planted(
            f"a pattern that is cited and {name}",
            "masking",
            {"masking": mask(*MASKED, patterns=patterns)},
            ("not in Audit: bare-cpf", "not in Deidentify: bare-cpf"),
        )
        for name, patterns in (
            ("not there", ()),
            ("of no expression", ({"Name": "bare-cpf"}, "bare-cpf")),
            ("of another name", ({"Name": "cpf", "Regex": "1"},)),
        )
    ),
    Planted("a mask that is no JSON", "masking", {"masking": {"policyDocument": "{"}}, ("not in Audit",)),
    Planted(
        "masking is off",
        "masking",
        {"groups": ({**LIVE, "dataProtectionStatus": "DISABLED"},)},
        ("not in force", "DISABLED"),
    ),
    Planted(
        "more is masked",
        "masking",
        {"masking": mask(*MASKED, "Address")},
        ("more is masked", "Address"),
        State.WARNING,
    ),
    Planted(
        "masked though nobody said so",
        "masking",
        {},
        ("nobody declared", "CpfCode-BR"),
        State.WARNING,
        {"masking": frozenset()},
    ),
    Planted(
        "a field is not indexed",
        "index",
        {"index": ({"source": "LOG_GROUP", "policyDocument": '{"Fields":["name"]}'},)},
        ("indexed: name", "also attributes.rag.index_version", "put-index-policy"),
    ),
    Planted("no index", "index", {"index": ()}, ("indexed: none",)),
    Planted(
        "the group's own index is the poorer",
        "index",
        {
            "index": (
                {**INDEX, "source": "ACCOUNT"},
                {"source": "LOG_GROUP", "policyDocument": '{"Fields":["name"]}'},
            )
        },
        ("also attributes.rag.index_version",),
    ),
    Planted("an index that is no JSON", "index", {"index": ({"policyDocument": "nope"},)}, ("indexed: none",)),
    Planted(
        "output and no spans",
        "spans",
        {"spans": (), "streams": (OUTPUT,)},
        ("its spans do not arrive", "last span never", "mend the other faults first", "rastro ask"),
    ),
    Planted(
        "spans that stopped",
        "spans",
        {"spans": (stream("spans", 4 * HOUR),), "streams": (OUTPUT,)},
        ("last output 3 min ago, last span 4 h ago",),
    ),
    Planted(
        "spans in the shared group",
        "spans",
        {"spans": (), "streams": (OUTPUT,), "astray": True},
        ("go to aws/spans", "UNIFIED_TRACES_DESTINATION_ENABLED"),
    ),
    Planted(
        "spans nobody may look for",
        "spans",
        {"spans": (), "streams": (OUTPUT,), "astray": Failed("logs:FilterLogEvents", DENIED)},
        ("whether they go to aws/spans is not known", "logs:FilterLogEvents was denied"),
    ),
    Planted(
        "traffic on DEFAULT",
        "default-traffic",
        {"traffic": {"IncomingLogEvents": 12.0, "IncomingBytes": 4096.0}},
        ("12 events, 4,096 bytes", "--qualifier live", "`invoker`", f"{GROUP.removesuffix('live')}DEFAULT"),
    ),
    Planted(
        "another account's credentials",
        "caller",
        {"identity": {"Arn": "arn:aws:iam::9:user/ana", "Account": "999988887777"}},
        ("another account", "999988887777", "AWS_PROFILE"),
    ),
    Planted(
        "a word of the question",
        "canary",
        heard("spans", "spans", "2026/11/30/[runtime-logs]1"),
        ("holds none", "stream spans: 2 events", "stream 2026/11/30/[runtime-logs]1: 1 events", "rastro trace"),
    ),
    Planted("a word that came though no span did", "canary", heard("out", arrived=False), ("stream out",)),
    Planted(
        "the question is not in the content",
        "canary",
        heard(),
        ("it is not in the trail", "no event holds it"),
        declared={"regime": Regime.CONTENT},
    ),
    Planted(
        "the question is there twice",
        "canary",
        heard("spans", "out"),
        ("2 events hold it",),
        declared={"regime": Regime.CONTENT},
    ),
    Planted(
        "content though spans go elsewhere",
        "canary",
        heard("out"),
        ("holds none",),
        declared={"regime": Regime.CONTENT, "destination": "https://otel.example.com"},
    ),
]
