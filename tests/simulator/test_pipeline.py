"""What the roles of a pipeline can really do, as IAM would answer them, and which jobs may take them over."""

from __future__ import annotations

import json

import pytest

from tests.simulator.simulator import Holder, Request, Verdict
from tests.synthesis import Json, Stack, Synthesis

WORDS = {"yes": Verdict.ALLOWED, "no": Verdict.DENIED, "NEVER": Verdict.FORBIDDEN}
ACCOUNT, REGION = "777788889999", "eu-west-1"
GITHUB = "token.actions.githubusercontent.com"
MARKED = {"aws:RequestTag/Project": "rastro"}
STATE = "arn:aws:s3:::state-of-777788889999"


def arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"


def iam(resource: str) -> str:
    return f"arn:aws:iam::{ACCOUNT}:{resource}"


GROUP = arn("logs", "log-group:/aws/bedrock-agentcore/runtimes/plain-a1B2c3D4e5-live")
RUNTIME = arn("bedrock-agentcore", "runtime/plain-a1B2c3D4e5")
AUDIT = f"arn:aws:s3:::rastro-plain-audit-{ACCOUNT}-{REGION}"
ARCHIVE = f"arn:aws:s3:::rastro-plain-archive-{ACCOUNT}-{REGION}"
TABLE = arn("dynamodb", "table/rastro-plain-state")
OURS = {"aws:ResourceTag/Project": "rastro"}
AGENT_ROLE = iam("role/rastro-plain-agent")
TO_AGENTCORE = {"iam:PassedToService": "bedrock-agentcore.amazonaws.com"}


def on_key(verb: str, context: dict[str, str]) -> Request:
    """Ask of a key that leaves it to the account's own policies who may do what."""
    account = {"Effect": "Allow", "Principal": {"AWS": iam("root")}, "Action": "kms:*", "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [account]}
    return Request(f"kms:{verb}", arn("kms", "key/0f1e2d3c-0000-4000-8000-000000000009"), context, policy)


# What is done: the request, what the role of a pull request gets, what the role that deploys gets.
TABLE_OF_REQUESTS: dict[str, tuple[Request, str, str]] = {
    "read the state": (Request("s3:GetObject", f"{STATE}/agent-plain/terraform.tfstate"), "yes", "yes"),
    "write the state": (Request("s3:PutObject", f"{STATE}/agent-plain/terraform.tfstate"), "no", "yes"),
    "lock the state": (Request("s3:PutObject", f"{STATE}/agent-plain/terraform.tfstate.tflock"), "no", "yes"),
    "unlock the state": (Request("s3:DeleteObject", f"{STATE}/agent-plain/terraform.tfstate.tflock"), "no", "yes"),
    "delete the state": (Request("s3:DeleteObject", f"{STATE}/agent-plain/terraform.tfstate"), "no", "no"),
    "write another state": (Request("s3:PutObject", f"{STATE}/network/terraform.tfstate"), "no", "no"),
    "open the state's bucket": (Request("s3:PutBucketPolicy", STATE), "no", "no"),
    "read the runtime": (Request("bedrock-agentcore:GetAgentRuntime", RUNTIME), "yes", "yes"),
    "make a runtime": (Request("bedrock-agentcore:CreateAgentRuntime", "*", MARKED), "no", "yes"),
    "change the runtime": (Request("bedrock-agentcore:UpdateAgentRuntime", RUNTIME), "no", "yes"),
    "change another's runtime": (
        Request("bedrock-agentcore:UpdateAgentRuntime", arn("bedrock-agentcore", "runtime/theirs-a1B2c3D4e5")),
        *("no", "no"),
    ),
    "delete the runtime": (Request("bedrock-agentcore:DeleteAgentRuntime", RUNTIME), "no", "no"),
    "invoke the agent": (Request("bedrock-agentcore:InvokeAgentRuntime", RUNTIME), "no", "no"),
    "read how the table is set up": (Request("dynamodb:DescribeTable", TABLE), "yes", "yes"),
    "make a table": (Request("dynamodb:CreateTable", TABLE), "no", "yes"),
    "delete the table": (Request("dynamodb:DeleteTable", TABLE), "no", "NEVER"),
    "read an item": (Request("dynamodb:GetItem", TABLE), "no", "no"),
    "write an item": (Request("dynamodb:PutItem", TABLE), "no", "no"),
    "make a bucket": (Request("s3:CreateBucket", AUDIT), "no", "yes"),
    "delete a bucket": (Request("s3:DeleteBucket", AUDIT), "no", "NEVER"),
    "read the settings document": (Request("s3:GetObject", f"{AUDIT}/settings/settings.json"), "yes", "yes"),
    "write the settings document": (Request("s3:PutObject", f"{AUDIT}/settings/settings.json"), "no", "yes"),
    "read the audit": (Request("s3:GetObject", f"{AUDIT}/audit/sessions/1"), "no", "no"),
    "write the audit": (Request("s3:PutObject", f"{AUDIT}/audit/sessions/1"), "no", "no"),
    "delete a version of the audit": (Request("s3:DeleteObjectVersion", f"{AUDIT}/audit/sessions/1"), "no", "NEVER"),
    "read a passage": (Request("s3:GetObject", f"{ARCHIVE}/passages/1"), "no", "no"),
    "set retention": (Request("logs:PutRetentionPolicy", GROUP), "no", "yes"),
    "mask the trail": (Request("logs:PutDataProtectionPolicy", GROUP), "no", "yes"),
    "take the mask off": (Request("logs:DeleteDataProtectionPolicy", GROUP), "no", "NEVER"),
    "delete the trail": (Request("logs:DeleteLogGroup", GROUP), "no", "NEVER"),
    "query the trail": (Request("logs:StartQuery", GROUP), "no", "no"),
    "read the trail": (Request("logs:GetLogEvents", f"{GROUP}:log-stream:a"), "no", "no"),
    "unmask the trail": (Request("logs:Unmask", GROUP), "no", "no"),
    "make the agent's role": (Request("iam:CreateRole", AGENT_ROLE), "no", "yes"),
    "write the agent's rights": (Request("iam:PutRolePolicy", AGENT_ROLE), "no", "yes"),
    "hand the agent's role over": (Request("iam:PassRole", AGENT_ROLE, TO_AGENTCORE), "no", "yes"),
    "hand a role that was brought over": (
        Request("iam:PassRole", iam("role/agents/brought-along"), TO_AGENTCORE),
        *("no", "yes"),
    ),
    "hand a role to another service": (
        Request("iam:PassRole", AGENT_ROLE, {"iam:PassedToService": "ec2.amazonaws.com"}),
        *("no", "no"),
    ),
    "make somebody's role": (Request("iam:CreateRole", iam("role/admin")), "no", "no"),
    "widen its own rights": (Request("iam:PutRolePolicy", iam("role/rastro-unmanaged-deploy")), "no", "NEVER"),
    "let others take it over": (
        Request("iam:UpdateAssumeRolePolicy", iam("role/rastro-unmanaged-deploy")),
        *("no", "NEVER"),
    ),
    "attach a policy to itself": (Request("iam:AttachRolePolicy", iam("role/rastro-unmanaged-deploy")), "no", "NEVER"),
    "change its own policy": (
        Request("iam:CreatePolicyVersion", iam("policy/rastro-unmanaged-pipeline-makes-kept")),
        *("no", "NEVER"),
    ),
    "change the identity provider": (
        Request("iam:AddClientIDToOpenIDConnectProvider", iam(f"oidc-provider/{GITHUB}")),
        *("no", "no"),
    ),
    "change a policy for people": (
        Request("iam:CreatePolicyVersion", iam("policy/rastro-plain-reader")),
        *("no", "yes"),
    ),
    "change somebody's policy": (Request("iam:CreatePolicyVersion", iam("policy/admin")), "no", "no"),
    "read where spans go": (Request("xray:GetTraceSegmentDestination", "*"), "yes", "yes"),
    "send spans elsewhere": (Request("xray:UpdateTraceSegmentDestination", "*"), "no", "no"),
    "change a resource policy": (Request("logs:PutResourcePolicy", "*"), "no", "no"),
    "push an image": (Request("ecr:PutImage", arn("ecr", "repository/rastro-agent")), "no", "yes"),
    "delete an image": (Request("ecr:BatchDeleteImage", arn("ecr", "repository/rastro-agent")), "no", "no"),
    "set an alarm": (Request("cloudwatch:PutMetricAlarm", arn("cloudwatch", "alarm:rastro-plain-loops")), "no", "yes"),
    "remove somebody's alarm": (Request("cloudwatch:DeleteAlarms", arn("cloudwatch", "alarm:theirs")), "no", "no"),
    "make a key": (Request("kms:CreateKey", "*", MARKED), "no", "yes"),
    "tag a key that is being made": (on_key("TagResource", MARKED), "no", "yes"),
    "tag a key of its own": (on_key("TagResource", OURS), "no", "yes"),
    "claim another's key": (on_key("TagResource", {**MARKED, "aws:ResourceTag/Project": "theirs"}), "no", "no"),
    "mark a key with another's tag": (on_key("TagResource", {"aws:RequestTag/Project": "theirs"}), "no", "no"),
    "change the policy of its own key": (on_key("PutKeyPolicy", OURS), "no", "yes"),
    "change the policy of a key without tags": (on_key("PutKeyPolicy", {}), "no", "no"),
    "say where things are": (Request("ssm:PutParameter", arn("ssm", "parameter/rastro/plain")), "no", "yes"),
}


@pytest.fixture(scope="module")
def account(variants: Synthesis) -> Stack:
    return variants["account-unmanaged"]


def rights(stack: Stack, does: str) -> Holder:
    """Join a role's own policy and what is attached to it."""
    policies = stack.resources("aws_iam_policy")
    role = f"${{aws_iam_role.pipeline-{does}.name}}"
    attached = [
        policies[held["policy_arn"].split(".")[1]]["policy"]
        for held in stack.resources("aws_iam_role_policy_attachment").values()
        if held["role"] == role
    ]
    own = [stack.resources("aws_iam_role_policy")[f"pipeline-{does}-state"]["policy"]]
    statements = [statement for document in (*own, *attached) for statement in json.loads(document)["Statement"]]
    return Holder(ACCOUNT, {"Version": "2012-10-17", "Statement": statements})


@pytest.mark.parametrize(("does", "column"), [("plan", 0), ("deploy", 1)])
def test_a_role_can_do_what_the_table_says_and_nothing_else(account: Stack, does: str, column: int) -> None:
    """A pull request's role changes nothing; the one that deploys destroys no trail and leaves its own rights alone."""
    requests = {what: request for what, (request, _, _) in TABLE_OF_REQUESTS.items()}

    answers = dict(zip(requests, rights(account, does).asks(requests.values()), strict=True))

    assert answers == {what: WORDS[words[column]] for what, (_, *words) in TABLE_OF_REQUESTS.items()}


def test_a_bounded_pipeline_makes_no_role_without_the_boundary(variants: Synthesis) -> None:
    """Whatever rights a workflow that is taken over writes into a role, the boundary stays on them."""
    holder = rights(variants["account-gov"], "deploy")
    role = "arn:aws-us-gov:iam::123456789012:role/rastro-locked-agent"
    boundary = {"iam:PermissionsBoundary": "arn:aws-us-gov:iam::123456789012:policy/boundary"}
    other = {"iam:PermissionsBoundary": "arn:aws-us-gov:iam::123456789012:policy/none"}
    for action in ("CreateRole", "PutRolePolicy", "UpdateAssumeRolePolicy", "PutRolePermissionsBoundary"):
        requests = [Request(f"iam:{action}", role, context) for context in (boundary, other, {})]

        assert holder.asks(requests) == [Verdict.ALLOWED, Verdict.DENIED, Verdict.DENIED], action


# The simulator's data lacks two claims of GitHub's tokens; two that it has stand in for them, in policy and request.
STANDING_IN = {f"{GITHUB}:aud": f"{GITHUB}:workflow", f"{GITHUB}:sub": f"{GITHUB}:job_workflow_ref"}


def as_identity_policy(trust: str, role: str) -> Json:
    """Turn a trust policy round: what the role lets the provider do becomes what the provider may do."""
    (statement,) = json.loads(trust)["Statement"]
    ((operator, keys),) = statement["Condition"].items()
    assert operator == "StringEquals"
    condition = {operator: {STANDING_IN[key]: values for key, values in keys.items()}}
    turned = {"Effect": statement["Effect"], "Action": statement["Action"], "Resource": role, "Condition": condition}
    return {"Version": "2012-10-17", "Statement": [turned]}


def takes_over(stack: Stack, does: str, token: dict[str, str]) -> Verdict:
    role = iam(f"role/rastro-unmanaged-{does}")
    holder = Holder(
        ACCOUNT, as_identity_policy(stack.resources("aws_iam_role")[f"pipeline-{does}"]["assume_role_policy"], role)
    )
    claims = {STANDING_IN[f"{GITHUB}:{claim}"]: value for claim, value in token.items()}
    (verdict,) = holder.asks([Request("sts:AssumeRoleWithWebIdentity", role, claims)])
    return verdict


def job(subject: str, repository: str = "octo-org/octo-agents", audience: str = "sts.amazonaws.com") -> dict[str, str]:
    return {"aud": audience, "sub": f"repo:{repository}:{subject}"}


JOBS: dict[str, tuple[dict[str, str], str, str]] = {
    "a branch that may": (job("ref:refs/heads/main"), "yes", "yes"),
    "an environment that may": (job("environment:prod"), "no", "yes"),
    "a pull request": (job("pull_request"), "yes", "no"),
    "another branch": (job("ref:refs/heads/feature"), "no", "no"),
    "a branch that begins alike": (job("ref:refs/heads/main2"), "no", "no"),
    "another case": (job("ref:refs/heads/Main"), "no", "no"),
    "a tag of that name": (job("ref:refs/tags/main"), "no", "no"),
    "another environment": (job("environment:dev"), "no", "no"),
    "another repository": (job("ref:refs/heads/main", repository="octo-org/other"), "no", "no"),
    "a repository that begins alike": (job("environment:prod", repository="octo-org/octo-agents2"), "no", "no"),
    "another audience": (job("environment:prod", audience="https://github.com/octo-org"), "no", "no"),
    "no claims": ({}, "no", "no"),
}


@pytest.mark.parametrize(("token", "plan", "deploy"), JOBS.values(), ids=JOBS)
def test_a_role_is_taken_over_only_by_the_jobs_that_are_named(
    token: dict[str, str], plan: str, deploy: str, account: Stack
) -> None:
    """A branch that is not listed cannot deploy, and a pull request can do no more than plan."""
    assert takes_over(account, "plan", token) is WORDS[plan]
    assert takes_over(account, "deploy", token) is WORDS[deploy]
