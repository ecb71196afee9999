"""List what no document says of AWS: each question, how to find out, and what an account's answers show of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from console.doctor.account import Account, Failed, Found
from console.doctor.arrival import last_span
from console.doctor.declared import DEFAULT_ENDPOINT, Declared
from console.doctor.xray_rights import SERVICE, read
from console.moments import lasting

Shows = Callable[[Declared, Account], str | None]


@dataclass(frozen=True, slots=True)
class Open:
    """Name one point that no document settles.

    Attributes:
        name: a few words, joined by hyphens.
        asks: the question.
        by_hand: how to find out where the account's answers do not tell.
        shows: what they tell; None where they do not.
    """

    name: str
    asks: str
    by_hand: str
    shows: Shows = lambda _declared, _account: None


def _when(found: Found | Failed | None, key: str) -> datetime | None:
    value = found.get(key) if found is not None and not isinstance(found, Failed) else None
    if isinstance(value, int):
        return datetime.fromtimestamp(value / 1000, UTC)
    return value if isinstance(value, datetime) else None


def _apart(earlier: datetime, later: datetime) -> str:
    return f"{lasting(abs(later - earlier))} {'after' if later >= earlier else 'before'}"


def _default_group(declared: Declared, account: Account) -> str | None:
    group, made = account.group(declared.default_group), _when(account.runtime, "createdAt")
    if isinstance(group, Failed) or made is None:
        return None
    if group is None:
        return f"there is none, {_apart(made, account.asked_at)} the runtime was made: it is not made with the runtime"
    created = _when(group, "creationTime")
    return None if created is None else f"made {_apart(made, created)} the runtime"


def _before_endpoint(declared: Declared, account: Account) -> str | None:
    created = _when(account.group(declared.log_group), "creationTime")
    endpoint, streams = _when(account.endpoint, "createdAt"), account.streams
    if created is None or endpoint is None or isinstance(streams, Failed):
        return None
    if created > endpoint:
        return f"not seen: the group was made {_apart(endpoint, created)} the endpoint"
    if not streams:
        return None
    return f"yes: made {_apart(endpoint, created)} the endpoint, and {len(streams)} streams are in it"


def _scoped_right(declared: Declared, account: Account) -> str | None:
    if declared.put_resource_policy != "own" or last_span(account) is None:
        return None
    if not isinstance(account.policies, Failed) and not read(declared, account.policies).lacking:
        # The account's own policy lets X-Ray in whatever the role may.
        return None
    return "yes: the role has it for its own groups alone, no policy of the account lets X-Ray in, and spans arrive"


def _needless_right(declared: Declared, account: Account) -> str | None:
    if declared.put_resource_policy != "none" or last_span(account) is None:
        return None
    return "yes: the role has no such right, and spans arrive by the account's policy"


def _slot(declared: Declared, account: Account) -> str | None:
    del declared
    if isinstance(account.group_policies, Failed):
        return None
    if not account.group_policies:
        return "nobody does: no policy stands on the group alone"
    names = ", ".join(str(policy.get("policyName") or "one without a name") for policy in account.group_policies)
    of_xray = any(SERVICE in str(policy.get("policyDocument")) for policy in account.group_policies)
    return f"{names} is there, {'about' if of_xray else 'not about'} X-Ray; the kit writes none there"


def _versions(declared: Declared, account: Account) -> str | None:
    del declared
    answers = (account.default, account.endpoint, account.runtime)
    if any(isinstance(answer, Failed) for answer in answers):
        return None
    default, live = (str(one.get("liveVersion")) for one in answers[:2] if not isinstance(one, Failed))
    newest = "" if isinstance(account.runtime, Failed) else str(account.runtime.get("agentRuntimeVersion"))
    told = f"{DEFAULT_ENDPOINT} serves {default}, live {live}, the newest is {newest}"
    # While all three are one, nothing follows from it.
    return None if default == live == newest else told


def _shared_group(declared: Declared, account: Account) -> str | None:
    del declared
    if isinstance(account.shared, Failed):
        return None
    for group in account.shared:
        if group.get("logGroupName") == "aws/spans":
            created = _when(group, "creationTime")
            return f"it is there{f', since {created:%Y-%m-%d %H:%M} UTC' if created else ''}"
    return "it is not there"


def _session(declared: Declared, account: Account) -> str | None:
    if account.heard is None or not account.heard.arrived or not declared.to_cloudwatch:
        return None
    return "yes: the span of the canary's invocation carries the session's id"


def _account_retention(declared: Declared, account: Account) -> str | None:
    group = account.group(declared.log_group)
    if group is None or isinstance(group, Failed) or not group.get("retentionPolicyName"):
        return None
    return f"the account's policy {group['retentionPolicyName']} decides over the group's own retention"


POINTS: Final[tuple[Open, ...]] = (
    Open(
        "default-group",
        "When is the log group of DEFAULT made: with the runtime, or when somebody first calls it?",
        "call DEFAULT once in a sandbox, and look again",
        _default_group,
    ),
    Open(
        "group-before-endpoint",
        "Does a new endpoint take a log group that was there before it?",
        "ask the agent once, and look again: its streams have to be in the declared group",
        _before_endpoint,
    ),
    Open(
        "group-after-destroy",
        "Do sessions that outlive a destroyed endpoint make its group again, unmasked and kept for ever?",
        "destroy a sandbox while a session is open, wait for its idle timeout, list the groups of the runtime",
    ),
    Open(
        "scoped-right",
        "Does logs:PutResourcePolicy work when it is granted for the agent's own groups alone?",
        'role.put_resource_policy = "own" in a sandbox without the account\'s policy; CloudTrail shows an AccessDenied',
        _scoped_right,
    ),
    Open(
        "needless-right",
        "Is that right needed where the account's policy lets X-Ray in already?",
        'role.put_resource_policy = "none" in a sandbox: do spans arrive?',
        _needless_right,
    ),
    Open(
        "group-policy-slot",
        "Who holds the one resource policy that a log group takes?",
        "aws logs describe-resource-policies --policy-scope RESOURCE --resource-arn <the group>",
        _slot,
    ),
    Open(
        "endpoint-versions",
        "Does DEFAULT follow the newest version while live stays at its own?",
        "pin agent.live_version, deploy a change, look again",
        _versions,
    ),
    Open(
        "shared-group",
        "Is aws/spans made when Transaction Search is switched on through the API?",
        "aws logs describe-log-groups --log-group-name-prefix aws/spans",
        _shared_group,
    ),
    Open(
        "otlp-headers",
        "Which wins inside the runtime: the platform's OTLP headers, or those of the environment's variables?",
        "set OTEL_EXPORTER_OTLP_TRACES_HEADERS in a sandbox, and see where spans go",
    ),
    Open(
        "injected-variables",
        "Which OTEL_* variables does the runtime set by itself, the content opt-out among them?",
        "print the names of the container's variables once, in a sandbox",
    ),
    Open(
        "local-collector",
        "Does the runtime start an OTLP collector on localhost:4318?",
        "open a connection to it from a tool, in a sandbox",
    ),
    Open(
        "masked-summaries",
        "Are X-Ray's trace summaries masked as the log group is?",
        "ask with an address such as someone@example.com in `content`, in a sandbox; look at the trace in X-Ray",
    ),
    Open(
        "masked-indexes",
        "Are the values of indexed fields masked?",
        "index a field that holds such an address, and query it by its value without logs:Unmask",
    ),
    Open(
        "masked-escapes",
        "Is a text masked whose keyword is escaped in JSON?",
        "write one line with `cart\\u00e3o` and a card's number into a masked group, and read it",
    ),
    Open(
        "account-retention",
        "Does a retention policy of the account win over the group's own?",
        "put one for a prefix in a sandbox, and look at the group's retention again",
        _account_retention,
    ),
    Open(
        "unlisted-identifiers",
        "Do DateOfBirth, PhoneNumber, PhoneNumber-CA and CreditCardMagneticStripe exist as identifiers?",
        "put a data protection policy that names each on a scratch group: the API refuses what is not there",
    ),
    Open(
        "endpoint-alone",
        "May somebody call who has InvokeAgentRuntime on the endpoint's ARN alone?",
        "call with a role that has that one resource, in a sandbox",
    ),
    Open(
        "session-baggage",
        "Does each request reach the container with the session's id in its baggage?",
        "rastro doctor --canary, then look again",
        _session,
    ),
    Open(
        "span-bytes",
        "How many bytes does a stored span take beside the counted ones?",
        "compare one stored span with rastro cost measure",
    ),
    Open(
        "array-attributes",
        "Does Logs Insights flatten array attributes into numbered fields?",
        "query one span with an array attribute: fields attributes.<name>.0",
    ),
    Open(
        "console-rendering",
        "Does the console's page on generative AI show retrieval spans?",
        "open the session there",
    ),
    Open(
        "span-limit",
        "How are the 200 KB of a span counted: protobuf or JSON, with the resource or without?",
        "send spans of 180 to 210 KB from a sandbox, and see which are refused",
    ),
    Open(
        "sampled-flag",
        "Is the runtime's own traceparent marked as sampled?",
        "print it once; with OTEL_TRACES_SAMPLER=always_on it decides nothing",
    ),
    Open(
        "chunk-ids",
        "Do chunk ids of a knowledge base stay the same when it is indexed anew?",
        "compare the ids of one passage before and after an ingestion job; addresses do not use them",
    ),
    Open(
        "scheduled-sweep",
        "Does EventBridge Scheduler call InvokeAgentRuntime: names with a capital letter, the payload as plain JSON?",
        "two intervals after the deployment: is the alarm sweep_silent OK? Else see TargetErrorCount in AWS/Scheduler",
    ),
    Open(
        "sweep-session",
        "Does the scheduler put its context attributes into the session's id of the call?",
        "look at the sessions of two sweeps: their ids have to differ",
    ),
    Open(
        "runtime-dimensions",
        "Under which dimensions does AgentCore publish Invocations and Latency of the live endpoint?",
        "aws cloudwatch list-metrics --namespace AWS/Bedrock-AgentCore",
    ),
    Open(
        "findings-dimensions",
        "Under which dimensions does CloudWatch publish LogEventsWithFindings of a group?",
        "aws cloudwatch list-metrics --namespace AWS/Logs --metric-name LogEventsWithFindings, after a finding",
    ),
    Open(
        "empty-metric",
        "Does FILL in metric math make zeros of a metric that has no data at all?",
        "graph the expression of the alarm dead_trail for a time before the first span",
    ),
    Open(
        "key-conditions",
        "Does CloudWatch tell KMS on whose behalf it encrypts for a topic?",
        "put aws:SourceAccount into the key's statement in a sandbox, and aws cloudwatch set-alarm-state",
    ),
)
"""What facts about AWS are unconfirmed, in the order in which a deployment meets them."""
